"""A source with some spans replaced: the lambdas of an actor, when the actor around them is printed."""

from __future__ import annotations

from actorc.emit.lines import at
from actorc.source import Source
from actorc.syntax import Span


class PatchedSource(Source):
    def __init__(self, source: Source, patches: list[tuple[Span, str]]) -> None:
        """`patches`: in order, none inside another; their texts carry marks for lines."""
        self.__dict__.update(source.__dict__)
        self._patches = patches

    def __getitem__(self, span: Span) -> str:
        parts = []
        start = span.start
        for patched, text in self._patches:
            if start <= patched.start and patched.end <= span.end:
                parts += [super().__getitem__(Span(start, patched.start)), text, at(self.line(patched.end - 1))]
                start = patched.end
        return "".join((*parts, super().__getitem__(Span(start, span.end))))
