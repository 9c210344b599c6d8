"""Keeps the comments inside replaced text: they are put before the replacement."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from actorc.source import Source
from actorc.syntax import Span, Words
from actorc_migrate.edits import Part


def keeper(words: Words, source: Source) -> Callable[[Span, Sequence[Part]], list[Part]]:
    """For Edits.keeper."""

    elsewhere: set[Span] = set()  # the parts of the source that edits have kept, in their place or in another

    def kept(span: Span, parts: Sequence[Part]) -> list[Part]:
        seen = [part for part in parts if isinstance(part, Span)]
        told = "".join("".join(part for part in parts if isinstance(part, str)).split())
        elsewhere.update(seen)
        lost = [
            text
            for gap in (_without_blanks(gap, source) for gap in _gaps(span, words))
            if (text := source[gap])
            and "".join(text.split()) not in told
            and not any(part.start <= gap.start and gap.end <= part.end for part in elsewhere)
        ]
        return [*(_alone(text, span, source) for text in lost), *parts]

    return kept


def _gaps(span: Span, words: Words) -> Iterator[Span]:
    """What stands between the tokens of a span: blanks and comments."""
    first, end = words.between(span)
    place = span.start
    if first > 0:
        place = max(place, words.span(first - 1).end)  # the span may begin within a token
    for index in range(first, end):
        if words.starts[index] > place:
            yield Span(place, words.starts[index])
        place = words.span(index).end
    if place < span.end:
        yield Span(place, span.end)


def _without_blanks(gap: Span, source: Source) -> Span:
    text = source[gap]
    start = gap.start + len(text) - len(text.lstrip())
    return Span(start, start + len(text.strip()))


def _alone(comment: str, span: Span, source: Source) -> str:
    """The comment, and what must follow it."""
    if "//" not in comment.rpartition("\n")[2]:
        return comment + " "
    line = source.line_text(source.line(span.start))
    return comment + source.line_end + line[: len(line) - len(line.lstrip())]
