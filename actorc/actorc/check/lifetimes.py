"""Uses of locals that a wait has destroyed: a plain local lives up to the next wait.

The walk follows the statements in source order, and records what is declared and what is lost at each place. A local is
lost at each place that control can reach after a wait, even if it can also get there without one: the code after a wait
is compiled once, without the local.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from actorc import syntax
from actorc.check.reach import Reach
from actorc.check.uses import declares, uses
from actorc.records import dataclass, field
from actorc.syntax import Block, Code, Span, Statement, WaitExpr, Words


@dataclass(frozen=True, slots=True)
class Use:
    """The use of a local that `wait` has destroyed."""

    span: Span
    wait: Span


@dataclass(slots=True, eq=False)
class Local:
    """A plain local. `origin` declares it: a Plain, a Wait or When, a Catch, a RangeFor, or a condition's Code."""

    name: str
    span: Span  # of its name, or of what declares it
    origin: syntax.Node
    scope: Span  # of the block in which it is known
    lost: list[Use] = field(default_factory=list)


class Scope:
    """What is declared at a place, and which locals a wait has destroyed."""

    def __init__(self, bound: dict[str, Local], lost: dict[str, Span], alive: dict[str, None]) -> None:
        self.bound = bound
        self.lost = lost
        self._alive = alive  # what is bound and not lost

    def inner(self) -> Scope:
        return Scope(dict(self.bound), dict(self.lost), dict(self._alive))

    def declare(self, local: Local) -> None:
        self.bound[local.name] = local
        self.lost.pop(local.name, None)
        self._alive[local.name] = None

    def end(self, wait: Span) -> None:
        """A wait is carried out."""
        for name in self._alive:
            self.lost[name] = wait
        self._alive.clear()

    def lose(self, lost: dict[str, Span]) -> None:
        """Control arrives from a place where exactly these are lost."""
        self.lost = dict(lost)
        self._alive = {name: None for name in self.bound if name not in lost}


def plain_locals(body: Block, words: Words, reach: Reach) -> tuple[Local, ...]:
    """All plain locals of an actor's body, with their uses after a wait."""
    walk = _Walk(words, reach)
    walk.block(body, Scope({}, {}, {}))
    return tuple(walk.locals)


def uses_after_waits(body: Block, declared: Iterable[Local], words: Words, reach: Reach) -> None:
    """Adds to what is declared before the body, such as parameters, its uses after a wait."""
    scope = Scope({}, {}, {})
    for local in declared:
        scope.declare(local)
    _Walk(words, reach).block(body, scope)


