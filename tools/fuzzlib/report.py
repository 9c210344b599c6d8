"""Prints a difference with all that is needed to debug it."""

from __future__ import annotations

from fuzzlib.batch import MODEL, Difference
from fuzzlib.campaign import Found
from fuzzlib.forms import migrated, target_of

CONTEXT = 6  # lines before the first that differs


def reproducer(found: Found, shrunk: Difference) -> str:
    """`shrunk` may be the difference itself."""
    text = shrunk.program.text.rstrip("\n")
    run = f", in the run with seed {shrunk.seed}" if shrunk.seed else ""
    lines = [f"program {found.index} of seed {found.seed}: {shrunk.kind}{run} ({found.toolchain})", "", text, ""]
    if shrunk.message:
        lines += [shrunk.message.rstrip("\n"), ""]
    if shrunk.traces:
        lines += [*_diverging(shrunk), ""]
    targets = [target for form in found.forms if (target := target_of(form))]
    for target in targets:
        made = migrated(shrunk.program.text, target)
        lines += [f"migrated for {target}:", "", made.text.strip("\n"), ""]
    options = "".join(f" --migrate {target}" for target in targets)
    lines.append(f"again: tools/fuzz --program {found.index} --seed {found.seed} --compiler {found.toolchain}{options}")
    return "\n".join(lines)


def _diverging(difference: Difference) -> list[str]:
    """The traces from a few lines before their first difference."""
    traces = difference.traces
    shortest = min(len(trace) for trace in traces.values())
    model = traces[MODEL]
    place = next((i for i in range(shortest) if any(trace[i] != model[i] for trace in traces.values())), shortest)
    first = max(0, place - CONTEXT)
    width = max(len(name) for name in traces)
    lines = [f"{'all':{width}} | {line}" for line in model[first:place]]
    for name, trace in traces.items():
        after = trace[place : place + CONTEXT] or ["(ends)"]
        lines += [f"{name:{width}} | {line}" for line in after]
    return lines
