"""Long files and deep nesting: time grows with the length, and output with at most the square of the depth."""

from __future__ import annotations

import itertools
import re
import time

import pytest

from actorc.diagnostics import Diagnostics
from actorc.driver import BACKENDS, Rejected, compile_text
from actorc.parse.lexer import lex
from actorc.source import Source
from benchlib.compiler.actor_files import actor_file

LIMIT = 10.0  # seconds of CPU time for what takes less than one: only a cost that grows too fast exceeds it

# Each is given the next level for {}; T needs destruction, so that what leads to a wait is printed twice.
_NESTED = {
    "if": "T a(k); if (g(a)) {{ {} }} use(k);",
    "else": "T a(k); if (g(a)) {{ wait(f); }} else {{ {} }}",
    "if twice": "T a(k); if (g(a)) {{ {} }} if (h(k)) {{ wait(f); }}",
    "while": "T a(k); while (g(k)) {{ T b(k); {} }}",
    "for": "T a(k); for (state int i{depth} = 0; i{depth} < k; i{depth}++) {{ T b(k); {} }}",
    "loop": "T a(k); loop {{ T b(k); if (g(b)) break; {} }}",
    "do": "T a(k); do {{ T b(k); {} }} while (g(k));",
    "try": "T a(k); try {{ T b(k); {} }} catch (Error& e) {{ wait(f); }}",
    "catch": "T a(k); try {{ T b(k); wait(f); }} catch (Error& e) {{ T c(k); {} }}",
    "choose": "T a(k); choose {{ when(int n = wait(i)) {{ T b(n); {} }} when(wait(f)) {{ }} }}",
    "switch": "T a(k); switch (k) {{ case 1: {} break; default: wait(f); }}",
    "block": "{{ T a(k); {} }}",
}


def nested(kinds: tuple[str, ...], depth: int) -> str:
    body = "wait(f);"
    for level, kind in zip(range(depth), itertools.cycle(kinds), strict=False):
        body = _NESTED[kind].format(body, depth=level)
    return f"ACTOR Future<Void> a(Future<Void> f, Future<int> i, int k) {{\n{body}\nreturn Void();\n}}\n"


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kinds", list(itertools.combinations_with_replacement(_NESTED, 2)), ids="-".join)
def test_output_does_not_explode_with_the_depth(backend: str, kinds: tuple[str, str]) -> None:
    shallow, deep = (len(compile_text(Source("x", nested(kinds, depth)), backend, "x.cpp")) for depth in (6, 12))
    assert deep < 4 * shallow  # twice the depth: at most the square


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_long_file_with_an_actor_of_150_waits_and_a_choose_of_28(backend: str) -> None:
    waits = "".join(f"    std::string v{i} = wait(f({i}));\n    use(v{i});\n" for i in range(150))
    whens = "".join(f"        when(int n = wait(g({i}))) {{ use(n); }}\n" for i in range(28))
    big = f"ACTOR Future<Void> big() {{\n{waits}    loop choose {{\n{whens}    }}\n}}\n"
    started = time.process_time()
    output = compile_text(Source("x", actor_file(12_000) + big), backend, "x.cpp")
    assert time.process_time() - started < LIMIT
    assert "flow::Choose<28> choose__;" in output
    assert len(re.findall(r"operand<\d+, std::string>", output)) == 150  # each operand once


@pytest.mark.parametrize("backend", BACKENDS)
def test_one_actor_of_12000_lines(backend: str) -> None:
    part = "    std::string v{0} = wait(f({0}));\n" + "    use(k); // plain code\n" * 79
    body = "".join(part.format(number) for number in range(150))
    text = f"ACTOR Future<Void> a(int k) {{\n{body}    return Void();\n}}\n"
    started = time.process_time()
    compile_text(Source("x", text), backend, "x.cpp")
    assert time.process_time() - started < LIMIT


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("part", ["int n{0} = wait(f); use(n{0});\n", "{{ int n = wait(f); use(std::move(n)); }}\n"])
def test_one_actor_of_6000_waits(backend: str, part: str) -> None:
    body = "".join(part.format(number) for number in range(6000))
    started = time.process_time()
    compile_text(Source("x", f"ACTOR Future<Void> a(Future<int> f) {{\n{body}return Void();\n}}\n"), backend, "x.cpp")
    assert time.process_time() - started < LIMIT


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("branch", ["{ g(); }", "{ T a(k); wait(f); }"])
def test_a_chain_of_else_is_no_nesting(backend: str, branch: str) -> None:
    chain = " else ".join(f"if (k == {number}) {branch}" for number in range(1000))
    text = f"ACTOR Future<Void> a(Future<Void> f, int k) {{\nwait(f);\n{chain}\nreturn Void();\n}}\n"
    assert "k == 999" in compile_text(Source("x", text), backend, "x.cpp")
    with pytest.raises(Rejected) as caught:
        compile_text(
            Source("x", text.replace("return Void();", f"{chain} else if (k) g(); else if (h) g(); return Void();")),
            backend,
            "x.cpp",
        )
    assert [found.code for found in caught.value.diagnostics] == ["A0219"]


@pytest.mark.parametrize("part", ["/**/", "# ", "/**/ #x\n", "a'", '"', "\\\n", "\n\n\n ", "1'0", "R", 'R"(', "/* "])
def test_the_lexer_takes_time_by_the_length(part: str) -> None:
    started = time.process_time()
    lex(Source("x", part * 100_000), Diagnostics())
    assert time.process_time() - started < LIMIT
