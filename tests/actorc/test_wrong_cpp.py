"""`actorc check`: what it says of C++ that does not compile (A0706)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from checking import HEAD, actorc, actorc_on_flow
from front import unmarked

from actorc.report.explain import page

pytest.importorskip("clang")


WRONG = """\
#include "flow/flow.h"
#include <string>
using namespace flow;
#include "flow/actorcompiler.h" // must be the last include
ACTOR Future<int> lengths(Future<std::string> f, FutureStream<std::string> names) {
    loop choose {
        when(std::string name = wait(f)) { return name.@@lenght(); }
        when(std::string name = waitNext(names)) { if (name.@@sise()) { wait(delay(@@unknown)); } }
    }
}
"""


def test_an_unknown_name_in_a_when_is_reported_at_its_place(tmp_path: Path) -> None:
    whens = "when(int x = wait(@@unknown)) { return x; } when(wait(delay(a.@@gett()))) { return 2; }"
    body = f"ACTOR Future<int> f(Future<int> a) {{ choose {{ {whens} }} }}\n"
    text, marks = unmarked(HEAD + '#include "flow/actorcompiler.h" // must be the last include\n' + body)
    (tmp_path / "unknown.actor.cpp").write_text(text, encoding="utf-8")
    done = actorc_on_flow("--json", "unknown.actor.cpp", folder=tmp_path)
    found = [(each["code"], each["range"]["start"]["offset"]) for each in json.loads(done.stdout)["diagnostics"]]
    assert found == [("A0706", mark) for mark in marks]


def test_wrong_types_in_actors_are_reported_at_the_place_that_was_written(tmp_path: Path) -> None:
    text, marks = unmarked(WRONG)
    (tmp_path / "wrong.actor.cpp").write_text(text, encoding="utf-8")
    done = actorc("--json", "wrong.actor.cpp", "--", "-DNO_INTELLISENSE", folder=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    found = [(each["code"], each["range"]["start"]["offset"]) for each in json.loads(done.stdout)["diagnostics"]]
    assert found == [("A0706", mark) for mark in marks]


HEADERS = """\
void a(std::string s) {
    @@FLOW_ASSERT_EQ(s, 5);
}
Future<Void> b(std::vector<std::unique_ptr<int>> v) {
    co_await rest();
    auto copied = @@std::vector<std::unique_ptr<int>>(v);
    int own = @@unknown;
}
Future<void> @@c() {
    co_return;
}
struct Order {};
void compare(std::vector<Order> orders) {
    @@FLOW_ASSERT_EQ(orders, orders);
}
Future<std::unique_ptr<int>> d(Future<std::unique_ptr<int>> from) {
    co_return std::unique_ptr<int>(co_await from);
}
"""


def test_an_error_in_a_header_is_reported_at_the_place_that_leads_there(tmp_path: Path) -> None:
    text, marks = unmarked(HEAD + HEADERS)
    (tmp_path / "x.cpp").write_text(text, encoding="utf-8")
    done = actorc_on_flow("x.cpp", folder=tmp_path)
    assert done.returncode == 2
    places = [f"x.cpp:{text.count(chr(10), 0, mark) + 1}:{mark - text.rfind(chr(10), 0, mark)}" for mark in marks]
    errors = [line for line in done.stderr.splitlines() if "error: " in line]
    assert [line.partition(": error: ")[0] for line in errors] == places, done.stderr
    assert "invalid operands" in errors[0]
    assert "(in " not in errors[0]  # it is where the macro stands
    assert errors[0].endswith("[A0706]")
    assert "stl_construct.h:" in errors[1]
    assert "(in /" in errors[1]
    assert "write Future<Void>" in errors[3]
    assert "'const Order'" in errors[4]
    assert "stl_algobase.h:" in errors[4]
    assert "note: in file included" not in done.stderr


def test_an_error_in_a_header_hides_none_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "x.h").write_text("int wrong = no_such;\n", encoding="utf-8")
    (tmp_path / "x.cpp").write_text(HEAD + '#include "x.h"\nint a = g_simulator;\n', encoding="utf-8")
    done = actorc_on_flow("x.cpp", folder=tmp_path)
    assert done.returncode == 2
    own, other = done.stderr.index("'g_simulator' [A0706]"), done.stderr.index("'no_such'")
    assert "hint: Millrace does not have it; instead: World (flow/sim/world.h)" in done.stderr[own:other]
    assert done.stderr[other:].splitlines()[2].strip() == "^", "the line of the header, and a caret"


RETURNS = """\
Future<Void> a(Future<Void> f) { co_await f; @@co_return Void(); }
Future<Void> b(Future<Void> f) { co_await f; @@return Void(); }
Future<Void> c(Future<Void> f) { @@co_return f; }
Future<int> d(Future<int> f) { int x = co_await f; @@return x + 1; }
Future<int> e(Future<Void> f) { co_await f; @@co_return; }
"""


def test_returns_of_coroutines_have_hints(tmp_path: Path) -> None:
    text, marks = unmarked(HEAD + RETURNS)
    (tmp_path / "returns.cpp").write_text(text, encoding="utf-8")
    done = actorc_on_flow("--json", "returns.cpp", folder=tmp_path)
    assert done.returncode == 2
    found = json.loads(done.stdout)["diagnostics"]
    assert [each["range"]["start"]["offset"] for each in found] == marks
    assert [each["hint"] for each in found] == [
        "write `co_return;`, or leave it out at the end",
        "write `co_return;`, or leave it out at the end",
        "if `f` is a future, write `co_return co_await f;`",
        "write `co_return`",
        "write `co_return VALUE;`",
    ]
    assert [fix["message"] for each in found for fix in each["fixes"]] == [
        "write `co_return;`",
        "write `co_return;`",
        "write `co_return x + 1;`",
    ]


def test_a_wait_for_a_stream_has_a_hint(tmp_path: Path) -> None:
    head = HEAD + '#include "flow/actorcompiler.h" // must be the last include\n'
    body = "ACTOR flow::Future<int> next(flow::FutureStream<int> s) {\n    int x = wait(s);\n    return x;\n}\n"
    (tmp_path / "stream.actor.cpp").write_text(head + body, encoding="utf-8")
    assert "hint: `wait` takes a future; the next value" in actorc_on_flow("stream.actor.cpp", folder=tmp_path).stderr


def test_a_misspelt_test_case_has_a_fix(tmp_path: Path) -> None:
    head = HEAD + '#include "flow/actorcompiler.h" // must be the last include\n'
    body = 'TESTCASE("/a") {\n    wait(flow::delay(1));\n    return flow::Void();\n}\n'
    (tmp_path / "test.actor.cpp").write_text(head + body, encoding="utf-8")
    said = actorc_on_flow("test.actor.cpp", folder=tmp_path).stderr
    assert "unknown word `TESTCASE`; did you mean `TEST_CASE`? [A0706]" in said
    assert "fix: write `TEST_CASE`" in said
    body = 'TEST_CASE("/a") {\n    ASSERT_EQ(1, 1);\n    return flow::Void();\n}\nvoid f() { CODE_PROBE(true, "f"); }\n'
    (tmp_path / "test.actor.cpp").write_text(head + body, encoding="utf-8")
    assert actorc_on_flow("test.actor.cpp", folder=tmp_path).stderr.count('hint: `#include "flow/test.h"`') >= 2


def test_the_examples_of_the_page_about_cpp(tmp_path: Path) -> None:
    head = HEAD + '#include "flow/actorcompiler.h" // must be the last include\n'
    for code in ("A0706", "A0707"):
        for name, examples in (("wrong", page(code).wrong), ("right", page(code).right)):
            (tmp_path / f"{name}.actor.cpp").write_text(head + "".join(examples), encoding="utf-8")
        assert f"[{code}]" in actorc_on_flow("wrong.actor.cpp", folder=tmp_path).stderr
        assert actorc_on_flow("right.actor.cpp", folder=tmp_path).returncode == 0


LISTS = """\
struct Pair { int a; int b; };
ACTOR Future<std::pair<int, int>> pair(Future<int> from) { int n = wait(from); return {n, n + 1}; }
ACTOR Future<std::vector<int>> vector(Future<int> from) { int n = wait(from); if (n) return {n}; return {n, n, n}; }
ACTOR Future<Pair> aggregate(Future<int> from) { int n = wait(from); if (n) return {}; return {n, @@unknown}; }
ACTOR Future<Pair> designated(Future<int> from) { int n = wait(from); return {.a = n, .b = 2}; }
Future<Void> plain(Future<int> from, std::string const& text) {
    @@delay(1);
    co_await delay(@@unknown);
    use(text);
}
"""


def test_a_list_that_an_actor_returns_is_no_error(tmp_path: Path) -> None:
    text, marks = unmarked(HEAD + '#include "flow/actorcompiler.h" // must be the last include\n' + LISTS)
    (tmp_path / "lists.actor.cpp").write_text(text, encoding="utf-8")
    done = actorc_on_flow("--json", "lists.actor.cpp", folder=tmp_path)
    found = [(each["code"], each["range"]["start"]["offset"]) for each in json.loads(done.stdout)["diagnostics"]]
    assert found == [("A0706", marks[0]), ("A0706", marks[2])], done.stdout


CALLS = """\
#include "flow/actorcompiler.h" // must be the last include
ACTOR Future<Void> a(Future<int> from, Holder* holder) {
    state Loop* own = &loop();
    loop().timer();
    holder->loop().timer(); own->timer();
    use([a = &loop(), holder] { return "x"; }());
    loop { int n = wait(from); if (n < loop ( ).timer()) { wait(delay(@@unknown)); } }
}
"""


def test_a_call_of_the_function_loop_is_no_error(tmp_path: Path) -> None:
    text, marks = unmarked(HEAD + "struct Holder { Loop& loop(); };\nLoop& loop();\n" + CALLS)
    (tmp_path / "calls.actor.cpp").write_text(text, encoding="utf-8")
    done = actorc_on_flow("--json", "calls.actor.cpp", folder=tmp_path)
    found = [(each["code"], each["range"]["start"]["offset"]) for each in json.loads(done.stdout)["diagnostics"]]
    assert found == [("A0706", marks[0])], done.stdout


BESIDE = """\
Future<Void> right(Future<int> from) {
    fetch(from);
    co_await delay(1);
}
Future<Void> wrong(Future<int> from) {
    fetch(from); // not read: clang may have understood this function wrongly
    co_await delay(unknown);{allow}
}
"""


@pytest.mark.parametrize(
    ("allow", "outside", "lines"),
    [("", "", [2, 7]), (" // actorc: allow A0706", "", [2, 6]), ("", "int outside = unknown;\n", [7, 9])],
)
def test_traps_are_looked_for_beside_what_does_not_compile(
    allow: str, outside: str, lines: list[int], tmp_path: Path
) -> None:
    text = HEAD + BESIDE.replace("{allow}", allow) + outside
    (tmp_path / "beside.cpp").write_text(text, encoding="utf-8")
    done = actorc_on_flow("--json", "beside.cpp", folder=tmp_path)
    found = [each["range"]["start"]["line"] - HEAD.count("\n") for each in json.loads(done.stdout)["diagnostics"]]
    assert found == lines, done.stdout
