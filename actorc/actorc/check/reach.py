"""Where control can get to: which statements complete, and whether they do so before or after a wait.

Reachability is that of the language: conditions count as unknown, except for the endless loops `loop`, `for (;;)` and
`while (true)`.
"""

from __future__ import annotations

from collections.abc import Iterable

from actorc import syntax
from actorc.records import dataclass
from actorc.source import Source
from actorc.syntax import Statement


class Paths:
    """The ways in which control arrives somewhere: bits of an int, for the `|` of enum.Flag takes 10 us."""

    NONE = 0
    BEFORE_WAIT = 1
    AFTER_WAIT = 2


@dataclass(frozen=True, slots=True)
class Flow:
    """How control leaves a statement."""

    normal: int
    breaks: int = Paths.NONE
    continues: int = Paths.NONE

    def __or__(self, other: Flow) -> Flow:
        return Flow(self.normal | other.normal, self.breaks | other.breaks, self.continues | other.continues)


NOWHERE = Flow(Paths.NONE)


class Reach:
    """Answers about the statements of one file; caches them."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._flows: dict[tuple[Statement, int], Flow] = {}
        self._suspends: dict[Statement, bool] = {}

    def suspends(self, statement: Statement) -> bool:
        """Whether there is a wait or a choose in it."""
        known = self._suspends.get(statement)
        if known is None:
            if isinstance(statement, syntax.Block):
                known = any(self.suspends(inner) for inner in statement.statements)
            else:
                known = bool(syntax.waits_of(statement))
                known = known or any(self.suspends(block) for block in syntax.children(statement))
            self._suspends[statement] = known
        return known

    def flow(self, statement: Statement, arriving: int = Paths.BEFORE_WAIT) -> Flow:
        """How control that arrives leaves the statement."""
        if not arriving:
            return NOWHERE
        known = self._flows.get((statement, arriving))
        if known is None:
            known = self._compute(statement, arriving)
            self._flows[statement, arriving] = known
        return known

    def completes_before_wait(self, statement: Statement) -> bool:
        """Whether control can come to its end without having waited."""
        return bool(Paths.BEFORE_WAIT & self.flow(statement).normal)

    def completes_after_wait(self, statement: Statement) -> bool:
        return bool(Paths.AFTER_WAIT & self.flow(statement).normal)

    def through(self, statements: Iterable[Statement], arriving: int = Paths.BEFORE_WAIT) -> Flow:
        """The same for statements one after the other."""
        total = Flow(arriving)
        for statement in statements:
            step = self.flow(statement, total.normal)
            total = Flow(step.normal, total.breaks | step.breaks, total.continues | step.continues)
        return total

    def is_endless(self, condition: syntax.Code | None) -> bool:
        return condition is None or self._source[condition.span].strip() in ("", "true", "1")

    def _compute(self, statement: Statement, arriving: int) -> Flow:
        match statement:
            case syntax.Return() | syntax.Throw():
                return NOWHERE
            case syntax.Break():
                return Flow(Paths.NONE, breaks=arriving)
            case syntax.Continue():
                return Flow(Paths.NONE, continues=arriving)
            case syntax.Wait():
                return NOWHERE if statement.returns else Flow(Paths.AFTER_WAIT)
            case syntax.Block(statements=statements):
                return self.through(statements, arriving)
            case syntax.Choose(whens=whens):
                flows = [self.flow(when.body, Paths.AFTER_WAIT) for when in whens]
                return _union(flows)
            case syntax.If(then=then, orelse=orelse):
                other = Flow(arriving) if orelse is None else self.flow(orelse, arriving)
                return self.flow(then, arriving) | other
            case syntax.Try(body=body, catches=catches):
                thrown = arriving | (Paths.AFTER_WAIT if self.suspends(body) else Paths.NONE)
                return self.flow(body, arriving) | _union(self.flow(catch.body, thrown) for catch in catches)
            case syntax.Loop(body=body):
                return self._loop(body, True, arriving)
            case syntax.While(body=body, condition=condition):
                return self._loop(body, self.is_endless(condition), arriving)
            case syntax.DoWhile(body=body, condition=condition):
                return self._do(body, self.is_endless(condition), arriving)
            case syntax.For(body=body, condition=test):
                return self._loop(body, self.is_endless(test), arriving)
            case syntax.RangeFor(body=body):
                return self._loop(body, False, arriving)
            case syntax.Switch(body=body):
                return self._switch(body, arriving)
            case syntax.Plain() | syntax.StateDecl() | syntax.Case():
                return Flow(arriving)
            case _:
                raise syntax.unknown(statement)

    def _loop(self, body: syntax.Block, endless: bool, arriving: int) -> Flow:
        while True:
            once = self.flow(body, arriving)
            again = arriving | once.normal | once.continues
            if again == arriving:
                return Flow(once.breaks if endless else once.breaks | arriving)
            arriving = again

    def _do(self, body: syntax.Block, endless: bool, arriving: int) -> Flow:
        while True:
            once = self.flow(body, arriving)
            tested = once.normal | once.continues
            if tested | arriving == arriving:
                return Flow(once.breaks if endless else once.breaks | tested)
            arriving |= tested

    def _switch(self, body: syntax.Block, arriving: int) -> Flow:
        falls = breaks = continues = Paths.NONE
        has_default = False
        for inner in body.statements:
            if isinstance(inner, syntax.Case):
                has_default = has_default or inner.value is None
                falls |= arriving
                continue
            step = self.flow(inner, falls)
            falls, breaks, continues = step.normal, breaks | step.breaks, continues | step.continues
        past = Paths.NONE if has_default else arriving
        return Flow(falls | breaks | past, continues=continues)


def _union(flows: Iterable[Flow]) -> Flow:
    total = NOWHERE
    for flow in flows:
        total |= flow
    return total
