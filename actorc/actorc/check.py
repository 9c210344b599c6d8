"""What is wrong with an actor although it can be parsed: names, control flow, and what a wait takes away.

Reachability is syntactic: a function that never returns is not known, and neither is the value of a condition, but
for `true` and `1`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from actorc.diagnostics import Diagnostics, Fault, Note
from actorc.source import Source
from actorc.syntax import (
    Actor,
    Block,
    Break,
    Choose,
    Code,
    Continue,
    File,
    For,
    If,
    Loop,
    RangeFor,
    Return,
    Span,
    Statement,
    Throw,
    Try,
    Wait,
    While,
    children,
    declared_states,
    suspends,
    walk,
)

_ENDLESS = ("true", "1")


def check(file: File, source: Source, diagnostics: Diagnostics) -> None:
    """Add every fault of the file's actors to `diagnostics`."""
    for actor in file.actors:
        if actor.body is not None:
            _ActorCheck(actor, actor.body, source, diagnostics).run()


class _ActorCheck:
    def __init__(self, actor: Actor, body: Block, source: Source, diagnostics: Diagnostics) -> None:
        self._actor = actor
        self._body = body
        self._source = source
        self._diagnostics = diagnostics
        self._was_parsed = not diagnostics.has_error_in(actor.span)

    def run(self) -> None:
        self._check_names()
        self._check_jumps(self._body, in_loop=False)
        if self._was_parsed:  # what stands in for a broken statement would lead to false conclusions
            self._check_unreachable()
        self._check_returns()
        self._check_throws(self._body, has_error=False, was_caught=False)
        self._check_ranges()
        if self._was_parsed and not suspends(self._body) and self._actor.test_name is None:
            message = f"actor `{self._actor.name}` does not contain a wait"
            hint = "if it need not wait, make it an ordinary function"
            self._diagnostics.warning(Fault.NO_WAIT, message, self._actor.name_span, hint=hint)

    # -----------------------------------------------------------------------------------------------------------
    # Names

    def _check_names(self) -> None:
        seen: dict[str, Span] = {}
        for name, span, kind in self._names():
            if name not in seen:
                seen[name] = span
                continue
            notes = (Note("it is first declared here", seen[name]),)
            message = f"{kind} `{name}` is declared twice: such names are known in the whole actor"
            hint = "give it another name, or assign to the one that exists"
            self._diagnostics.error(Fault.DUPLICATE_NAME, message, span, hint=hint, notes=notes)

    def _names(self) -> Iterator[tuple[str, Span, str]]:
        """Every parameter and state variable, with the place of its name."""
        for parameter in self._actor.parameters:
            yield parameter.name, self._name_span(parameter.type, parameter.name), "parameter"
        for statement in walk(self._body):
            for declaration in declared_states(statement):
                yield declaration[1], self._name_span(*declaration), "state variable"

    def _name_span(self, type_: Code, name: str) -> Span:
        """A name stands behind its type, with no more than `const`, `&` and comments between."""
        match = re.compile(rf"\b{re.escape(name)}\b").search(self._source.text, type_.span.end)
        return Span(match.start(), match.end()) if match else type_.span

    def _check_ranges(self) -> None:
        known = {name for name, _, _ in self._names()}
        for statement in walk(self._body):
            if not isinstance(statement, RangeFor) or not suspends(statement.body):
                continue
            range_ = self._source[statement.range.span]
            if range_ not in known:
                message = f"`{range_}` does not live across the waits of this loop"
                hint = f"write `state T items = {range_};` before the loop, and loop over `items`"
                self._diagnostics.error(Fault.RANGE_NOT_STATE, message, statement.range.span, hint=hint)

    # -----------------------------------------------------------------------------------------------------------
    # Jumps

    def _check_jumps(self, statement: Statement, *, in_loop: bool) -> None:
        if isinstance(statement, Break | Continue) and not in_loop:
            word = "break" if isinstance(statement, Break) else "continue"
            self._diagnostics.error(Fault.OUTSIDE_LOOP, f"this `{word}` stands in no loop", statement.span)
        in_loop = in_loop or isinstance(statement, Loop | While | For | RangeFor)
        for inner in _inner(statement):
            self._check_jumps(inner, in_loop=in_loop)

    def _check_unreachable(self) -> None:
        for block in walk(self._body):
            if not isinstance(block, Block):
                continue
            for before, after in zip(block.statements, block.statements[1:], strict=False):
                if _never_completes(before, self._source):
                    message = "this can never be reached"
                    notes = (Note("since what stands before it does not come to an end", _head(before)),)
                    self._diagnostics.error(Fault.UNREACHABLE, message, _head(after), notes=notes)
                    break

    def _check_returns(self) -> None:
        returns_value = self._actor.result_type is not None
        is_void = returns_value and self._result_type() in ("Void", "flow::Void")
        hint = "write `return Void();`" if is_void else f"write `return VALUE;` with a `{self._result_type()}`"
        for statement in walk(self._body):
            if _returned_value(statement) in (None, returns_value):
                continue
            if returns_value:
                message = f"actor `{self._actor.name}` must return a `{self._result_type()}`"
                self._diagnostics.error(Fault.RETURN_MISMATCH, message, statement.span, hint=hint)
            else:
                message = f"actor `{self._actor.name}` is `void`, so it cannot return a value"
                self._diagnostics.error(Fault.RETURN_MISMATCH, message, statement.span, hint="write `return;`")
        if returns_value and self._was_parsed and _completes(self._body, self._source):
            message = f"actor `{self._actor.name}` can come to its end without returning a value"
            end = Span(self._body.span.end - 1, self._body.span.end)
            self._diagnostics.error(Fault.MISSING_RETURN, message, end, hint=f"{hint} here")

    def _result_type(self) -> str:
        return self._source[self._actor.result_type.span] if self._actor.result_type is not None else ""

    # -----------------------------------------------------------------------------------------------------------
    # throw;

    def _check_throws(self, statement: Statement, *, has_error: bool, was_caught: bool) -> None:
        """`has_error`: an error is being handled here, and no wait has come since; `was_caught`: in a handler."""
        if isinstance(statement, Throw) and statement.value is None and not has_error:
            message = "`throw;` has no error to throw on"
            hint = "write `throw ERROR;`"
            if was_caught:
                message += ": a wait since the `catch` has given it up"
                hint = "keep it at the start of the handler, `state Error error = e;`, and write `throw error;`"
            self._diagnostics.error(Fault.NO_CURRENT_ERROR, message, statement.span, hint=hint)
        if isinstance(statement, Try):
            self._check_throws(statement.body, has_error=has_error, was_caught=was_caught)
            for catch in statement.catches:
                self._check_throws(catch.body, has_error=True, was_caught=True)
            return
        if isinstance(statement, Loop | While | For | RangeFor | Choose) and suspends(statement):
            has_error = False
        for inner in _inner(statement):
            self._check_throws(inner, has_error=has_error, was_caught=was_caught)
            if isinstance(statement, Block):
                has_error = has_error and not suspends(inner)


