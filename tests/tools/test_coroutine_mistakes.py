"""What a coroutine cannot do does not compile, and both compilers say why in one error of about a dozen lines."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST_LINES = 12  # of each mistake
RACE = "auto first = co_await race(a, delay(1.0));"
START = f"""
#include "flow/combine/race.h"
#include "flow/tasks/task.h"
using namespace flow;
Future<int> correct(Future<int> a) {{ {RACE} co_return first.index() == 0 ? std::get<0>(first) : 0; }}
StrictFuture<int> strict();
Task<int> task(Context) {{ co_return 1; }}
"""
AWAITABLE = "co_await takes a Future, a FutureStream, a delay, an operation, a race, a task or a fork"
TASK = "a coroutine starts a task: write co_await std::move(task), or start(std::move(task))"
CALL = "co_await takes the result of a function: write co_await f()"
GET_FUTURE = "co_await takes a Future: write co_await p.getFuture()"
VALUE = "a Future holds a value of its own: write Future<Void>"
NO_TYPE = "no operand has values of type T, or several have"
OPERAND = "an operand of a race is a Future"
MISTAKES = [
    ("Future<int> f1() { int x = co_await 5; co_return x; }", AWAITABLE),
    ("Future<int> g1(Task<int>* t) { int x = co_await *t; co_return x; }", TASK),
    ("Future<int> h1() { int x = co_await [] { return correct(1); }; co_return x; }", CALL),
    ("Future<Void> f2(Future<Void>* a) { co_await a; }", AWAITABLE),
    ("Future<int> f3(Promise<int> p) { co_return co_await p; }", GET_FUTURE),
    ("Future<int> f4(PromiseStream<int> p) { co_return co_await p; }", GET_FUTURE),
    ("Future<void> f5() { co_await delay(1.0); }", VALUE),
    (f"Future<int> f6(Future<int> a) {{ {RACE} co_return std::get<2>(first); }}", "the race has no operand I"),
    (f"Future<int> g6(Future<int> a) {{ {RACE} co_return std::get<char>(first); }}", NO_TYPE),
    ("Future<int> f7(Future<int> a) { co_return std::get<0>(co_await race(a, 5)); }", OPERAND),
    ("Future<Void> g7() { co_await race(); co_return; }", "no matching function for call to"),
    ("void f8(Future<int> a) { correct(a); }", "nodiscard"),
    ("void f9() { strict(); }", "nodiscard"),
]


@pytest.mark.parametrize("compiler", ["clang++-19", "g++"])
def test_mistakes(compiler: str) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"there is no {compiler}")
    text = START + "\n".join(mistake for mistake, _ in MISTAKES) + "\n"
    command = [compiler, "-std=c++20", f"-I{ROOT}", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-xc++", "-"]
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    errors = [line for line in run.stderr.splitlines() if "error:" in line]
    assert len(errors) == len(MISTAKES), run.stderr
    for message in {message for _, message in MISTAKES}:
        assert sum(message in error for error in errors) == sum(message == each for _, each in MISTAKES), run.stderr
    includes = ("In file included from", " " * 17 + "from ")
    said = [line for line in run.stderr.splitlines() if not line.startswith(includes)]
    assert len(said) <= MOST_LINES * len(MISTAKES), run.stderr
