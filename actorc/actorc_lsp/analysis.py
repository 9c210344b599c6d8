"""What is known of one open file, and where its places are for an editor.

An editor counts lines and columns from 0, and columns in UTF-16 code units.
"""

from __future__ import annotations

from lsprotocol import types

from actorc.diagnostics import Diagnostic, Diagnostics, Fix, Severity
from actorc.source import Source
from actorc.syntax import File, Span


class Analysis:
    """The text that was looked at, and what was found. `file` is None for plain C++."""

    def __init__(self, source: Source, file: File | None, diagnostics: Diagnostics) -> None:
        self.source = source
        self.file = file
        self.found: tuple[Diagnostic, ...] = tuple(diagnostics)

    def position(self, offset: int) -> types.Position:
        line = self.source.line(offset)
        before = self.source.text[self.source.line_start(line) : offset]
        return types.Position(line - 1, _units(before))

    def range(self, span: Span) -> types.Range:
        return types.Range(self.position(span.start), self.position(span.end))

    def offset(self, position: types.Position) -> int:
        """The place in the text; the end of the text for one behind it."""
        text = self.source.text
        if position.line >= text.count("\n") + 1:
            return len(text)
        offset = self.source.line_start(position.line + 1)
        units = 0
        while units < position.character and offset < len(text) and text[offset] != "\n":
            units += _units(text[offset])
            offset += 1
        return offset

    def diagnostics(self, uri: str) -> list[types.Diagnostic]:
        return [self._diagnostic(found, uri) for found in self.found]

    def _diagnostic(self, found: Diagnostic, uri: str) -> types.Diagnostic:
        is_error = found.severity is Severity.ERROR
        return types.Diagnostic(
            range=self.range(found.span),
            message=found.message if found.hint is None else f"{found.message}\nhint: {found.hint}",
            severity=types.DiagnosticSeverity.Error if is_error else types.DiagnosticSeverity.Warning,
            code=found.code,
            source="actorc",
            related_information=[
                types.DiagnosticRelatedInformation(types.Location(uri, self.range(note.span)), note.message)
                for note in found.notes
            ],
        )

    def actions(self, uri: str, asked: types.Range) -> list[types.CodeAction]:
        """The fixes of what is reported in a range, the likeliest of each first."""
        start, end = self.offset(asked.start), self.offset(asked.end)
        return [
            self._action(found, fix, uri, preferred=number == 0)
            for found in self.found
            if found.span.start <= end and start <= found.span.end
            for number, fix in enumerate(found.fixes)
        ]

    def _action(self, found: Diagnostic, fix: Fix, uri: str, *, preferred: bool) -> types.CodeAction:
        edits = [types.TextEdit(self.range(edit.span), edit.text) for edit in fix.edits]
        return types.CodeAction(
            title=f"actorc: {fix.message}",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[self._diagnostic(found, uri)],
            is_preferred=preferred,
            edit=types.WorkspaceEdit(changes={uri: edits}),
        )


def _units(text: str) -> int:
    return len(text) + sum(ord(character) > 0xFFFF for character in text)
