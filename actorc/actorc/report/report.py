"""How diagnostics are printed: as text for people, as JSON or SARIF for programs.

    retry.actor.cpp:14:9: error: `wait` cannot stand in a condition [A0401]
        if (wait(f) > 3) {
            ^~~~~~~
    hint: write `state int value = wait(f);` before the `if`

After the hint come the fixes, each with the lines that it would make, and the notes, each at its place.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

from actorc.diagnostics import Diagnostic, Diagnostics, Edit, Fix, Severity, apply_edits
from actorc.records import dataclass
from actorc.report.failure import Failure
from actorc.source import Source
from actorc.syntax import Span

TYPE_CHECKING = False  # see records.py
if TYPE_CHECKING:
    from typing import TextIO

_INDENT = "    "
_WIDEST = 160  # of a longer source line only the part around the caret is shown
_MOST_LINES = 6  # of what a fix would make


@dataclass(frozen=True, slots=True)
class Palette:
    """The escape sequences before and after coloured text; all empty without colour."""

    error: str = ""
    warning: str = ""
    note: str = ""
    hint: str = ""
    place: str = ""
    end: str = ""

    def severity(self, severity: Severity) -> str:
        return self.error if severity is Severity.ERROR else self.warning


PLAIN = Palette()
COLOURED = Palette("\x1b[1;31m", "\x1b[1;35m", "\x1b[1;36m", "\x1b[1;32m", "\x1b[1m", "\x1b[0m")


def wants_colour(choice: str, stream: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """For `auto`, `always` or `never`: `auto` means a terminal, unless NO_COLOR is set or the terminal is dumb."""
    if choice != "auto":
        return choice == "always"
    return stream.isatty() and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


Findings = list[tuple[Source, Sequence[Diagnostic]]]


class Reporter:
    """Prints the diagnostics of one file after the other: text at once to standard error; JSON and SARIF as one
    document to standard output, by `finish`."""

    def __init__(self, format_: str, colour: str, *, warnings: bool) -> None:
        self._format = format_
        self._warnings = warnings
        self._palette = COLOURED if wants_colour(colour, sys.stderr) else PLAIN
        self.findings: Findings = []
        self.failures: list[Failure] = []

    def add(self, source: Source, diagnostics: Diagnostics) -> None:
        if self._format != "text":
            self.findings.append((source, diagnostics.shown(warnings=self._warnings)))
            return
        text = as_text(diagnostics, source, warnings=self._warnings, palette=self._palette)
        encoding = sys.stderr.encoding or "utf-8"
        sys.stderr.write(text.encode(encoding, "replace").decode(encoding))

    def fail(self, failure: Failure, advice: str = "") -> None:
        """Prints a failure at once, in every format."""
        self.failures.append(failure)
        sys.stderr.write(f"actorc: {printable(failure.path)}: {failure.message}\n{advice}")

    def extend(self, findings: Findings, failures: Sequence[Failure]) -> None:
        """Appends the reports of another Reporter."""
        self.findings += findings
        self.failures += failures

    def finish(self) -> None:
        if self._format == "text":
            return
        from actorc.report import formats as report_formats  # imported here: most runs print nothing

        make = report_formats.as_json if self._format == "json" else report_formats.as_sarif
        sys.stdout.write(make(self.findings, self.failures))


def as_text(diagnostics: Diagnostics, source: Source, *, warnings: bool = True, palette: Palette = PLAIN) -> str:
    """What is to be printed for a source; empty if there is nothing to say."""
    return "".join(render(found, source, palette) for found in diagnostics.shown(warnings=warnings))


def render(diagnostic: Diagnostic, source: Source, palette: Palette = PLAIN) -> str:
    kind = f"{diagnostic.severity.value}:"
    message = f"{in_one_line(diagnostic.message)} [{diagnostic.code}]"
    colour = palette.severity(diagnostic.severity)
    lines = list(located(kind, message, diagnostic.span, source, colour, palette))
    if diagnostic.hint is not None:
        lines.append(f"{palette.hint}hint:{palette.end} {printable(in_one_line(diagnostic.hint))}")
    for fix in diagnostic.fixes:
        lines.append(f"{palette.hint}fix:{palette.end} {printable(in_one_line(fix.message))}")
        lines += [f"{palette.hint}{_INDENT}{printable(line)}{palette.end}" for line in fixed_lines(fix, source)]
    for note in diagnostic.notes:
        lines += located("note:", in_one_line(note.message), note.span, source, palette.note, palette)
    return "".join(line + "\n" for line in lines)


def located(kind: str, message: str, span: Span, source: Source, colour: str, palette: Palette) -> Iterator[str]:
    """A message line, the source line under it, and a caret line that marks the span's part of that line."""
    line, column = source.line_column(span.start)
    text = source.line_text(line)
    before = text[: column - 1]
    width = max(1, min(span.end - span.start, len(text) - len(before)))
    if len(text) > _WIDEST:
        cut = max(0, len(before) - _WIDEST // 2)
        text, before = text[cut : cut + _WIDEST], before[cut:]
        width = max(1, min(width, len(text) - len(before)))
    blanks = "".join("\t" if character == "\t" else " " for character in before)
    place = printable(f"{source.path}:{line}:{column}:")
    yield f"{palette.place}{place}{palette.end} {colour}{kind}{palette.end} {printable(message)}"
    yield _INDENT + printable(text)
    yield f"{_INDENT}{blanks}{palette.hint}^{'~' * (width - 1)}{palette.end}"


def fixed_lines(fix: Fix, source: Source) -> list[str]:
    """The lines of the source that a fix changes, as it would leave them."""
    found: list[str] = []
    for first, last, edits in _by_lines(fix.edits, source):
        start = source.line_start(first)
        text = source.text[start : source.line_start(last) + len(source.line_text(last))]
        moved = [Edit(Span(edit.span.start - start, edit.span.end - start), edit.text) for edit in edits]
        fixed = apply_edits(text, moved)
        changed = len(fixed[: moved[0].span.start].rpartition("\n")[2])  # the column of the first change
        found += [_around(line, changed) for line in fixed.splitlines() if line.strip()]
    return found if len(found) <= _MOST_LINES else [*found[:_MOST_LINES], "..."]


def _around(line: str, column: int) -> str:
    cut = max(0, min(column, len(line)) - _WIDEST // 2) if len(line) > _WIDEST else 0
    return line[cut : cut + _WIDEST]


def _by_lines(edits: Iterable[Edit], source: Source) -> list[tuple[int, int, list[Edit]]]:
    """Edits that touch the same lines, together: first line, last line, edits."""
    groups: list[tuple[int, int, list[Edit]]] = []
    for edit in sorted(edits, key=lambda edit: edit.span.start):
        first, last = source.line(edit.span.start), source.line(edit.span.end)
        if groups and groups[-1][1] == first:
            begin, _, together = groups.pop()
            groups.append((begin, last, [*together, edit]))
        else:
            groups.append((first, last, [edit]))
    return groups


def in_one_line(text: str) -> str:
    """Messages quote the source, which may be spread over lines."""
    return " ".join(text.split())


def printable(line: str) -> str:
    """Control characters and stray bytes of the source must not reach the terminal."""
    if line.isprintable():
        return line
    return "".join(character if character.isprintable() or character == "\t" else "?" for character in line)
