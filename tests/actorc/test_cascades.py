"""One mistake gives one message."""

from __future__ import annotations

from pathlib import Path

import pytest
from front import analysed, in_actor, reported

from actorc.diagnostics import Diagnostics
from actorc.parse.lexer import lex
from actorc.source import Source

CLEAN = (Path(__file__).parent / "clean.actor.cpp").read_text(encoding="utf-8")
TOKENS = lex(Source("clean.actor.cpp", CLEAN), Diagnostics())
REMOVED = {"(", ")", "{", "}", ";", "=", "try", "wait", "waitNext", "state", "choose", "when", "loop", "return"}


def test_the_clean_file_is_clean() -> None:
    assert reported(CLEAN) == []


@pytest.mark.parametrize("word", sorted(REMOVED))
def test_a_word_that_is_missing(word: str) -> None:
    places = [index for index, text in enumerate(TOKENS.texts) if text == word]
    assert places
    for index in places:
        text = CLEAN[: TOKENS.starts[index]] + CLEAN[TOKENS.ends[index] :]
        found = reported(text)
        line = text.count("\n", 0, TOKENS.starts[index]) + 1
        assert len(found) <= 1, f"without the `{word}` of line {line}: {found}"


@pytest.mark.parametrize(
    "body",
    [
        "int x = 1; wait(f); g(x); h(x); if (x) g();",
        "try { wait(f); } catch (Error& e) { wait(f); g(e); throw e; }",
        "loop { try { wait(f); } catch (...) { } if (x) break; }",
        "state int wait__ = 1; wait__ = 2; g(wait__);",
        "state int a = 1; state int a = 2; g(a);",
        "choose { g(); h(); when(wait(f)) { } }",
        "when(wait(f)) { } when(wait(g)) { }",
        "if (wait(f) > 1) { }",
        "Void x = wait(f);",
        "wait(f) + 1;",
        "for (int i = 0; i < 3; i++) { wait(f); g(i); }",
        "while (wait(f)) { break; }",
        'if (x) throw std::runtime_error("x");',
        "auto l = [] { wait(f); return 1; };",
    ],
)
def test_a_mistake_with_consequences(body: str) -> None:
    assert len(reported(in_actor(body))) == 1


def test_two_mistakes_give_two_messages() -> None:
    text = in_actor("g(1)); wait();").replace("test(", "first(") + in_actor("h(2)); break;")
    assert [found.code for found in analysed(text)[2]] == ["A0005", "A0403", "A0005", "A0501"]


@pytest.mark.parametrize("head", ["[n](int k) mutable", "[=](int k)", "[this]"])
def test_a_lambda_with_a_wrong_head_is_no_wait_of_the_function_around_it(head: str) -> None:
    text = (
        '#include "flow/actorcompiler.h"\n'
        f"Future<Void> a(int n) {{ auto g = ACTOR {head} -> flow::Future<std::vector<int>> {{ wait(delay(1)); }}; }}\n"
    )
    assert [code for code, _ in reported(text)] == ["A0125"]
