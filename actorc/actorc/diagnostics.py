"""Diagnostics: the table of faults, and the collection of those that were found.

A `Diagnostic` names a place in the source and what to write instead; report.py prints it. Each code has a page in
`report/explanations/`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum

from actorc.records import dataclass
from actorc.source import Source
from actorc.syntax import Span


class Severity(Enum):
    ERROR = "error"
    WARNING = "warning"


class Fault(Enum):
    """Every fault's stable code, short title, and severity if it is not an error.

    A code is never given a new meaning: one that is no longer reported goes to `RETIRED`.
    """

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
    TEST_CASE = ("A0120", "malformed or misplaced test case or benchmark")
    DESCRIPTION = ("A0121", "struct that DESCR cannot describe")
    NESTED_ACTOR = ("A0122", "actor inside an actor")
    ACTOR_IN_MACRO = ("A0123", "actor in a macro definition")
    STRAY_SPECIFIER = ("A0124", "UNCANCELLABLE without ACTOR")
    LAMBDA = ("A0125", "malformed ACTOR lambda")

    DIRECTIVE_IN_ACTOR = ("A0201", "preprocessor directive inside an actor")
    MISSING_PARENTHESIS = ("A0202", "missing parentheses after a keyword")
    FOR_HEADER = ("A0203", "malformed for header")
    MISSING_SEMICOLON = ("A0204", "missing semicolon")
    ELSE_WITHOUT_IF = ("A0205", "else without if")
    CATCH_WITHOUT_TRY = ("A0206", "catch without try")
    TRY_WITHOUT_CATCH = ("A0207", "try without catch")
    CATCH_TYPE = ("A0209", "malformed catch clause")
    CHOOSE_BLOCK = ("A0210", "choose without a block of whens")
    NOT_A_WHEN = ("A0211", "statement other than when in a choose")
    WHEN_OUTSIDE_CHOOSE = ("A0212", "when outside a choose")
    WHEN_HEAD = ("A0213", "when without a wait")
    OPAQUE_CONTROL_FLOW = ("A0214", "control flow inside a statement that is copied as it is")
    UNSUPPORTED_KEYWORD = ("A0215", "keyword that an actor cannot use")
    MISSING_STATEMENT = ("A0216", "missing statement")
    FOR_LOCAL = ("A0217", "plain loop variable in a loop that waits")
    RANGE_NOT_STATE = ("A0218", "range of a waiting loop names a local")
    TOO_DEEP = ("A0219", "statements nested too deeply")
    SWITCH_BLOCK = ("A0220", "switch without a block")
    CASE_LABEL = ("A0221", "malformed label in a switch")
    CATCH_ORDER = ("A0222", "catch clause that can never catch anything")
    STATIC_LOCAL = ("A0223", "static local that would exist twice")
    LOOP_CONDITION = ("A0224", "loop with a condition")

    STATE_DECLARATION = ("A0301", "malformed state declaration")
    STATE_TYPE = ("A0302", "unsupported kind of state variable")
    STATE_AS_NAME = ("A0303", "state used as an ordinary name")
    STATE_WITHOUT_EFFECT = ("A0304", "state where it means nothing")

    MISPLACED_WAIT = ("A0401", "misplaced wait")
    AFTER_WAIT = ("A0402", "unexpected text after a wait")
    WAIT_OPERAND = ("A0403", "wait without a future")
    RESULT_DECLARATION = ("A0404", "malformed declaration of a wait's result")
    VOID_RESULT = ("A0406", "result of a Void wait")

    OUTSIDE_LOOP = ("A0501", "break or continue outside a loop")
    UNREACHABLE = ("A0502", "unreachable code")
    MISSING_RETURN = ("A0503", "actor fails to return a value")
    RETURN_MISMATCH = ("A0504", "return does not match the actor's type")
    NO_CURRENT_ERROR = ("A0505", "throw without a current error")
    NO_WAIT = ("A0506", "actor does not contain a wait", Severity.WARNING)
    FOREIGN_ERROR = ("A0507", "throw of something that is no Error")

    LOST_LOCAL = ("A0601", "local used after a wait")
    HIDDEN_STATE = ("A0602", "local that hides a state variable or parameter", Severity.WARNING)
    SWALLOWED_CANCEL = ("A0603", "loop that cannot be cancelled", Severity.WARNING)
    SWALLOWED_ERRORS = ("A0604", "catch (...) that swallows every error", Severity.WARNING)
    DISCARDED_FUTURE = ("A0605", "the future of an actor is discarded", Severity.WARNING)
    UNREAD_STATE = ("A0606", "state variable that is never read", Severity.WARNING)
    MISSPELT = ("A0607", "misspelt keyword", Severity.WARNING)
    FORGOTTEN_ACTOR = ("A0608", "wait in a function that is no actor", Severity.WARNING)
    RESERVED_NAME = ("A0609", "name that the compiler uses itself")
    NO_OBJECT = ("A0610", "`this` in an actor")
    LAST_INCLUDE = ("A0611", "actorcompiler.h is not the last include", Severity.WARNING)

    # Of `actorc check`, which reads plain C++ as well.
    DISCARDED_RESULT = ("A0701", "future that is thrown away", Severity.WARNING)
    DANGLING_PARAMETER = ("A0702", "parameter that refers to what may be gone after a wait", Severity.WARNING)
    CAPTURING_COROUTINE = ("A0703", "coroutine lambda that captures", Severity.WARNING)
    HANDLER_NEVER_RUNS = ("A0704", "try block in a coroutine with Propagate", Severity.WARNING)
    SWALLOWED_IN_COROUTINE = ("A0705", "loop of a coroutine that cannot be cancelled", Severity.WARNING)
    WRONG_CPP = ("A0706", "C++ that does not compile", Severity.WARNING)
    ACTOR_DECLARATION = ("A0707", "actor that is declared with parameters by value", Severity.WARNING)
    DIFFERENCE = ("A0708", "name that differs from Flow's", Severity.WARNING)
    MISALIGNED_LOCAL = ("A0709", "local of a coroutine that is aligned to less than it requires", Severity.WARNING)
    GCC_COROUTINE = ("A0710", "coroutine that gcc translates wrongly", Severity.WARNING)
    DYING_LOCAL = ("A0711", "wait that destroys what it waits for", Severity.WARNING)

    def __init__(self, code: str, title: str, severity: Severity = Severity.ERROR) -> None:
        self.code = code
        self.title = title
        self.severity = severity  # the usual severity


# Codes that are not reported, and why.
RETIRED = {
    "A0208": "a `try` may have several catch clauses.",
    "A0405": "the type of a wait's result may be `auto`.",
}


@dataclass(frozen=True, slots=True)
class Note:
    """Another place that explains a diagnostic."""

    message: str
    span: Span


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace what stands at `span`, which is empty for an insertion."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that do not overlap and together remove the fault; `message` says what they do."""

    message: str
    edits: tuple[Edit, ...]

    def apply(self, text: str) -> str:
        """The source text after the edits."""
        return apply_edits(text, self.edits)


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    for edit in sorted(edits, key=lambda edit: (edit.span.start, edit.span.end), reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """`hint` completes the sentence that begins with "hint: "; `fixes` are alternatives, the likeliest first."""

    fault: Fault
    severity: Severity
    message: str
    span: Span
    notes: tuple[Note, ...] = ()
    hint: str | None = None
    fixes: tuple[Fix, ...] = ()

    @property
    def code(self) -> str:
        return self.fault.code


class Abandoned(Exception):
    """Ends the parsing of a construct with a fault that has been reported; never leaves the front end."""


_ALLOW = re.compile(r"actorc:\s*allow((?:[\s,]+A\d{4})+)")


class Diagnostics:
    """Collects diagnostics; iterates over them in source order."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, int], Diagnostic] = {}
        self._allowed: set[tuple[str, int]] = set()

    def error(
        self,
        fault: Fault,
        message: str,
        span: Span,
        *,
        hint: str | None = None,
        notes: tuple[Note, ...] = (),
        fixes: tuple[Fix, ...] = (),
    ) -> None:
        self._add(Diagnostic(fault, Severity.ERROR, message, span, notes, hint, fixes))

    def warning(
        self,
        fault: Fault,
        message: str,
        span: Span,
        *,
        hint: str | None = None,
        notes: tuple[Note, ...] = (),
        fixes: tuple[Fix, ...] = (),
    ) -> None:
        self._add(Diagnostic(fault, Severity.WARNING, message, span, notes, hint, fixes))

    def _add(self, diagnostic: Diagnostic) -> None:
        """Two scans may find the same fault: the first message about a place stays."""
        self._found.setdefault((diagnostic.code, diagnostic.span.start), diagnostic)

    def drop(self, diagnostic: Diagnostic) -> None:
        del self._found[diagnostic.code, diagnostic.span.start]

    def withdraw(self, fault: Fault, span: Span) -> None:
        """Removes what was reported of a place, if anything was: another message says it better."""
        self._found.pop((fault.code, span.start), None)

    def drop_allowed(self, source: Source) -> None:
        """Removes the diagnostics that a comment `actorc: allow A0601` allows, on their line or on the line before."""
        for key, found in list(self._found.items()):
            if found.code in _ALLOWABLE and found.code in _allowed_at(source, found.span.start):
                del self._found[key]
                self._allowed.add(key)

    def knows(self, fault: Fault, span: Span) -> bool:
        """Whether a fault was found at a place, also if a comment allows it."""
        key = (fault.code, span.start)
        return key in self._found or key in self._allowed

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(sorted(self._found.values(), key=lambda found: (found.span.start, found.span.end)))

    def __len__(self) -> int:
        return len(self._found)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(found for found in self if found.severity is Severity.ERROR)

    def shown(self, *, warnings: bool) -> tuple[Diagnostic, ...]:
        return tuple(self) if warnings else self.errors

    def has_error_in(self, span: Span) -> bool:
        return any(
            found.severity is Severity.ERROR and span.start <= found.span.start < span.end
            for found in self._found.values()
        )


# Only C++ can resolve names for certain, so an author may allow a lost local.
_ALLOWABLE = {fault.code for fault in Fault if fault.severity is Severity.WARNING} | {Fault.LOST_LOCAL.code}


def _allowed_at(source: Source, offset: int) -> set[str]:
    line = source.line(offset)
    lines = [source.line_text(line)] + ([source.line_text(line - 1)] if line > 1 else [])
    return {code for text in lines for code in _allowed_codes(text)}


def _allowed_codes(text: str) -> Iterator[str]:
    for match in _ALLOW.finditer(text):
        yield from re.findall(r"A\d{4}", match[1])


def allows(fault: Fault, line: str) -> bool:
    """Whether a comment of a source line allows a fault."""
    return fault.code in _allowed_codes(line)
