"""Drops faults that follow from another fault, so that one mistake gives one message."""

from __future__ import annotations

from bisect import bisect_right

from actorc.diagnostics import Diagnostic, Diagnostics, Fault
from actorc.parse.brackets import TEST_WORDS
from actorc.source import Source
from actorc.syntax import Words
from actorc.words import ACTOR_WORDS

# Faults that are dropped after one of these in the same actor.
_FOLLOWS = {
    Fault.STRAY_BRACKET: {Fault.UNCLOSED_BRACKET},
    Fault.MISSING_SEMICOLON: {Fault.UNCLOSED_BRACKET, Fault.STRAY_BRACKET},
    Fault.MISPLACED_WAIT: {Fault.UNCLOSED_BRACKET, Fault.STRAY_BRACKET},
    Fault.TRY_WITHOUT_CATCH: {Fault.UNCLOSED_BRACKET},
    Fault.CATCH_WITHOUT_TRY: {Fault.UNCLOSED_BRACKET, Fault.TRY_WITHOUT_CATCH},
    Fault.NOT_A_WHEN: {Fault.NOT_A_WHEN},
    Fault.ELSE_WITHOUT_IF: {Fault.TOO_DEEP},
    Fault.STATE_WITHOUT_EFFECT: {Fault.AFTER_PARAMETERS, Fault.UNCLOSED_BRACKET, Fault.STRAY_BRACKET},
    Fault.WHEN_OUTSIDE_CHOOSE: {Fault.CHOOSE_BLOCK, Fault.NOT_A_WHEN, Fault.WHEN_OUTSIDE_CHOOSE},
}


def drop_consequences(words: Words, source: Source, diagnostics: Diagnostics) -> None:
    found = diagnostics.errors
    if len(found) < 2:
        return
    starts = [words.starts[index] for index, text in enumerate(words.texts) if text in ACTOR_WORDS | TEST_WORDS]
    before: dict[int, set[Fault]] = {}
    line, on_line = 0, 0
    for one in found:
        leaders = before.setdefault(bisect_right(starts, one.span.start), set())
        here = source.line(one.span.start)
        on_line = on_line if here == line else 0
        line = here
        if _is_consequence(one, leaders, on_line):
            diagnostics.drop(one)
        on_line += one.fault is not Fault.STRAY_BRACKET
        leaders.add(one.fault)


def _is_consequence(one: Diagnostic, leaders: set[Fault], on_line: int) -> bool:
    """A closing bracket without a partner is a consequence if something else is wrong before it."""
    if one.fault is Fault.STRAY_BRACKET and on_line:
        return True
    return not leaders.isdisjoint(_FOLLOWS.get(one.fault, ()))
