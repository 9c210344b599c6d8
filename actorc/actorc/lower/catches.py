"""Facts about the clauses of a `try`: where errors go, and how a handler keeps the caught error for `throw;`."""

from __future__ import annotations

from collections.abc import Iterator

from actorc import syntax
from actorc.check.reach import Reach
from actorc.syntax import CatchKind


def takes_errors(item: syntax.Try) -> bool:
    """Whether an Error raised in the body is caught here. If not, it goes to the next handler outside."""
    return any(catch.kind is not CatchKind.OTHER for catch in item.catches)


def rethrows(body: syntax.Statement) -> bool:
    """Whether a `throw;` of the handler itself stands in it."""
    return any(isinstance(inner, syntax.Throw) and inner.value is None for inner in _own(body))


def rethrows_late(body: syntax.Block, reach: Reach) -> bool:
    """Whether the handler may have waited before its own `throw;`, so that the error must outlive its locals."""
    return _Late(reach).block(body, False)


def _own(statement: syntax.Statement) -> Iterator[syntax.Statement]:
    """The statement and those inside it, but for the handlers in it, in which `throw;` means another error."""
    yield statement
    for inner in _inner(statement):
        yield from _own(inner)


def _inner(statement: syntax.Statement) -> Iterator[syntax.Statement]:
    if isinstance(statement, syntax.Block):
        yield from statement.statements
    elif isinstance(statement, syntax.Try):
        yield statement.body
    else:
        yield from syntax.children(statement)


class _Late:
    def __init__(self, reach: Reach) -> None:
        self._reach = reach

    def block(self, block: syntax.Block, waited: bool) -> bool:
        for statement in block.statements:
            if self._statement(statement, waited):
                return True
            waited = waited or self._reach.suspends(statement)
        return False

    def _statement(self, statement: syntax.Statement, waited: bool) -> bool:
        if isinstance(statement, syntax.Throw):
            return waited and statement.value is None
        goes_round = not isinstance(statement, syntax.Block | syntax.If | syntax.Try)
        waited = waited or (goes_round and self._reach.suspends(statement))
        blocks = [inner for inner in _inner(statement) if isinstance(inner, syntax.Block)]
        if isinstance(statement, syntax.Block):
            return self.block(statement, waited)
        return any(self.block(block, waited) for block in blocks)
