"""Handlers that swallow what they should pass on, above all the cancellation of their actor.

A cancelled actor gets `actor_cancelled` at its wait, and again at each later one. A loop that catches it and waits
again in the same `try` never ends.
"""

from __future__ import annotations

from actorc.check.reach import Reach
from actorc.diagnostics import Diagnostics, Edit, Fault, Fix, Note
from actorc.repairs import first_in, unused_name
from actorc.source import Source
from actorc.syntax import (
    LOOPS,
    Actor,
    Block,
    Catch,
    CatchKind,
    Code,
    DoWhile,
    File,
    For,
    Loop,
    Span,
    Statement,
    Try,
    While,
    children,
    waits_of,
    walk,
)

# A handler with one of these does something about the error that it has caught.
_DEALS = frozenset({"throw", "return", "break", "goto", "code", "actor_cancelled", "error_code_actor_cancelled"})


def report_swallowing(
    actor: Actor, body: Block, file: File, source: Source, reach: Reach, diagnostics: Diagnostics
) -> None:
    if actor.result_type is None or actor.is_uncancellable:
        return  # it cannot be cancelled
    _Search(file, source, reach, diagnostics).visit(body, None)


class _Search:
    def __init__(self, file: File, source: Source, reach: Reach, diagnostics: Diagnostics) -> None:
        self._words = file.words
        self._source = source
        self._reach = reach
        self._diagnostics = diagnostics

    def visit(self, statement: Statement, loop: Statement | None) -> None:
        """`loop` is the innermost one around the statement."""
        if not self._reach.suspends(statement):
            return
        if isinstance(statement, Try) and self._reach.suspends(statement.body):
            self._try(statement, loop)
        inner = statement.statements if isinstance(statement, Block) else children(statement)
        for part in inner:
            self.visit(part, statement if isinstance(statement, LOOPS) else loop)

    def _try(self, statement: Try, loop: Statement | None) -> None:
        taker = next((catch for catch in statement.catches if catch.kind is not CatchKind.OTHER), None)
        if taker is None or not self._swallows(taker):
            return
        wait = next(wait.span for inner in walk(statement.body) for wait in waits_of(inner))
        if self._may_spin(loop) and not self._waits_elsewhere(loop, statement, taker):
            message = (
                "this loop cannot be cancelled: the handler catches `actor_cancelled`, and the next pass waits again"
            )
            notes = (Note("a cancelled actor gets it at this wait, in every pass", wait),)
            fault = Fault.SWALLOWED_CANCEL
        elif taker.kind is CatchKind.ALL:
            message = "this handler catches every error, also `actor_cancelled` and mistakes of the program"
            notes = (Note("such as those that this wait raises", wait),)
            fault = Fault.SWALLOWED_ERRORS
        else:
            return
        name, edits = self._rethrow(taker)
        hint = f"pass it on at the start of the handler: `if ({name}.code() == error_code_actor_cancelled) throw;`"
        fixes = (Fix("pass a cancellation on", edits),) if edits else ()
        self._diagnostics.warning(fault, message, taker.head, hint=hint, notes=notes, fixes=fixes)

    def _swallows(self, catch: Catch) -> bool:
        first, end = self._words.between(catch.body.span)
        flow = self._reach.flow(catch.body)
        goes_on = bool(flow.normal | flow.continues)
        deals = not _DEALS.isdisjoint(self._words.texts[first:end])
        return goes_on and not deals and not self._reach.suspends(catch.body)

    def _may_spin(self, loop: Statement | None) -> bool:
        """Whether nothing but its body ends the loop."""
        if isinstance(loop, For):
            return loop.step is None
        return isinstance(loop, Loop | While | DoWhile)

    def _waits_elsewhere(self, loop: Statement | None, statement: Try, taker: Catch) -> bool:
        """Whether each pass of the loop waits outside the `try`, so that a cancelled actor leaves there."""
        skips_rest = bool(self._reach.flow(taker.body).continues)
        for block in () if loop is None else children(loop):
            for part in block.statements:
                if part.span.start <= statement.span.start < part.span.end:
                    if skips_rest:
                        return False
                elif not self._reach.completes_before_wait(part):
                    return True
        return False

    def _rethrow(self, catch: Catch) -> tuple[str, tuple[Edit, ...]]:
        """The name of the caught error, and the edits that give it one and pass a cancellation on."""
        edits: tuple[Edit, ...] = ()
        name = catch.name
        if name is None:
            name = unused_name("e", catch.body.span, self._words)
            edits = (Edit(catch.head, f"catch ({self._type(catch.type)} {name})"),)
        first = first_in(catch.body, f"if ({name}.code() == error_code_actor_cancelled) throw;", self._source)
        return name, () if first is None else (*edits, first)

    def _type(self, type_: Code | None) -> str:
        return "Error&" if type_ is None else self._source[Span(type_.span.start, type_.span.end)]
