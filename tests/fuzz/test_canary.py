"""Planted faults: the fuzzer must find each and make its program small, or finding nothing would say nothing."""

from __future__ import annotations

import importlib
import re
from typing import Any

import pytest

from actorc.driver import BACKENDS
from actorc.source import Source
from actorc_migrate.body import Body
from actorc_migrate.common import UnconvertibleError
from fuzzlib.batch import Difference, Mutation, Program, check
from fuzzlib.campaign import Found, generated
from fuzzlib.report import reproducer
from fuzzlib.shrink import shrunk
from fuzzlib.toolchain import TOOLCHAINS
from model.actor import Activation

SEED = 7
CLANG = TOOLCHAINS["clang"]
MIGRATED = ("migrated-flow",)


def smallest(mutation: Mutation | None, forms: tuple[str, ...] = BACKENDS) -> Difference:
    found = check([generated(SEED, index, forms) for index in range(20)], CLANG, mutation, forms=forms)
    assert found
    return shrunk(min(found, key=lambda each: len(each.program.text)), CLANG, mutation, forms=forms)


@pytest.mark.long
def test_wrong_rule_of_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain locals live to the end of their blocks, as in C++."""
    monkeypatch.setattr(Activation, "_lose_locals", lambda self: None)
    found = smallest(None)
    assert found.kind == "state-machine and coroutine against the model"
    assert "wait" in found.program.text
    assert len(found.program.text.splitlines()) <= 12
    assert found.traces["state-machine"] == found.traces["coroutine"] != found.traces["model"]


@pytest.mark.long
def test_wrong_emitted_text() -> None:
    """The state machine forgets the error that a wait raises."""

    def forget(text: str, form: str) -> str:
        return text.replace("error__ = wait__.takeError();", "wait__.drop();") if form == "state-machine" else text

    found = smallest(forget)
    assert found.kind == "state-machine against the model"
    assert "catch" in found.program.text
    assert len(found.program.text.splitlines()) <= 12
    assert found.traces["coroutine"] == found.traces["model"]


@pytest.mark.long
def test_wrong_migration() -> None:
    """A plain local lives on across a wait."""

    def keep(text: str, form: str) -> str:
        return text.replace("Local.reset();", "Local;")

    found = smallest(keep, MIGRATED)
    assert found.kind == "migrated-flow against the model"
    assert len(found.program.text.splitlines()) <= 12
    shown = reproducer(Found(SEED, 0, "clang", MIGRATED, found), found)
    assert "Local.reset();" in shown.partition("migrated for flow:")[2]
    assert shown.endswith("again: tools/fuzz --program 0 --seed 7 --compiler clang --migrate flow")


def test_migration_that_does_not_compile() -> None:
    spoilt = Program("ACTOR Future<int> root(Token token, int n) {\n    wait(signal(4711));\n    return 1;\n}\n", 0)
    programs = [generated(SEED, 0), spoilt, generated(SEED, 1)]
    found = check(programs, CLANG, lambda text, form: text.replace("signal(4711)", "undeclared()"), forms=MIGRATED)
    assert [(each.kind, each.program) for each in found] == [("does not compile", spoilt)]
    assert "undeclared" in found[0].message


def test_actor_that_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are run all the same."""
    whole = Body.convert

    def refuse(self: Body) -> None:
        if self._actor.name == "child1":
            raise UnconvertibleError("a reason")
        whole(self)

    monkeypatch.setattr(Body, "convert", refuse)
    root = "ACTOR Future<int> root(Token token, int n) {\n    at(4711);\n    wait(slot(1));\n    return 1;\n}\n"
    staying = Program("ACTOR Future<Void> child1() {\n    wait(slot(1));\n    return Void();\n}\n" + root, 0)
    wrong = Program(root, 0)
    found = check([staying, wrong], CLANG, lambda text, form: text.replace("4711", "4712"), forms=MIGRATED)
    assert [each.kind for each in found] == ["not migrated", "migrated-flow against the model"]
    assert found[0].message == "child1: a reason"


def test_program_that_crashes() -> None:
    """What a crash leaves is attributed to its program, and the programs after it are still run."""

    def crash(text: str, form: str) -> str:
        returned = r"return actor__\.\s*(#line.*\s*)?finish\(\s*(//.*\s*)?(#line.*\s*)?4711\);"
        return re.sub(returned, "__builtin_trap();", text)

    crashing = Program("ACTOR Future<int> root(Token token, int n) {\n    return 4711;\n}\n", 0)
    found = check([generated(SEED, 0), crashing, generated(SEED, 1)], CLANG, crash)
    assert [each.program for each in found] == [crashing]
    assert [each.kind for each in found] == ["crash"]


def test_program_that_does_not_compile() -> None:
    body = "undeclared();\n    wait(signal(1));\n    return 1;"
    spoilt = Program(f"ACTOR Future<int> root(Token token, int n) {{\n    {body}\n}}\n", 0)
    found = check([generated(SEED, 0), spoilt, generated(SEED, 1)], CLANG)
    assert [(each.kind, each.program) for each in found] == [("does not compile", spoilt)]
    assert "undeclared" in found[0].message


def test_program_that_is_rejected() -> None:
    spoilt = Program("ACTOR Future<int> root(Token token, int n) {\n    wait(signal(1));\n}\n", 0)
    found = check([generated(SEED, 0), spoilt], CLANG)
    assert [(each.kind, each.program) for each in found] == [("rejected", spoilt)]


@pytest.mark.parametrize("stage", ["driver:advise", "emit.emit:_emitted"])
def test_an_exception_in_actorc_is_attributed_and_made_small(monkeypatch: pytest.MonkeyPatch, stage: str) -> None:
    """Others of the batch, with faults of their own or without, are not concerned."""
    name, _, function = stage.partition(":")
    module = importlib.import_module(f"actorc.{name}")
    whole = getattr(module, function)

    def faulty(*arguments: Any, **options: Any) -> object:
        if any(isinstance(each, Source) and "4711" in each.text for each in arguments):
            raise KeyError("a bug")
        return whole(*arguments, **options)

    monkeypatch.setattr(module, function, faulty)
    failing = Program("ACTOR Future<int> root(Token token, int n) {\n    wait(signal(1));\n    return 4711;\n}\n", 0)
    found = check([generated(SEED, 0), failing, generated(SEED, 1)], CLANG)
    assert [each.program for each in found] == [failing]
    assert found[0].kind.startswith("actorc failed: KeyError in ")
    assert "a bug" in found[0].message
    small = shrunk(found[0], CLANG)
    assert len(small.program.text) < len(failing.text)
    assert "4711" in small.program.text


def test_an_exception_in_the_model_is_attributed(monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(self: Activation) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr(Activation, "_lose_locals", faulty)
    waiting = Program("ACTOR Future<int> root(Token token, int n) {\n    wait(signal(1));\n    return 1;\n}\n", 0)
    idle = Program("ACTOR Future<int> root(Token token, int n) {\n    return 1;\n}\n", 0)
    [found] = check([idle, waiting], CLANG)
    assert found.program == waiting
    assert found.kind.startswith("model failed: KeyError in ")
