"""The text that clang reads for a file, and where its places are in the source."""

from __future__ import annotations

from collections.abc import Iterable

from actorc.diagnostics import Edit, apply_edits
from actorc.source import Source
from actorc.syntax import Span


class Reading:
    """The source with some edits; `is_saved`: the source is what the disk has."""

    def __init__(self, source: Source, edits: Iterable[Edit] = (), *, is_saved: bool = True) -> None:
        self._edits = sorted(edits, key=lambda edit: edit.span.start)
        edited = apply_edits(source.text, self._edits)
        self.text = source.encode(edited)
        self.unsaved = None if is_saved and not self._edits else edited

    def span(self, start: int, end: int) -> Span:
        """A span of the source, for places in the text, in bytes."""
        return Span(self.offset(start), self.offset(end))

    def offset(self, place: int) -> int:
        """Of a place in what an edit has put there: the start of the edit."""
        found = len(self.text[:place].decode("utf-8", errors="surrogateescape"))
        for edit in self._edits:
            start = edit.span.start
            if found <= start:
                break
            if found < start + len(edit.text):
                return start
            found += edit.span.end - start - len(edit.text)
        return found
