"""Plain lambdas in an actor's text, and what they capture."""

from __future__ import annotations

from collections.abc import Iterator

from actorc.records import dataclass
from actorc.syntax import Span, Words
from actorc.words import begins_captures

_OPEN = frozenset({"(", "[", "{"})
_CLOSE = frozenset({")", "]", "}"})


@dataclass(frozen=True, slots=True)
class CaptureList:
    """Indices of tokens."""

    entries: tuple[range, ...]  # an entry is empty where a name is missing, which C++ reports
    open: int  # the `[`
    end: int  # after the lambda's body


def capture_lists(words: Words, span: Span) -> Iterator[CaptureList]:
    """The capture lists of the lambdas in a span, nested ones included, `ACTOR` lambdas excluded."""
    first, end = words.between(span)
    texts = words.texts
    for index in (first + offset for offset, text in enumerate(texts[first:end]) if text == "["):
        if begins_captures(texts, index):
            close = _partner(texts, index, end)
            body = _body(texts, close + 1, end)
            if body is not None:
                yield CaptureList(tuple(_entries(texts, index, close)), index, _partner(texts, body, end) + 1)


def _body(texts: list[str], index: int, end: int) -> int | None:
    """The `{` of the lambda with the captures that end before `index`."""
    while index < end and texts[index] not in (";", "}", ")", "]", ","):
        if texts[index] == "{":
            return index
        index = _partner(texts, index, end) + 1 if texts[index] in _OPEN else index + 1
    return None


def _entries(texts: list[str], open_: int, close: int) -> Iterator[range]:
    start = index = open_ + 1
    while index < close:
        if texts[index] == ",":
            yield range(start, index)
            start = index = index + 1
            continue
        index = _partner(texts, index, close) + 1 if texts[index] in _OPEN else index + 1
    if start < close or start > open_ + 1:
        yield range(start, close)


def _partner(texts: list[str], open_: int, end: int) -> int:
    depth = 0
    for index in range(open_, end):
        depth += (texts[index] in _OPEN) - (texts[index] in _CLOSE)
        if not depth:
            return index
    return end
