"""`actorc check --gcc`: what gcc translates wrongly (A0710), and what looks like it and is right.

Places that must be reported have a mark before them. What is here is known from programs that gcc 12
and 14 have compiled.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from checking import HEAD, actorc, flags_with
from front import unmarked

from actorc.diagnostics import Diagnostics
from actorc.report.explain import page
from actorc.source import Source
from actorc_check.command import check

pytest.importorskip("clang")

# A coroutine of no library.
STARTED = """
struct Started {
    struct promise_type {
        Started get_return_object() { return {}; }
        std::suspend_never initial_suspend() { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
};
"""
MADE = """
#include <array>
#include <functional>
#include <tuple>
#include <variant>
struct Traced { int x; Traced(int x, int y = 0) : x(x + y) {} Traced(Traced const&) = default; ~Traced() { x = 0; } };
struct Row { int number; std::string text; };
struct Plain { int number; const char* text; };
struct Defaulted { int x = 0; Defaulted(int); ~Defaulted() = default; };
template <class T> struct Boxed { T value; };
template <class T> struct Derived : std::vector<T> {};
struct Rows { Row rows[2]; };
union Either { int a; float b; };
template <class C> Future<int> call(C c) { return c(); }
template <class C> Future<int> callRef(C const& c) { return c(); }
Future<int> give(int);
Future<std::string> text(int);
Future<int> put(Row); Future<int> putPlain(Plain); Future<int> putBoxed(Boxed<Row>); Future<int> putTraced(Traced);
Future<int> putText(std::string); Future<int> putArray(std::array<std::string, 2>);
Future<int> putNumbers(std::array<int, 2>);
Future<int> putMany(std::vector<std::string>);
int least(int const&, int const&);
"""
CASES = {
    "captures": """
Future<int> a(std::string t, int n, Traced d, std::shared_ptr<int> p, Future<int> f, std::optional<std::string> o,
              std::function<int()> fn, Rows rows, Derived<int> list, Boxed<Row> boxed,
              std::variant<int, std::string> v) {
    co_await call(@@[t] { return int(t.size()); });
    co_await callRef(@@[t] { return int(t.size()); });
    co_await call(@@[=] { return int(t.size()) + n; });
    co_await call(@@[k = n + d.x, d] { return k + d.x; });
    co_await call(@@[p] { return *p; });
    co_await call(@@[f] { return f; });
    co_await call(@@[o] { return 1; });
    co_await call(@@[fn] { return fn(); });
    co_await call(@@[rows, n] { return n; });
    co_await call(@@[list] { return 1; });
    co_await call(@@[boxed] { return 1; });
    co_await call(@@[v] { return 1; });
    co_await call(@@[u = std::make_unique<int>(1)] { return *u; });
    co_await call(std::function<int()>(@@[t] { return int(t.size()); }));
    co_await @@[t] { return give(int(t.size())); }();
    int x = @@[t] { return int(t.size()); }() + co_await f;
    for (int i = 0; i < n; ++i) x += co_await call(@@[t] { return int(t.size()); });
    (void)co_await call(@@[t] { return int(t.size()); });
    co_await give(@@[t] { return int(t.size()); }()), x = 2;
    co_return co_await call(@@[t] { return int(t.size()); });
}
auto b = [](std::string t) -> Future<int> { co_return co_await call(@@[t] { return int(t.size()); }); };
template <class T> Future<int> c(T t, std::string s) { co_return co_await call(@@[s, t] { return int(s.size()); }); }
""",
    "captures without a destructor, or outside": """
Future<int> a(std::string t, int n, Defaulted d, int* p, std::optional<int> o, std::string_view v, Either e,
              std::pair<int, float> pair, std::array<int, 2> array, Boxed<int> boxed,
              std::tuple<int, Defaulted> tuple) {
    co_await call([n, d, p, o, v] { return n; });
    co_await call([e, pair, array, boxed, tuple] { return 1; });
    co_await call([&] { return int(t.size()); });
    co_await call([&t] { return int(t.size()); });
    co_await call([] { std::string own; auto inside = [own] { return own.size(); }; return int(inside()); });
    auto work = [t] { return int(t.size()); };
    co_await call(work);
    co_await call(std::move(work));
    Future<int> running = call([t] { return int(t.size()); });
    int x = [t] { return int(t.size()); }();
    if ([t] { return t.empty(); }()) co_return x;
    co_await running;
    co_await call([t] { return int(t.size()); }); // actorc: allow A0710
    // actorc: allow A0710
    co_await call([t] { return int(t.size()); });
    co_return [t] { return int(t.size()); }();
}
Future<int> plain(std::string t) { return call([t] { return int(t.size()); }); }
template <class T> Future<int> unknown(T t) { co_return co_await call([t] { return 1; }); }
""",
    "lists": """
Future<int> a(std::string t, Traced d, Row old) {
    co_await put(@@{1, t});
    co_await put(Row@@{1, t});
    co_await put(@@{.number = 1});
    co_await put(@@{});
    co_await putBoxed(@@{{1, t}});
    co_await putArray(@@{t, t});
    Row row@@{co_await give(1), t};
    Traced both[2] = @@{co_await give(1), Traced(2)};
    auto kept = std::make_unique<Row>(Row@@{co_await give(1), t});
    co_return Row@@{1, t}.number + co_await give(1);
}
""",
    "lists without a destructor, of a constructor, or outside": """
Future<int> a(std::string t, Row old, Plain plain) {
    co_await putPlain({1, "a"});
    co_await putTraced({1, 2});
    co_await putTraced(Traced{1, 2});
    co_await putText({t.begin(), t.end()});
    co_await putText("a");
    co_await putNumbers({1, 2});
    co_await putMany({t, t}); // does not compile with gcc 12
    Row row{1, t};
    co_await put(row);
    Traced made{co_await give(1), 2};
    std::pair<int, std::string> pair{co_await give(1), t};
    int numbers[2] = {co_await give(1), 2};
    co_return Row{1, t}.number + numbers[0] + plain.number;
}
""",
    "choices": """
Future<int> a(bool c, Future<int> f, std::string t) {
    co_await (@@c ? give(1) : give(2));
    co_await (@@c ? f : give(2));
    co_await putText(@@c ? t : "x");
    co_await putText(@@c ? t : std::move(t));
    co_await putTraced(@@c ? Traced(1) : Traced(2));
    std::string one = @@c ? co_await text(1) : t + "x";
    std::string two = @@c ? co_await text(1) : co_await text(2);
    Traced other = @@co_await give(1) ? Traced(1) : Traced(2);
    co_return (@@c ? Traced(1) : Traced(2)).x + co_await give(1);
}
""",
    "choices of what is there": STARTED
    + """
struct Kept {
    bool await_ready() { return true; }
    void await_suspend(std::coroutine_handle<>) {}
    std::string& await_resume();
};
Started references(bool c, Kept k) { std::string s = c ? co_await k : co_await k; }
Future<int> a(bool c, Future<int> f, Future<int> g, std::string t, std::string u, Traced d) {
    co_await (c ? f : g);
    co_await (c ? std::move(f) : std::move(g));
    co_await give(c ? 1 : 2);
    co_await give(c ? Traced(1).x : Traced(2).x);
    co_await putTraced(Traced(c ? 1 : 2));
    co_await putTraced(c ? d : d);
    co_await putText(t.empty() ? "a" : "b");
    std::string copied = co_await give(1) ? t : u;
    int x = c ? co_await give(1) : 3;
    Future<int> chosen = c ? give(1) : give(2);
    co_return x + co_await chosen;
}
""",
    "conditions": """
Future<int> a(Future<int> f) { if (@@co_await f == 1) co_return 1; co_return 2; }
Future<int> b(Future<int> f) { while (@@co_await f == 1) {} co_return 2; }
Future<int> c(Future<int> f) { do { co_await f; } while (@@co_await f == 1); co_return 2; }
Future<int> d(Future<int> f) { for (; @@co_await f == 1;) co_return 1; co_return 2; }
Future<int> i(Future<int> f, int n) { for (n = 2; @@co_await f == 1; ++n) co_return 1; co_return n; }
Future<int> e(Future<int> f) { switch (@@co_await f) { case 1: co_return 1; default: co_return 2; } }
Future<Void> g(Future<int> f, bool c) { if (c) { if (@@co_await f == 1) std::puts("yes"); } }
Future<int> h(Future<int> f) { try { if (!@@co_await f) co_return 1; } catch (...) {} co_return 2; }
""",
    "conditions beside a variable": """
Future<int> a(Future<int> f) { int x = 1; if (co_await f == 1) co_return x; co_return 2; }
Future<int> b(Future<int> f) { if (co_await f == 1) { int x = 1; co_return x; } co_return 2; }
Future<int> c(Future<int> f) { if (int x = co_await f) co_return x; co_return 2; }
Future<int> d(Future<int> f) { for (int i = 0; i < 3; ++i) if (co_await f == i) co_return i; co_return 2; }
Future<int> e(Future<int> f) { try { if (co_await f == 1) co_return 1; } catch (int) {} co_return 2; }
Future<int> g(bool c) { if (c) co_await give(1); else co_await give(2); co_return 1; }
Future<int> h(bool c) { while (c) { co_await give(1); c = false; } co_return 1; }
Future<int> i(bool c) { for (; c; c = co_await give(0)) c = false; co_return 1; }
Future<int> k(bool c) { for (co_await give(1); c; c = false) {} co_return 1; }
Future<int> j(Future<int> f) { using X = int; while (co_await f == 1) co_return X(1); co_return 2; }
""",
    "two": """
Future<int> a(Future<int> f, int x) {
    x = co_await f + @@co_await f;
    x = (co_await f + 1) * @@co_await give(2);
    x += x + co_await f + @@co_await give(2);
    x = 1 + (co_await f << @@co_await f);
    if (co_await f < @@co_await give(1)) { int y = x; co_return y; }
    co_return co_await f - @@co_await give(co_await f);
}
""",
    "two in order": """
Task<int> own(Context);
Task<int> tasks(Context) { auto here = co_await context(); co_return co_await own(here) + co_await own(here); }
Future<int> a(Future<int> f, int x) {
    x = x * co_await f;
    co_await f, co_await f;
    co_await give(co_await f);
    int one = co_await f, other = co_await f;
    bool both = co_await f && co_await f;
    std::string joined = co_await text(1) + co_await text(2);
    x = (co_await text(1)).size() + (co_await text(2)).size();
    x = least(co_await f, co_await f);
    x += co_await f;
    co_return x + one + other + both;
}
""",
}
HEAD_OF_ALL = HEAD.replace('#include "flow/flow.h"\n', '#include "flow/flow.h"\n#include "flow/tasks/task.h"\n')


def pages() -> dict[str, str]:
    known = page("A0710")
    found = {f"page: wrong {n}": text for n, text in enumerate(known.wrong)}
    return found | {f"page: right {n}": text for n, text in enumerate(known.right)}


ALL = CASES | pages()


def found_in(path: Path, version_of_gcc: int | None) -> list[tuple[str, int]]:
    diagnostics = Diagnostics()
    flags = flags_with("flow/flow.h", "flow/tasks/task.h")
    check(Source.read(str(path)), flags, diagnostics, version_of_gcc=version_of_gcc)
    return [(each.code, each.span.start) for each in diagnostics]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, tuple[int, list[int]]]]:
    """All cases as one file, and of each its start and its marks."""
    text, places = HEAD_OF_ALL + MADE, {}
    for number, (name, part) in enumerate(ALL.items()):
        body, marks = unmarked(part)
        text += f"namespace part{number} {{\n"
        places[name] = len(text), marks
        text += body + "}\n"
    path = tmp_path_factory.mktemp("gcc") / "traps.cpp"
    path.write_text(text, encoding="utf-8")
    return path, places


@pytest.fixture(scope="module")
def found(program: tuple[Path, dict[str, tuple[int, list[int]]]]) -> list[tuple[str, int]]:
    return found_in(program[0], 12)


@pytest.mark.parametrize("name", ALL)
def test_what_gcc_translates_wrongly_is_reported_and_nothing_else(
    name: str, program: tuple[Path, dict[str, tuple[int, list[int]]]], found: list[tuple[str, int]]
) -> None:
    places = program[1]
    start, marks = places[name]
    end = min((other for other, _ in places.values() if other > start), default=1 << 30)
    own = [(code, place - start) for code, place in found if start <= place < end]
    if name.startswith("page: wrong"):
        assert [code for code, _ in own] == ["A0710"]
    else:
        assert own == [("A0710", mark) for mark in marks]


def test_code_that_clang_compiles_is_right(program: tuple[Path, dict[str, tuple[int, list[int]]]]) -> None:
    assert found_in(program[0], None) == []


def test_from_gcc_13_on_two_waits_of_an_expression_are_what_is_left(
    program: tuple[Path, dict[str, tuple[int, list[int]]]], found: list[tuple[str, int]]
) -> None:
    path, places = program
    starts = sorted(start for start, _ in places.values())
    names = {start: name for name, (start, _) in places.items()}
    left = found_in(path, 13)
    assert set(left) < set(found)
    cases = {names[max(start for start in starts if start <= place)] for _, place in left}
    assert cases == {"two", f"page: wrong {len(page('A0710').wrong) - 1}"}


PROGRAM = f"""\
#include <coroutine>
struct Number {{
    bool await_ready() {{ return true; }}
    void await_suspend(std::coroutine_handle<>) {{}}
    int await_resume() {{ return 1; }}
}};
{STARTED}
namespace flow {{
template <class T> struct Future : Number {{}};
}}
Started wrong(flow::Future<int> a, flow::Future<int> b) {{ int sum = co_await a + co_await b; (void)sum; }}
"""
OF_GCC_12 = PROGRAM[: PROGRAM.index("namespace")] + "Started wrong(Number n) { if (co_await n == 1) co_return; }\n"


def codes(folder: Path, *arguments: str) -> list[str]:
    done = actorc("--json", *arguments, folder=folder)
    assert done.stderr == "", done.stderr
    return [each["code"] for each in json.loads(done.stdout)["diagnostics"]]


def is_reported(path: Path) -> bool:
    """Without the option."""
    diagnostics = Diagnostics()
    check(Source.read(str(path)), None, diagnostics)
    return [each.code for each in diagnostics] == ["A0710"]


def write_database(folder: Path, *commands: str) -> None:
    entries = [{"directory": str(folder), "file": "a.cpp", "command": f"{each} -c a.cpp"} for each in commands]
    (folder / "compile_commands.json").write_text(json.dumps(entries))


def test_the_option_reports_it_whatever_compiles_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text(PROGRAM)
    assert codes(tmp_path, "a.cpp") == []
    assert codes(tmp_path, "--gcc", "a.cpp", "--", "-std=c++20") == ["A0710"]
    for compiler in ("clang++", "g++"):
        write_database(tmp_path, compiler)
        assert codes(tmp_path, "--gcc", "a.cpp") == ["A0710"], compiler
    assert codes(tmp_path, "a.cpp") == ["A0710"]
    assert codes(tmp_path, "a.cpp", "--", "-std=c++20") == []


@pytest.mark.parametrize(
    ("compilers", "is_gcc"),
    [
        (("clang++",), False),
        (("/usr/bin/clang++-19",), False),
        (("ccache clang++",), False),
        (("g++",), True),
        (("gcc-12",), True),
        (("/usr/bin/x86_64-linux-gnu-g++-12",), True),
        (("ccache /usr/bin/g++",), True),
        (("clang++", "g++"), True),
    ],
)
def test_the_name_of_the_compiler_decides(compilers: tuple[str, ...], is_gcc: bool, tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text(PROGRAM)
    write_database(tmp_path, *compilers)
    assert is_reported(tmp_path / "a.cpp") == is_gcc


@pytest.mark.parametrize(("target", "is_gcc"), [("x86_64-linux-gnu-g++-12", True), ("clang-19", False)])
def test_a_general_name_is_of_the_compiler_that_it_leads_to(
    target: str, is_gcc: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.cpp").write_text(PROGRAM)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / target).write_text("#!/bin/sh\n")
    (tmp_path / "bin" / target).chmod(0o755)
    (tmp_path / "bin" / "c++").symlink_to(target)
    write_database(tmp_path, "bin/c++")
    assert is_reported(tmp_path / "a.cpp") == is_gcc
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    write_database(tmp_path, "c++")
    assert is_reported(tmp_path / "a.cpp") == is_gcc


def test_the_oldest_gcc_that_compiles_a_file_decides(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text(OF_GCC_12)
    for version in (12, 13, 14):
        (tmp_path / f"g++-{version}").write_text(f"#!/bin/sh\necho {version}.2.0\n")
        (tmp_path / f"g++-{version}").chmod(0o755)
    for compilers, is_wrong in ((["12"], True), (["13"], False), (["14"], False), (["14", "12"], True), (["99"], True)):
        write_database(tmp_path, *(f"{tmp_path}/g++-{version}" for version in compilers))
        assert is_reported(tmp_path / "a.cpp") == is_wrong, compilers


def test_a_header_is_compiled_by_what_compiles_the_source_of_its_name(tmp_path: Path) -> None:
    entries = [
        {"directory": str(tmp_path), "file": f"{name}.cpp", "command": f"{compiler} -c {name}.cpp"}
        for name, compiler in (("a", "g++"), ("b", "clang++"))
    ]
    (tmp_path / "compile_commands.json").write_text(json.dumps(entries))
    for name, is_gcc in (("a.h", True), ("b.h", False)):
        (tmp_path / name).write_text(PROGRAM)
        assert is_reported(tmp_path / name) == is_gcc