class _Walk:
    def __init__(self, words: Words, reach: Reach) -> None:
        self._words = words
        self._reach = reach
        self.locals: list[Local] = []

    # -----------------------------------------------------------------------------------------------------------
    # Names

    def _declare(self, scope: Scope, names: Iterable[str], origin: syntax.Node, place: Span, known: Span) -> None:
        for name in names:
            local = Local(name, self._place(name, place), origin, Span(place.start, known.end))
            self.locals.append(local)
            scope.declare(local)

    def _place(self, name: str, where: Span) -> Span:
        """The place of a name that is declared in a span."""
        first, end = self._words.between(where)
        found = [index for index in range(first, end) if self._words.texts[index] == name]
        declared = [index for index in found if declares(self._words, index, first)]
        return self._words.span((declared or found)[0]) if found else where

    def _use(self, code: Code | Statement | None, scope: Scope, but: Collection[str] = ()) -> None:
        """Copied text is evaluated here."""
        if code is None or not scope.lost:
            return
        for index in uses(self._words, code.span, scope.lost):
            name = self._words.texts[index]
            if name in but:
                continue
            scope.bound[name].lost.append(Use(self._words.span(index), scope.lost[name]))

    # -----------------------------------------------------------------------------------------------------------
    # Statements

    def block(self, block: Block, outer: Scope) -> None:
        """The block's statements, in a scope of their own."""
        scope = outer.inner()
        for statement in block.statements:
            self._statement(statement, scope, block.span)

    def _cases(self, block: Block, outer: Scope) -> None:
        """The body of a `switch`: control comes to a label from its head, and from what stands before it."""
        scope = outer.inner()
        falls_through = True
        for statement in block.statements:
            if isinstance(statement, syntax.Case) and not falls_through:
                scope.lose(outer.lost)
            self._statement(statement, scope, block.span)
            falls_through = bool(self._reach.flow(statement).normal)

    def _statement(self, statement: Statement, scope: Scope, known: Span) -> None:
        match statement:
            case syntax.Plain():
                names = [local.name for local in statement.locals]
                self._use(statement, scope, but=names)
                self._declare(scope, names, statement, statement.span, known)
            case syntax.StateDecl():
                self._use(statement.init, scope)
                self._use(statement.chained, scope)
            case syntax.Wait():
                self._wait(statement.wait, scope)
                self._result(statement.wait, statement, scope, known)
            case syntax.Choose():
                self._choose(statement, scope)
            case syntax.Return() | syntax.Throw() | syntax.Case():
                self._use(statement.value, scope)
            case syntax.Break() | syntax.Continue():
                pass
            case _:
                self._compound(statement, scope)
                if scope.bound and self._reach.completes_after_wait(statement):
                    scope.end(_first_wait(statement))

    def _wait(self, wait: WaitExpr, scope: Scope) -> None:
        self._use(wait.operand, scope)
        scope.end(wait.span)

    def _result(self, wait: WaitExpr, origin: syntax.Node, scope: Scope, known: Span) -> None:
        """What a wait's value goes to, after the wait."""
        result = wait.result
        if result is None:
            return
        self._use(result.target, scope)
        if not result.is_state:
            before = Span(wait.span.start, wait.operand.span.start)
            self._declare(scope, result.names, origin, before, known)

    def _choose(self, statement: syntax.Choose, scope: Scope) -> None:
        for when in statement.whens:
            self._use(when.wait.operand, scope)
        for when in statement.whens:
            inner = scope.inner()
            inner.end(when.wait.span)
            self._result(when.wait, when, inner, when.body.span)
            self.block(when.body, inner)
        if scope.bound and self._reach.completes_after_wait(statement):
            scope.end(statement.whens[0].wait.span)

    def _compound(self, statement: Statement, scope: Scope) -> None:
        match statement:
            case Block():
                self.block(statement, scope)
            case syntax.If() | syntax.Switch():
                inner = scope.inner()
                self._condition(statement.condition, inner, statement.span)
                lists = self._cases if isinstance(statement, syntax.Switch) else self.block
                for block in syntax.children(statement):
                    lists(block, inner)
            case syntax.Try():
                self._try(statement, scope)
            case syntax.RangeFor():
                self._range_for(statement, scope)
            case syntax.Loop() | syntax.While() | syntax.DoWhile() | syntax.For():
                self._loop(statement, scope)
            case _:
                raise syntax.unknown(statement)

    def _condition(self, code: Code | None, scope: Scope, known: Span) -> None:
        """A condition, or the first part of a `for`, which may declare something for what follows."""
        if code is None:
            return
        texts = self._words.texts
        first, end = self._words.between(code.span)
        found: list[int] = []
        for index in range(first + 1, end):
            if texts[index + 1] in ("=", "{", "]", ",") and (texts[index][0].isalpha() or texts[index][0] == "_"):
                another = found and texts[index - 1] == "," and texts[index + 1] == "="  # `int i = 0, n = 3`
                if another or declares(self._words, index, first):
                    found.append(index)
        self._use(code, scope, but=[texts[index] for index in found])
        for index in found:
            self._declare(scope, [texts[index]], code, self._words.span(index), known)

    def _try(self, statement: syntax.Try, scope: Scope) -> None:
        self.block(statement.body, scope)
        for catch in statement.catches:
            inner = scope.inner()
            if self._reach.suspends(statement.body):
                inner.end(_first_wait(statement.body))
            if catch.name is not None:
                self._declare(inner, [catch.name], catch, catch.head, catch.body.span)
            self.block(catch.body, inner)

    def _range_for(self, statement: syntax.RangeFor, scope: Scope) -> None:
        outer = scope.inner()
        if isinstance(statement.init, Code):
            self._condition(statement.init, outer, statement.span)
        self._use(statement.range, outer)
        inner = outer.inner()
        self._enter(statement.body, inner)
        names = [local.name for local in statement.decl_locals]
        self._declare(inner, names, statement, statement.decl.span, statement.body.span)
        self.block(statement.body, inner)

    def _enter(self, body: Block, scope: Scope) -> None:
        """A loop that waits is compiled once, for its first pass and for those after the wait."""
        if scope.bound and self._reach.suspends(body):
            scope.end(_first_wait(body))

    def _loop(self, statement: syntax.Loop | syntax.While | syntax.DoWhile | syntax.For, scope: Scope) -> None:
        inner = scope.inner()
        if isinstance(statement, syntax.For) and isinstance(statement.init, Code):
            self._condition(statement.init, inner, statement.span)
        self._enter(statement.body, inner)
        if isinstance(statement, syntax.DoWhile):
            self._use(statement.condition, inner)
        if isinstance(statement, syntax.While | syntax.For):
            self._condition(statement.condition, inner, statement.span)
        if isinstance(statement, syntax.For):
            self._use(statement.step, inner)
        self.block(statement.body, inner)


def _first_wait(statement: Statement) -> Span:
    waits = (wait.span for inner in syntax.walk(statement) for wait in syntax.waits_of(inner))
    return next(waits, statement.span)
