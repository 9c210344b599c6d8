"""State variables that are never read.

Types that act by merely existing are left out: a future keeps an actor alive, a lock is held.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from actorc.check.kept import Kept
from actorc.diagnostics import Diagnostics, Edit, Fault, Fix
from actorc.source import Source
from actorc.spelling import is_trivial, one_line
from actorc.syntax import Block, File, Parameter, Span, StateDecl, Words

_STRING = re.compile(r"(?:(?:::)?std::)?string(?:_view)?|(?:(?:::)?flow::)?StringRef")
_STARTS = frozenset({";", "{", "}", ")", "else", ":"})
_STEPS = frozenset({"++", "--"})


def report_unread(body: Block, kept: Sequence[Kept], file: File, source: Source, diagnostics: Diagnostics) -> None:
    words = file.words
    idle = {variable.name: variable for variable in kept if _is_idle(variable, words, source)}
    if not idle:
        return
    first, end = words.between(body.span)
    places: dict[str, list[int]] = {name: [] for name in idle}
    for index in range(first, end):
        if words.texts[index] in idle:
            places[words.texts[index]].append(index)
    for name, variable in idle.items():
        others = [index for index in places[name] if words.starts[index] != variable.span.start]
        if all(_only_writes(words.texts, index) for index in others):
            _report(variable, bool(others), words, source, diagnostics)


def _is_idle(variable: Kept, words: Words, source: Source) -> bool:
    if isinstance(variable.origin, Parameter) or variable.type is None:
        return False
    type_ = one_line(source[variable.type.span])
    if not is_trivial(type_) and _STRING.fullmatch(type_) is None:
        return False
    first, name = words.between(Span(variable.origin.span.start, variable.span.start))
    return "maybe_unused" not in words.texts[first:name]


def _only_writes(texts: list[str], index: int) -> bool:
    """`x = ...`, `x++` or `++x` as a statement."""
    before, after = texts[index - 1], texts[index + 1]
    if after == "=" or after in _STEPS:
        return before in _STARTS and (after == "=" or texts[index + 2] == ";")
    return before in _STEPS and texts[index - 2] in _STARTS and after == ";"


def _report(variable: Kept, is_written: bool, words: Words, source: Source, diagnostics: Diagnostics) -> None:
    message = f"state variable `{variable.name}` is never read"
    origin = variable.origin
    first, end = words.between(origin.span)
    fixes: tuple[Fix, ...] = ()
    hint = "leave it out, and what is assigned to it" if is_written else "leave it out"
    if not isinstance(origin, StateDecl):
        hint = "leave out the `state`"
        state = Edit(Span(words.starts[first], words.starts[first + 1]), "")
        fixes = () if is_written or words.texts[first] != "state" else (Fix(hint, (state,)),)
    elif not is_written and not {"(", "{", "++", "--"} & set(words.texts[first:end]):
        fixes = (Fix(hint, (Edit(_whole_lines(origin.span, source), ""),)),)
    diagnostics.warning(Fault.UNREAD_STATE, message, variable.span, hint=hint, fixes=fixes)


def _whole_lines(span: Span, source: Source) -> Span:
    """The span with its line, if nothing else stands there."""
    start = source.line_start(source.line(span.start))
    end = source.text.find("\n", span.end)
    rest = source.text[span.end : end if end >= 0 else len(source.text)]
    if source.text[start : span.start].strip() or rest.strip() or end < 0:
        return span
    return Span(start, end + 1)
