"""Errors of an actor that can be parsed: in names, in control flow, and in uses of locals that a wait has destroyed.

Reachability is syntactic: calls are assumed to return, and the value of a condition is unknown, except
for `true` and `1`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from actorc.check.duplicates import report_duplicates
from actorc.check.kept import kept_variables
from actorc.check.local_types import report_local_types
from actorc.check.reach import Reach
from actorc.check.statics import is_static, static_variable
from actorc.diagnostics import Diagnostics, Fault, Fix, Note
from actorc.repairs import last_in, replaced
from actorc.source import Source
from actorc.spelling import declares, names_in
from actorc.syntax import (
    LOOPS,
    Actor,
    Block,
    Break,
    Case,
    CatchKind,
    Choose,
    Continue,
    DoWhile,
    File,
    For,
    If,
    Loop,
    Plain,
    RangeFor,
    Return,
    Span,
    StateDecl,
    Statement,
    Switch,
    Throw,
    Try,
    Wait,
    WaitExpr,
    While,
    Words,
    all_actors,
    children,
    suspends,
    unknown,
    walk,
)
from actorc.words import CONTROL

_NO_LOOP = "leave it out: a `choose` goes on by itself after the body of its `when`, and `return` ends the actor"
_STATEMENTS = CONTROL | {"state", "loop", "choose", "when"}


def check(file: File, source: Source, diagnostics: Diagnostics) -> None:
    """Adds every error of the file's actors to `diagnostics`."""
    for actor in all_actors(file.actors):
        if actor.body is not None:
            _ActorCheck(actor, actor.body, file.words, source, diagnostics).run()


