"""The model of the language, with programs that are small enough to check their traces by hand."""

from __future__ import annotations

import pytest

from actorc.diagnostics import Diagnostics
from actorc.driver import analyse
from actorc.source import Source
from fuzzlib.world import DriverScope, Token, World
from model import Interpreter
from model.facts import Facts
from model.values import Cell, Error, Future, ModelFault, Promise


class Play:
    """A running actor `root(Token token, Future<int> f)` and what it printed."""

    def __init__(self, body: str) -> None:
        text = f"ACTOR Future<int> root(Token token, Future<int> f) {{\n{body}\n}}\n"
        source = Source("play.actor.cpp", text)
        self.world = World(1)
        self.promise = Promise(Cell(0, 1))
        interpreter = Interpreter(analyse(source, Diagnostics()), Facts(source), self.world.library)
        token, awaited = Token(self.world, "p"), self.promise.future()
        future = interpreter.call("root", [token, awaited], DriverScope(self.world))
        assert future is not None
        self.future: Future = future
        token.destroy()
        awaited.destroy()

    @property
    def trace(self) -> list[str]:
        return self.world.trace


def test_locals_die_at_a_wait_and_states_at_the_end() -> None:
    play = Play('state Token s("s");\nToken t("t");\nint x = wait(f);\nsee(1, x);\nToken u("u");\nreturn x;')
    assert play.trace == ["~t"]
    play.promise.send(7)
    assert play.trace == ["~t", "see 1: 7", "~u", "~s", "~p"]
    assert play.future.cell is not None
    assert play.future.cell.value == 7


def test_ready_wait_does_not_suspend_but_ends_locals() -> None:
    play = Play('Token t("t");\nint x = wait(Future<int>(3));\nsee(1, x);\nreturn x;')
    assert play.trace == ["~t", "see 1: 3", "~p"]


def test_choose_is_lazy() -> None:
    body = "choose {\nwhen(int x = wait(f)) { return x; }\nwhen(int x = wait(Future<int>(2))) { return x; }\n"
    play = Play(f"{body}when(int x = wait(number(1))) {{ return x; }}\n}}")
    assert play.trace == ["~p"]  # number(1) would have said what it is


def test_cancel_reaches_handlers_and_later_waits_raise() -> None:
    body = "try { wait(f); } catch (Error& e) { caught(1, e); }\ntry { wait(Future<int>(3)); at(2); }"
    play = Play(body.replace("wait(", "int x = wait(") + "\ncatch (Error& e) { caught(3, e); }\nreturn 4;")
    play.future.cancel()
    assert play.trace == ["caught at 1: 1101", "caught at 3: 1101", "~p"]
    assert play.future.cell is not None
    assert play.future.cell.value == 4


def test_error_of_the_awaited_future_ends_the_actor() -> None:
    play = Play('Token t("t");\nreturn wait(f);')
    play.promise.fail(Error(1004))
    assert play.trace == ["~t", "~p"]
    assert play.future.cell is not None
    assert play.future.cell.error == Error(1004)


def test_what_the_model_does_not_know_is_a_fault() -> None:
    with pytest.raises(ModelFault, match="nothing is called `unheardOf` here"):
        Play("unheardOf(1);\nint x = wait(f);\nreturn x;")
