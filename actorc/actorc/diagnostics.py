"""What actorc tells the author: the table of faults, the messages, and how they are printed.

A `Diagnostic` names a place in the source and what to write instead. A run collects as many as it finds and prints
them in source order:

    retry.actor.cpp:14:9: error: `wait` cannot stand in a condition [A0401]
        if (wait(f) > 3) {
            ^~~~~~~
    hint: write `state int value = wait(f);` before the `if`
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from actorc.source import Source
from actorc.syntax import Span


class Fault(Enum):
    """Every fault's stable code and short title. A code is never given a new meaning."""

    UNDECODABLE = ("A0001", "byte that is not UTF-8")
    UNTERMINATED_LITERAL = ("A0002", "string or character literal without end")
    UNTERMINATED_COMMENT = ("A0003", "comment without end")
    UNCLOSED_BRACKET = ("A0004", "bracket that is never closed")
    STRAY_BRACKET = ("A0005", "closing bracket that closes nothing")

    TEMPLATE_HEADER = ("A0101", "malformed template header")
    ATTRIBUTE = ("A0102", "malformed or unknown attribute")
    RETURN_TYPE = ("A0103", "return type is not Future<T> or void")
    ACTOR_HEAD = ("A0104", "malformed head of an actor")
    AFTER_PARAMETERS = ("A0105", "unexpected text after the parameters")
    PARAMETER = ("A0106", "unsupported parameter")
    REFERENCE_PARAMETER = ("A0107", "reference parameter")
    DUPLICATE_NAME = ("A0108", "parameter or state variable declared twice")

    DIRECTIVE_IN_ACTOR = ("A0201", "preprocessor directive inside an actor")
    MISSING_PARENTHESIS = ("A0202", "missing parentheses after a keyword")
    FOR_HEADER = ("A0203", "malformed for header")
    MISSING_SEMICOLON = ("A0204", "missing semicolon")
    ELSE_WITHOUT_IF = ("A0205", "else without if")
    CATCH_WITHOUT_TRY = ("A0206", "catch without try")
    TRY_WITHOUT_CATCH = ("A0207", "try without catch")
    SEVERAL_CATCHES = ("A0208", "more than one catch clause")
    CATCH_TYPE = ("A0209", "unsupported catch clause")
    CHOOSE_BLOCK = ("A0210", "choose without a block of whens")
    NOT_A_WHEN = ("A0211", "statement other than when in a choose")
    WHEN_OUTSIDE_CHOOSE = ("A0212", "when outside a choose")
    WHEN_HEAD = ("A0213", "when without a wait")
    OPAQUE_CONTROL_FLOW = ("A0214", "control flow inside a statement that is copied as it is")
    UNSUPPORTED_KEYWORD = ("A0215", "keyword that an actor cannot use")
    MISSING_STATEMENT = ("A0216", "missing statement")
    FOR_LOCAL = ("A0217", "plain loop variable in a loop that waits")
    RANGE_NOT_STATE = ("A0218", "range of a waiting loop is not a state variable")
    TOO_DEEP = ("A0219", "statements nested too deeply")

    STATE_DECLARATION = ("A0301", "malformed state declaration")
    STATE_TYPE = ("A0302", "unsupported kind of state variable")
    STATE_AS_NAME = ("A0303", "state used as an ordinary name")

    MISPLACED_WAIT = ("A0401", "wait inside an expression")
    AFTER_WAIT = ("A0402", "unexpected text after a wait")
    WAIT_OPERAND = ("A0403", "wait without a future")
    RESULT_DECLARATION = ("A0404", "malformed declaration of a wait's result")
    AUTO_RESULT = ("A0405", "auto as the type of a wait's result")
    VOID_RESULT = ("A0406", "result of a Void wait")

    OUTSIDE_LOOP = ("A0501", "break or continue outside a loop")
    UNREACHABLE = ("A0502", "unreachable code")
    MISSING_RETURN = ("A0503", "actor fails to return a value")
    RETURN_MISMATCH = ("A0504", "return does not match the actor's type")
    NO_CURRENT_ERROR = ("A0505", "throw without a current error")
    NO_WAIT = ("A0506", "actor does not contain a wait")

    @property
    def code(self) -> str:
        return self.value[0]

    @property
    def title(self) -> str:
        return self.value[1]


class Severity(Enum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Note:
    """Another place that explains a diagnostic."""

    message: str
    span: Span


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """`hint` completes the sentence that begins with "hint: "."""

    code: str
    severity: Severity
    message: str
    span: Span
    notes: tuple[Note, ...] = ()
    hint: str | None = None


class Abandoned(Exception):
    """Ends the parsing of one construct whose fault has been reported; never leaves the front end."""


class Diagnostics:
    """Collects diagnostics; iterates over them in source order."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, int], Diagnostic] = {}

    def error(
        self, fault: Fault, message: str, span: Span, *, hint: str | None = None, notes: tuple[Note, ...] = ()
    ) -> None:
        self._add(Diagnostic(fault.code, Severity.ERROR, message, span, notes, hint))

    def warning(
        self, fault: Fault, message: str, span: Span, *, hint: str | None = None, notes: tuple[Note, ...] = ()
    ) -> None:
        self._add(Diagnostic(fault.code, Severity.WARNING, message, span, notes, hint))

    def _add(self, diagnostic: Diagnostic) -> None:
        """Two scans may meet the same fault: the first message about a place stays."""
        self._found.setdefault((diagnostic.code, diagnostic.span.start), diagnostic)

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(sorted(self._found.values(), key=lambda found: (found.span.start, found.span.end)))

    def __len__(self) -> int:
        return len(self._found)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(found for found in self if found.severity is Severity.ERROR)

    def has_error_in(self, span: Span) -> bool:
        return any(
            found.severity is Severity.ERROR and span.start <= found.span.start < span.end
            for found in self._found.values()
        )

    def render(self, source: Source, *, warnings: bool = True) -> str:
        """The text for stderr; empty if there is nothing to say."""
        shown = [found for found in self if warnings or found.severity is Severity.ERROR]
        return "".join(render(found, source) for found in shown)


def render(diagnostic: Diagnostic, source: Source) -> str:
    head = f"{diagnostic.severity.value}: {_in_one_line(diagnostic.message)} [{diagnostic.code}]"
    lines = _located(head, diagnostic.span, source)
    if diagnostic.hint is not None:
        lines.append(f"hint: {_in_one_line(diagnostic.hint)}")
    for note in diagnostic.notes:
        lines += _located(f"note: {note.message}", note.span, source)
    return "".join(_printable(line) + "\n" for line in lines)


def _in_one_line(text: str) -> str:
    """Messages quote the source, which may be spread over lines."""
    return " ".join(text.split())


_INDENT = "    "
_WIDEST = 160  # of a longer source line only the part around the caret is shown


def _located(head: str, span: Span, source: Source) -> list[str]:
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
    marks = "^" + "~" * (width - 1)
    return [f"{source.path}:{line}:{column}: {head}", _INDENT + text, _INDENT + blanks + marks]


def _printable(line: str) -> str:
    """Control characters and stray bytes of the source must not reach the terminal."""
    return "".join(character if character.isprintable() or character == "\t" else "?" for character in line)