def _inner(statement: Statement) -> Iterator[Statement]:
    """The statements directly inside one."""
    return iter(statement.statements) if isinstance(statement, Block) else children(statement)


def _returned_value(statement: Statement) -> bool | None:
    """Whether a `return` has a value; None for other statements."""
    if isinstance(statement, Return):
        return statement.value is not None
    return True if isinstance(statement, Wait) and statement.returns else None


def _head(statement: Statement) -> Span:
    """A part of a statement that is short enough to point at."""
    return Span(statement.span.start, min(statement.span.end, statement.span.start + 40))


# ---------------------------------------------------------------------------------------------------------------
# Reachability


def _never_completes(statement: Statement, source: Source) -> bool:
    """For what must not be followed by anything in its block: a jump, or an endless loop without a break."""
    match statement:
        case Return() | Throw() | Break() | Continue():
            return True
        case Wait():
            return statement.returns
        case Loop(body=body):
            return not _breaks(body)
        case While(condition=condition, body=body):
            return source[condition.span] in _ENDLESS and not _breaks(body)
        case For(condition=step, body=body):
            return (step is None or source[step.span] in _ENDLESS) and not _breaks(body)
        case _:
            return False


def _completes(statement: Statement, source: Source) -> bool:
    """Whether control can come to the end of the statement."""
    match statement:
        case Block(statements=statements):
            return all(_completes(inner, source) for inner in statements)
        case If(then=then, orelse=orelse):
            return orelse is None or _completes(then, source) or _completes(orelse, source)
        case Try(body=body, catches=catches):
            return _completes(body, source) or any(_completes(catch.body, source) for catch in catches)
        case Choose(whens=whens):
            return any(_completes(when.body, source) for when in whens)
        case _:
            return not _never_completes(statement, source)


def _breaks(statement: Statement) -> bool:
    """Whether a `break` in a loop's body leaves that loop."""
    if isinstance(statement, Break):
        return True
    if isinstance(statement, Loop | While | For | RangeFor):
        return False
    return any(_breaks(inner) for inner in _inner(statement))
