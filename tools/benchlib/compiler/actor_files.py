"""Actor files of any length: the actors of bench/actors, again and again, each time in a namespace of their own."""

from __future__ import annotations

from common.tree import ROOT

_LAST = '#include "flow/actorcompiler.h"'


def actor_file(lines: int) -> str:
    """At least so many lines; at most one file of bench/actors more. It is valid C++ if MILLRACE_BACKEND_NAMESPACE is
    defined."""
    texts = [file.read_text(encoding="utf-8") for file in sorted((ROOT / "bench" / "actors").glob("*.actor.cpp"))]
    heads, bodies = zip(*(text.split(_LAST, 1) for text in texts), strict=True)
    result = [*dict.fromkeys(line for head in heads for line in head.splitlines() if line.startswith("#")), _LAST]
    number = 0
    while len(result) < lines:
        body = bodies[number % len(bodies)].split("\n", 1)[1]  # without the rest of the line of the include
        result += [f"namespace part{number} {{", *body.splitlines(), "} // namespace"]
        number += 1
    return "\n".join(result) + "\n"