class _ActorCheck:
    def __init__(self, actor: Actor, body: Block, words: Words, source: Source, diagnostics: Diagnostics) -> None:
        self._actor = actor
        self._body = body
        self._words = words
        self._source = source
        self._diagnostics = diagnostics
        self._reach = Reach(source)
        self._was_parsed = not diagnostics.has_error_in(actor.span)

    def run(self) -> None:
        statements = tuple(walk(self._body))
        kinds = {type(statement) for statement in statements}
        kept = tuple(kept_variables(self._actor, statements, self._words))
        report_duplicates(kept, self._words, self._source, self._diagnostics)
        report_local_types(kept, statements, self._words, self._diagnostics)
        if kinds & {Break, Continue}:
            self._check_jumps(self._body, in_loop=False, in_switch=False)
        if self._was_parsed:  # the placeholder of a broken statement would lead to wrong conclusions
            self._check_unreachable(statements)
        self._check_returns(statements)
        if Try in kinds:
            self._check_catches(statements)
        if Throw in kinds:
            self._check_throws(self._body, has_error=False)
        if RangeFor in kinds:
            self._check_ranges(self._body, frozenset())
        self._check_statics(self._body, owns=False, is_doubled=False)
        if self._was_parsed and not kinds & {Wait, Choose} and self._actor.test_name is None:
            message = f"{self._actor.title} does not contain a wait"
            hint = "if it need not wait, make it an ordinary function"
            self._diagnostics.warning(Fault.NO_WAIT, message, self._actor.name_span, hint=hint)

    # -----------------------------------------------------------------------------------------------------------
    # Ranges

    def _check_ranges(self, statement: Statement, locals_: frozenset[str]) -> None:
        """Checks ranges that are kept across waits. Their type comes from the expression, which can use no local."""
        if isinstance(statement, RangeFor):
            if suspends(statement.body):
                self._check_range(statement, locals_)
            locals_ |= {local.name for local in statement.decl_locals}
        for block, declared in _scopes(statement):
            known = locals_ | declared
            for inner in block.statements:
                self._check_ranges(inner, known)
                known |= _declared(inner)

    def _check_range(self, item: RangeFor, locals_: frozenset[str]) -> None:
        range_ = self._source[item.range.span]
        used = sorted(names_in(range_) & locals_)
        if used:
            message = f"`{used[0]}` does not live across the waits of this loop"
            hint = f"write `state TYPE items = {range_};` before the loop, and loop over `items`"
            self._diagnostics.error(Fault.RANGE_NOT_STATE, message, item.range.span, hint=hint)

    def _check_statics(self, statement: Statement, *, owns: bool, is_doubled: bool) -> None:
        """`owns`: a local with a destructor may exist. A loop that waits is then printed twice: see lower.py."""
        if is_doubled and is_static(statement, self._source):
            assert isinstance(statement, Plain)
            if static_variable(statement, self._source) is None:
                message = "this `static` local cannot be kept in one place in a loop that waits"
                hint = "declare one variable, with its type or with `auto` and `=`, or declare it outside of the actor"
                self._diagnostics.error(Fault.STATIC_LOCAL, message, statement.span, hint=hint)
        is_doubled = is_doubled or (owns and isinstance(statement, LOOPS) and suspends(statement))
        owns = owns or self._owns_inside(statement)
        for inner in _inner(statement):
            self._check_statics(inner, owns=owns, is_doubled=is_doubled)
            owns = (owns and self._reach.completes_before_wait(inner)) or self._owns_after(inner)

    def _owns_inside(self, statement: Statement) -> bool:
        match statement:
            case RangeFor(decl_locals=names):
                return not all(local.trivial for local in names)
            case If(condition=condition) | Switch(condition=condition) | While(condition=condition):
                return declares(self._source[condition.span])
            case Try() | Choose():
                return True  # a caught exception, a result
            case Block() | Loop() | DoWhile() | For():
                return False
            case Plain() | StateDecl() | Wait() | Return() | Throw() | Break() | Continue() | Case():
                return False
            case _:
                raise unknown(statement)

    def _owns_after(self, statement: Statement) -> bool:
        if isinstance(statement, Plain):
            return not all(local.trivial for local in statement.locals)
        return isinstance(statement, Wait) and bool(_bound(statement.wait))

    # -----------------------------------------------------------------------------------------------------------
    # Jumps

    def _check_jumps(self, statement: Statement, *, in_loop: bool, in_switch: bool) -> None:
        if isinstance(statement, Break) and not in_loop and not in_switch:
            self._diagnostics.error(Fault.OUTSIDE_LOOP, "this `break` stands in no loop", statement.span, hint=_NO_LOOP)
        if isinstance(statement, Continue) and not in_loop:
            self._diagnostics.error(
                Fault.OUTSIDE_LOOP, "this `continue` stands in no loop", statement.span, hint=_NO_LOOP
            )
        in_loop = in_loop or isinstance(statement, LOOPS)
        in_switch = in_switch or isinstance(statement, Switch)
        for inner in _inner(statement):
            self._check_jumps(inner, in_loop=in_loop, in_switch=in_switch)

    def _check_unreachable(self, statements: Sequence[Statement]) -> None:
        for block in statements:
            if not isinstance(block, Block):
                continue
            for before, after in zip(block.statements, block.statements[1:], strict=False):
                if self._never_completes(before) and not isinstance(after, Case):
                    message = "this is never reached"
                    notes = (Note("since the statement before it never completes", _head(before)),)
                    hint = "remove it, or move it before that statement"
                    self._diagnostics.error(Fault.UNREACHABLE, message, _head(after), hint=hint, notes=notes)
                    break

    def _never_completes(self, statement: Statement) -> bool:
        """Whether nothing may follow the statement in its block: it is a jump, an endless loop without a break, or a
        `try` that completes neither in its body nor in a handler."""
        if isinstance(statement, Loop | While | DoWhile | For | Try):
            return not self._reach.flow(statement).normal
        if isinstance(statement, Wait):
            return statement.returns
        return isinstance(statement, Return | Throw | Break | Continue)

    def _check_returns(self, statements: Sequence[Statement]) -> None:
        returns_value = self._actor.result_type is not None
        is_void = returns_value and self._result_type() in ("Void", "flow::Void")
        hint = (
            "write `return Void();`"
            if is_void
            else f"write `return VALUE;`, VALUE being of type `{self._result_type()}`"
        )
        for statement in statements:
            if _returned_value(statement) in (None, returns_value):
                continue
            if returns_value:
                message = f"{self._actor.title} must return a `{self._result_type()}`"
                fixes = replaced(statement.span, "return Void();") if is_void else ()
                self._diagnostics.error(
                    Fault.RETURN_MISMATCH, message, statement.span, hint=hint, notes=self._type_note(), fixes=fixes
                )
            else:
                message = f"{self._actor.title} is `void`, so it cannot return a value"
                self._diagnostics.error(
                    Fault.RETURN_MISMATCH,
                    message,
                    statement.span,
                    hint="write `return;`",
                    notes=self._type_note(),
                    fixes=replaced(statement.span, "return;"),
                )
        if returns_value and self._was_parsed and self._reach.flow(self._body).normal:
            if self._goes_on():
                return
            message = f"{self._actor.title} can reach its end without returning a value"
            end = Span(self._body.span.end - 1, self._body.span.end)
            fixes = (
                (Fix("return at the end", (last_in(self._body, "return Void();", self._source),)),) if is_void else ()
            )
            self._diagnostics.error(
                Fault.MISSING_RETURN, message, end, hint=f"{hint} here", notes=self._type_note(), fixes=fixes
            )

    def _goes_on(self) -> bool:
        """Whether statements follow the actor's last brace, which is then one too many."""
        index = self._words.between(self._body.span)[1]
        texts = self._words.texts
        if texts[index] not in _STATEMENTS and not (texts[index] in ("wait", "waitNext") and texts[index + 1] == "("):
            return False
        end = Span(self._body.span.end - 1, self._body.span.end)
        message = f"{self._actor.title} ends with this `}}`, and a statement follows it"
        notes = (Note("this stands outside of the actor", self._words.span(index)),)
        hint = "remove the extra `}`, here or before"
        self._diagnostics.error(Fault.STRAY_BRACKET, message, end, hint=hint, notes=notes)
        return True

    def _type_note(self) -> tuple[Note, ...]:
        if self._actor.test_name is not None:
            return ()
        return (Note(f"it is declared to return `{self._actor.return_text}` here", self._actor.name_span),)

    def _result_type(self) -> str:
        return self._source[self._actor.result_type.span] if self._actor.result_type is not None else ""

    # -----------------------------------------------------------------------------------------------------------
    # Errors

    def _check_catches(self, statements: Sequence[Statement]) -> None:
        """An `Error` clause catches all that no other clause catches, `...` all that is left."""
        for statement in statements:
            if not isinstance(statement, Try):
                continue
            taken: dict[CatchKind, Span] = {}
            for catch in statement.catches:
                before = taken.get(CatchKind.ALL)
                if before is None and catch.kind is not CatchKind.OTHER:
                    before = taken.get(catch.kind)
                if before is not None:
                    notes = (Note("since this clause stands before it", before),)
                    self._diagnostics.error(
                        Fault.CATCH_ORDER,
                        "this `catch` can never catch anything",
                        catch.head,
                        hint="put it before that clause, or leave it out",
                        notes=notes,
                    )
                taken.setdefault(catch.kind, catch.head)

    def _check_throws(self, statement: Statement, *, has_error: bool) -> None:
        """`has_error`: an error is being handled here."""
        if isinstance(statement, Throw) and statement.value is None and not has_error:
            message = "`throw;` has no error to throw again"
            self._diagnostics.error(Fault.NO_CURRENT_ERROR, message, statement.span, hint="write `throw ERROR;`")
        if isinstance(statement, Try):
            self._check_throws(statement.body, has_error=has_error)
            for catch in statement.catches:
                self._check_throws(catch.body, has_error=True)
            return
        for inner in _inner(statement):
            self._check_throws(inner, has_error=has_error)


