"""An unknown kind of statement: every pass over the tree rejects it, and none ignores it.

That each `match` over the kinds ends in a refusal is checked by tools/tidy.py. Here is what begins a walk.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from actorc import syntax
from actorc.check.advice import advise
from actorc.check.check import check
from actorc.check.reach import Reach
from actorc.check.sections import falls_through
from actorc.diagnostics import Diagnostics
from actorc.driver import analyse, emitted
from actorc.records import replace
from actorc.source import Source
from actorc.syntax import Block, File, Statement
from actorc_migrate.convert import convert
from actorc_migrate.edits import Edits
from actorc_migrate.settings import Settings
from model.facts import Facts

SOURCE = Source("a.actor.cpp", "ACTOR Future<Void> a(Future<Void> f) { wait(f); strange; return Void(); }\n")


class Strange(Statement):
    pass


def file_with_strange() -> File:
    file = analyse(SOURCE, Diagnostics())
    (actor,) = file.actors
    assert actor.body is not None
    wait, other, leave = actor.body.statements
    body = replace(actor.body, statements=(wait, Strange(other.span), leave))
    return replace(file, actors=(replace(actor, body=body),))


WHOLE: dict[str, Callable[[File], object]] = {
    "check": lambda file: check(file, SOURCE, Diagnostics()),
    "advise": lambda file: advise(file, SOURCE, Diagnostics()),
    "state machine": lambda file: emitted(file, SOURCE, "state-machine", "a.g.cpp"),
    "coroutine": lambda file: emitted(file, SOURCE, "coroutine", "a.g.cpp"),
    "migrate": lambda file: convert(file, SOURCE, Settings(), Edits(SOURCE.text)),
    "model": lambda file: Facts(SOURCE).states(file.actors[0]),
}
ALONE: dict[str, Callable[[Statement], object]] = {
    "children": lambda statement: list(syntax.children(statement)),
    "walk": lambda statement: list(syntax.walk(Block(statement.span, (statement,)))),
    "waits_of": syntax.waits_of,
    "declaration_of": syntax.declaration_of,
    "declared_states": lambda statement: list(syntax.declared_states(statement)),
    "suspends": syntax.suspends,
    "falls_through": lambda statement: falls_through(statement, SOURCE),
    "Reach.flow": lambda statement: Reach(SOURCE).flow(statement),
    "Reach.suspends": lambda statement: Reach(SOURCE).suspends(statement),
}


@pytest.mark.parametrize("name", WHOLE)
def test_what_goes_through_a_file_refuses_it(name: str) -> None:
    with pytest.raises(AssertionError, match="no rule for a node of the kind Strange"):
        WHOLE[name](file_with_strange())


@pytest.mark.parametrize("name", ALONE)
def test_what_asks_about_a_statement_refuses_it(name: str) -> None:
    with pytest.raises(AssertionError, match="no rule for a node of the kind Strange"):
        ALONE[name](Strange(syntax.Span(0, 0)))


def test_each_kind_is_a_loop_or_a_leaf_or_has_blocks_of_its_own() -> None:
    """A new kind must be in one of them, since `walk` and others use them."""
    kinds = {kind for kind in vars(syntax).values() if isinstance(kind, type) and issubclass(kind, Statement)} - {
        Statement
    }
    others = {Block, syntax.If, syntax.Switch, syntax.Try, syntax.Choose}
    assert kinds == {*syntax.LOOPS, *syntax.LEAVES, *others}
    assert len(kinds) == len(syntax.LOOPS) + len(syntax.LEAVES) + len(others)
