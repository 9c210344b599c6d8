"""Names that are not the same as in FoundationDB's Flow, for people who bring a program over.

Each is reported where the file uses it first: `actorc check --differences`.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache

from actorc.diagnostics import Diagnostics, Fault
from actorc.syntax import Span, Words
from actorc_check.flow_names import DIFFERENCES, table


def report_differences(words: Words, diagnostics: Diagnostics) -> None:
    known = _differences()
    seen: set[tuple[str, ...]] = set()
    for index, text in enumerate(words.texts):
        for name, what in known.get(text, ()):
            if name not in seen and tuple(words.texts[index : index + len(name)]) == name:
                seen.add(name)
                span = Span(words.starts[index], words.span(index + len(name) - 1).end)
                message = f"`{' '.join(name)}` differs from Flow's"
                diagnostics.warning(Fault.DIFFERENCE, message, span, hint=what)


@cache
def _differences() -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """The names and what they mean here, by their first word."""
    found = defaultdict(list)
    for name, what in table()[DIFFERENCES].items():
        tokens = tuple(name.split())
        found[tokens[0]].append((tokens, what))
    return found