def _inner(statement: Statement) -> Iterator[Statement]:
    """The statements directly inside one."""
    return iter(statement.statements) if isinstance(statement, Block) else children(statement)


def _returned_value(statement: Statement) -> bool | None:
    """Whether a `return` has a value; None for other statements."""
    if isinstance(statement, Return):
        return statement.value is not None
    return True if isinstance(statement, Wait) and statement.returns else None


def _scopes(statement: Statement) -> Iterator[tuple[Block, frozenset[str]]]:
    """The blocks directly inside a statement, with the locals that it declares for each."""
    match statement:
        case Choose(whens=whens):
            for when in whens:
                yield when.body, _bound(when.wait)
        case Try(body=body, catches=catches):
            yield body, frozenset()
            for catch in catches:
                yield catch.body, frozenset() if catch.name is None else frozenset({catch.name})
        case Block() | If() | Switch() | Loop() | While() | DoWhile() | For() | RangeFor():
            for block in children(statement):
                yield block, frozenset()
        case Plain() | StateDecl() | Wait() | Return() | Throw() | Break() | Continue() | Case():
            pass
        case _:
            raise unknown(statement)


def _declared(statement: Statement) -> frozenset[str]:
    """The plain locals that a statement declares in its block."""
    if isinstance(statement, Wait):
        return _bound(statement.wait)
    return frozenset(local.name for local in statement.locals) if isinstance(statement, Plain) else frozenset()


def _bound(wait: WaitExpr) -> frozenset[str]:
    return frozenset() if wait.result is None or wait.result.is_state else frozenset(wait.result.names)


def _head(statement: Statement) -> Span:
    """A part of a statement that is short enough to point at."""
    return Span(statement.span.start, min(statement.span.end, statement.span.start + 40))
