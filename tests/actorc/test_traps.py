"""`actorc check`: the traps that it finds, and what looks like one and is none.

Places that must be reported have a mark before them. All sources are read as one file, since most of the time goes into
the headers.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from checking import HEAD, ROOT, actorc, actorc_on_flow, flags_with
from front import unmarked

from actorc.diagnostics import Diagnostics, Fault
from actorc.report.explain import page
from actorc.source import Source
from actorc_check.command import check

pytest.importorskip("clang")

# The others are for actor files.
FAULTS = [fault for fault in Fault if "A0701" <= fault.code <= "A0705" or fault.code == "A0709"]


DISCARDS = [
    """
Future<Void> a(Future<int> f) {
    @@fetch(f);
    if (f.isReady()) @@fetch(f);
    else @@fetch(f);
    for (int i = 0; i < 3; @@fetch(f)) ++i;
    while (true) @@fetch(f);
    f.isReady() ? @@fetch(f) : @@fetch(f);
    @@delay(1);
    @@race(fetch(f), delay(1));
    @@tryGet(fetch(f));
    (@@rest() && rest());
    (@@rest(), @@rest());
    [&] { @@fetch(f); }();
    co_await rest();
}
struct Disk {
    Future<Void> flush();
    void close() { @@flush(); }
    ~Disk() { @@this->flush(); }
};
template <class T> void each(T const& t, Disk& disk) { @@disk.flush(); (void)t; }
""",
    """
Future<int> b(Future<int> f) {
    (void)fetch(f);
    co_await fetch(f);
    Future<int> kept = fetch(f);
    kept = fetch(f);
    std::vector<Future<int>> many;
    many.push_back(fetch(f));
    many.emplace_back(fetch(f));
    std::optional<Future<int>> one;
    one.emplace(fetch(f));
    if (fetch(f).isReady()) co_return 1;
    fetch(f).cancel();
    f.isReady();
    for (Future<int> inner = fetch(f); !inner.isReady();) inner = fetch(f);
    co_return co_await fetch(f);
}
Future<int> c(Future<int> f) { return fetch(f); }
auto d = [](Future<int> f) { return fetch(f); };
""",
]
PARAMETERS = [
    """
Future<Void> a(std::string const& @@s, std::string_view @@v, std::span<int> @@n, std::vector<int>&& @@r, int& @@i) {
    co_await rest();
    use(s); use(v); i = n[0] + r[0];
}
Future<Void> refs(StringRef @@s, VectorRef<int> @@v) { co_await rest(); use(s.toStringView()); (void)v.size(); }
Future<Void> loops(std::string const& @@s) {
    while (true) { use(s); co_await rest(); }
}
Future<Void> range(std::vector<int> const& @@v) {
    for (int i : v) { (void)i; co_await rest(); }
}
Future<Void> handler(std::string const& @@s) {
    try { co_await rest(); co_return; } catch (Error&) { use(s); }
}
Future<Void> branch(bool b, std::string const& @@s) {
    if (b) co_await rest();
    use(s);
}
Future<Void> inLambda(std::string const& @@s) {
    co_await rest();
    auto f = [&] { use(s); };
    f();
}
auto lambda = [](std::string const& @@s) -> Future<Void> { co_await rest(); use(s); };
template <class T> Future<Void> generic(T const& @@t) { co_await rest(); use(t); }
struct Disk { Future<Void> write(std::string_view @@v) { co_await rest(); use(v); } };
Future<Void> list(std::initializer_list<int> @@l) { co_await rest(); (void)l.size(); }
Future<Void> operand(std::string const& @@s) { int a = use(s); (void)a; co_await fetch(a); co_await fetch(use(s)); }
Future<Void> cases(int n, std::string const& @@s) {
    switch (n) { case 1: co_await rest(); case 2: use(s); break; }
}
""",
    """
Future<Void> a(std::string const& s, std::string_view v, std::span<int> n, std::string* p, std::string copy) {
    use(s); use(v); (void)n[0];
    co_await rest();
    use(*p); use(copy);
}
Future<Void> refs(StringRef s, Arena arena, Standalone<StringRef> own) {
    co_await rest();
    use(s.toStringView()); use(own.toStringView());
}
Future<int> last(std::string const& s) { co_return co_await fetch(use(s)); }
Future<Void> none(std::string const& s) { use(s); co_return; }
Future<Void> other(bool b, std::string const& s) {
    if (b) co_await rest();
    else use(s);
}
Future<Void> leaves(bool b, std::string const& s) {
    if (b) { co_await rest(); co_return; }
    use(s);
}
Future<Void> first(std::string const& s) {
    for (int i = use(s); i < 3; ++i) co_await rest();
}
Future<Void> cases(int n, std::string const& s) {
    switch (n) { case 1: co_await rest(); break; case 2: use(s); break; }
}
int plain(std::string const& s) { return use(s); }
Future<Void> allowed(std::string const& s) { // actorc: allow A0702
    co_await rest();
    use(s);
}
Future<Void> shadow(std::string const& s) {
    use(s);
    co_await rest();
    std::string t; { std::string s; use(s); }
}
struct TestLoop : Loop { int count = 0; };
Future<Void> onLoop(TestLoop& test, Loop& loop) {
    co_await rest();
    loop.stop();
    ++test.count;
}
// Lives as long as the program.  actorc: allow A0702
struct Settings { int count = 0; };
Future<Void> reads(Settings const& settings, Process& process) {
    co_await rest();
    use(settings.count ? "a" : "b");
    (void)process;
}
""",
]
LAMBDAS = [
    """
Future<Void> a(int k) {
    return @@[k]() -> Future<Void> { co_await rest(); std::printf("%d", k); }();
}
Future<Void> b(int k) {
    auto f = @@[&]() -> Future<Void> { co_await rest(); std::printf("%d", k); };
    return f();
}
Future<Void> c(int k) {
    auto f = @@[=]() -> Future<Void> { while (true) { std::printf("%d", k); co_await rest(); } };
    Future<Void> running = f();
    co_await running;
}
Future<Void> atOnce(int k) {
    Future<Void> running = @@[k]() -> Future<Void> { co_await rest(); std::printf("%d", k); }();
    co_await running;
}
struct Disk {
    int size = 0;
    Future<Void> d() { return @@[this]() -> Future<Void> { co_await rest(); ++size; }(); }
    Future<Void> e() { return @@[this]() -> Future<Void> { co_await rest(); this->size = 1; }(); }
};
""",
    """
Future<Void> a(int k) {
    co_await [&]() -> Future<Void> { co_await rest(); std::printf("%d", k); }();
    co_await [](int n) -> Future<Void> { co_await rest(); std::printf("%d", n); }(k);
    auto f = [k]() -> Future<Void> { co_await rest(); std::printf("%d", k); };
    co_await f();
    co_await (f() && f());
}
Future<Void> b(int k) {
    return [k]() -> Future<Void> { std::printf("%d", k); co_await rest(); }();
}
int global = 0;
Future<Void> c() {
    return [] () -> Future<Void> { co_await rest(); int own = ++global; std::printf("%d", own); }();
}
auto plain(int k) { return [k] { return k; }; }
""",
]
HANDLERS = [
    """
Future<int> a(Future<int> f, Propagate = {}) {
    @@try { co_return co_await f; } catch (Error&) { co_return 1; }
}
Future<Void> b() {
    while (true) { try { co_await rest(); } @@catch (Error& e) { std::puts(e.what()); } }
}
Future<Void> c() {
    for (;;) { try { co_await rest(); } @@catch (...) {} }
}
Future<Void> d() {
    do { try { co_await rest(); } catch (int) { throw; } @@catch (Error const&) { continue; } } while (true);
}
Future<Void> e() {
    while (true) { try { co_await rest(); } @@catch (Error) {} if (flag()) co_await rest(); }
}
""",
    """
Future<int> a(Future<int> f, Propagate = {}) {
    try { ErrorOr<int> r = co_await tryGet(f); co_return r.get(); } catch (std::exception&) { co_return 1; }
}
Future<int> once(Future<int> f) {
    try { co_return co_await f; } catch (Error&) { co_return 1; }
}
Future<Void> rethrows() {
    while (true) { try { co_await rest(); } catch (Error& e) { if (e.code() == error_code_actor_cancelled) throw; } }
}
Future<Void> returns() {
    while (true) { try { co_await rest(); } catch (...) { co_return; } }
}
Future<Void> waits() {
    while (true) { try { co_await rest(); } catch (Error&) { std::puts("again"); } co_await delay(1); }
}
Future<Void> counts() {
    for (int i = 0; i < 3; ++i) { try { co_await rest(); } catch (Error&) {} }
}
Future<Void> others() {
    while (true) { try { co_await rest(); } catch (std::bad_alloc&) {} }
}
Future<Void> goesOn(Uncancellable) {
    while (true) { try { co_await rest(); } catch (Error&) {} }
}
Future<Void> keeps() {
    for (;;) {
        Error kept;
        try { co_await rest(); } catch (Error& e) { kept = e; }
        if (kept.code() == error_code_actor_cancelled) throw kept;
    }
}
Future<Void> noWait() {
    while (true) { co_await rest(); try { (void)flag(); } catch (...) {} }
}
Future<Void> outside() {
    try { while (true) co_await rest(); } catch (...) {}
}
""",
]
LOCALS = [
    """
struct alignas(128) Line { int x; };
Future<int> a() {
    Line @@line{1};
    alignas(256) char @@buffer[32] = {};
    alignas(8) char @@few[32] = {};
    { Line @@inner{2}; (void)inner; }
    auto @@made = Line{2};
    Line @@lines[2] = {};
    for (Line @@each : lines) (void)each;
    co_await rest();
    (void)buffer; (void)few; (void)made;
    co_return line.x;
}
template <class T> Future<int> b(T t) { Line @@line{t}; co_await rest(); co_return line.x; }
""",
    """
struct alignas(128) Line { int x; };
struct alignas(64) Pair { long a, b; };
Future<int> a(Line* given) {
    static Line shared{1};
    thread_local Line own{1};
    Line& same = *given;
    Line* other = given;
    Pair pair{};
    alignas(8) long buffer[4] = {};
    alignas(1 + 1 + 6) char few[32] = {};
    auto kept = std::make_unique<Line>();
    auto plain = [] { Line inside{1}; return inside.x; };
    co_await rest();
    (void)buffer; (void)few;
    co_return shared.x + own.x + same.x + other->x + kept->x + int(pair.a) + plain();
}
int plain() { Line line{1}; return line.x; }
template <class T> Future<int> b(T t) { T own = t; auto made = t; co_await rest(); co_return int(own + made); }
""",
]
KINDS = {"A0701": DISCARDS, "A0702": PARAMETERS, "A0703": LAMBDAS, "A0704 A0705": HANDLERS, "A0709": LOCALS}


@dataclass
class Part:
    """A stretch of the file: the codes that are expected there, at the marks if there are any."""

    name: str
    text: str
    codes: set[str]
    start: int = 0
    marks: list[int] = field(default_factory=list)
    found: list[tuple[str, int]] = field(default_factory=list)


def parts() -> list[Part]:
    found = [
        Part(f"{codes} {'traps' if n == 0 else 'none'}", text, set(codes.split()) if n == 0 else set())
        for codes, texts in KINDS.items()
        for n, text in enumerate(texts)
    ]
    for fault in FAULTS:
        found += [Part(f"{fault.code} wrong", text, {fault.code}) for text in page(fault.code).wrong]
        found += [Part(f"{fault.code} right", text, set()) for text in page(fault.code).right]
    return found


PARTS = parts()


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> list[Part]:
    text = HEAD
    for number, part in enumerate(PARTS):
        body, marks = unmarked(part.text)
        text += f"namespace part{number} {{\n"
        part.start = len(text)
        part.marks = [part.start + mark for mark in marks]
        text += body + "}\n"
    path = tmp_path_factory.mktemp("traps") / "traps.cpp"
    path.write_text(text, encoding="utf-8")
    diagnostics = Diagnostics()
    check(Source.read(str(path)), flags_with("flow/flow.h"), diagnostics)
    for each in diagnostics:
        part = [part for part in PARTS if part.start <= each.span.start][-1]
        part.found.append((each.code, each.span.start))
    return PARTS


@pytest.mark.parametrize("number", range(len(PARTS)), ids=[part.name for part in PARTS])
def test_each_trap_is_reported_at_its_place_and_nothing_else(number: int, checked: list[Part]) -> None:
    part = checked[number]
    assert {code for code, _ in part.found} == part.codes
    if part.marks:
        assert [start - part.start for _, start in part.found] == [mark - part.start for mark in part.marks]


PROGRAM = """\
#include "flow/flow.h"
using namespace flow;
Future<Void> work();
Future<Void> spaß() { const char* text = "äöü"; (void)text; work(); co_await delay(1); }
"""
ACTORS = """\
#include "flow/flow.h"
#include <string_view>
using namespace flow;
int use(std::string_view);
Future<Void> work();
#include "flow/actorcompiler.h" // must be the last include
ACTOR Future<Void> keeps(std::string_view @@text, std::string const& copied, Future<Void> f) {
    use(text);
    wait(f);
    use(text);
    use(copied);
    return Void();
}
ACTOR Future<Void> before(std::string_view text, Future<Void> f) {
    use(text);
    wait(f);
    return Void();
}
Future<Void> plain() {
    @@work();
    co_await delay(1);
}
"""


def test_the_command_prints_places_and_what_to_write(tmp_path: Path) -> None:
    (tmp_path / "program.cpp").write_text(PROGRAM, encoding="utf-8")
    done = actorc("program.cpp", folder=tmp_path)
    assert done.returncode == 1
    line = PROGRAM.splitlines()[3]
    column = line.index("work()") + 1
    lines = done.stderr.splitlines()
    assert lines[0].startswith(f"program.cpp:4:{column}: warning: the future of `work` is thrown away here")
    assert lines[0].endswith(" [A0701]")
    assert lines[1:3] == ["    " + line, "    " + " " * (column - 1) + "^~~~~~"]
    assert lines[3].startswith("hint: write `co_await` before it")


@pytest.mark.parametrize("format_", ["json", "sarif"])
def test_the_command_prints_documents(format_: str, tmp_path: Path) -> None:
    text, marks = unmarked(ACTORS)
    (tmp_path / "a.actor.cpp").write_text(text, encoding="utf-8")
    done = actorc_on_flow(f"--format={format_}", "a.actor.cpp", folder=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    document = json.loads(done.stdout)
    if format_ == "json":
        found = [(each["code"], each["range"]["start"]["offset"]) for each in document["diagnostics"]]
        assert found == [("A0702", marks[0]), ("A0701", marks[1])]
    else:
        assert [each["ruleId"] for each in document["runs"][0]["results"]] == ["A0702", "A0701"]


def test_what_is_clean_and_what_cannot_be_checked(tmp_path: Path) -> None:
    (tmp_path / "clean.cpp").write_text("int main() {}\n")
    (tmp_path / "wrong.cpp").write_text("int main() { return x; }\n")
    done = actorc("clean.cpp", folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = actorc("wrong.cpp", "missing.cpp", "clean.cpp", folder=tmp_path)
    assert done.returncode == 2
    assert (
        "wrong.cpp:1:21: error: use of undeclared identifier 'x' [A0706]\n    int main() { return x; }\n" in done.stderr
    )
    assert "missing.cpp: No such file or directory" in done.stderr
    assert actorc(folder=tmp_path).returncode == 2
    assert actorc("--format=xml", "clean.cpp", folder=tmp_path).returncode == 2


def test_flags_come_after_two_dashes_or_from_a_database(tmp_path: Path) -> None:
    (tmp_path / "flags.cpp").write_text("#ifndef NAME\n#error none\n#endif\n")
    assert actorc("flags.cpp", folder=tmp_path).returncode == 2
    assert actorc("flags.cpp", "--", "-DNAME=1", folder=tmp_path).returncode == 0
    (tmp_path / "pch.h").write_text("#define NAME 1\n")
    (tmp_path / "pch.h.pch").write_text("of another compiler")
    precompiled = "clang++ -Xclang -include-pch -Xclang pch.h.pch -Xclang -include -Xclang pch.h -c flags.cpp"
    of_llvm = "clang++ -mllvm -instcombine-lower-dbg-declare=0 -DNAME=1 -c flags.cpp"
    of_gcc = "g++ -fno-gnu-unique -fanalyzer -mfunction-return=thunk -DNAME=1 -c flags.cpp"
    for command in ("g++ -DNAME=1 -c flags.cpp", precompiled, of_llvm, of_gcc):
        entry = {"directory": str(tmp_path), "file": "flags.cpp", "command": command}
        (tmp_path / "compile_commands.json").write_text(json.dumps([entry]))
        assert actorc("flags.cpp", folder=tmp_path).returncode == 0, command


def test_a_header_is_compiled_with_the_flags_of_a_source_beside_it(tmp_path: Path) -> None:
    (tmp_path / "some").mkdir()
    (tmp_path / "some" / "flags.h").write_text("#if NAME != 2\n#error none\n#endif\n")
    entries = [
        {"directory": str(tmp_path), "file": file, "command": f"g++ -DNAME={number} -c {file}"}
        for number, file in enumerate(("flags.cpp", "some/first.cpp", "some/flags.cpp", "some/last.cpp"))
    ]
    (tmp_path / "compile_commands.json").write_text(json.dumps(entries))
    assert actorc("some/flags.h", folder=tmp_path).returncode == 0
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "flags").write_text("#if NAME != 0\n#error none\n#endif\n")
    assert actorc("include/flags", folder=tmp_path).returncode == 0
    (tmp_path / "compile_commands.json").write_text(json.dumps(entries[:1]))
    assert actorc("some/flags.h", folder=tmp_path).returncode == 2


def test_memory_does_not_grow_with_the_number_of_files(tmp_path: Path) -> None:
    """What clang has read of a file takes 100 MB."""

    def megabytes(count: int) -> float:
        names = [f"x{number}.cpp" for number in range(count)]
        for name in names:
            (tmp_path / name).write_text(HEAD, encoding="utf-8")
        command = [sys.executable, str(ROOT / "actorc"), "check", "--jobs=1", *names, "--", "-std=c++20", f"-I{ROOT}"]
        child = subprocess.Popen(command, cwd=tmp_path)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        assert child.returncode == 0
        return usage.ru_maxrss / 1024

    assert megabytes(3) < 1.5 * megabytes(1)


def test_without_libclang_actors_are_still_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, marks = unmarked(ACTORS)
    for name in ("a.actor.cpp", "b.actor.cpp"):
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "clang.py").write_text("from actorc.packages import PackageMissing\nraise PackageMissing('none')\n")
    done = actorc("--json", "a.actor.cpp", "b.actor.cpp", folder=tmp_path)
    assert done.returncode == 2
    found = [(each["code"], each["range"]["start"]["offset"]) for each in json.loads(done.stdout)["diagnostics"]]
    assert found == [("A0702", marks[0])] * 2
    assert done.stderr.count("the traps of C++ were not looked for") == 1


DECLARING = """\
#pragma once
#include "flow/flow.h"
#include <string>
#include "flow/actorcompiler.h"
namespace n {
flow::Future<int> wrong(int x, std::string const& y);
flow::Future<int> right(int const& x);
flow::Future<int> none();
flow::Future<int> coroutine(int x);
ACTOR flow::Future<int>
actors(int x);
}
"""
DECLARED = """\
#include "declaring.h"
#include "flow/actorcompiler.h" // must be the last include
namespace n {
ACTOR flow::Future<int> @@wrong(int x, std::string const& y) { wait(flow::delay(1)); return x; }
ACTOR flow::Future<int> right(int x) { wait(flow::delay(1)); return x; }
ACTOR flow::Future<int> none() { wait(flow::delay(1)); return 1; }
ACTOR flow::Future<int> actors(int x) { wait(flow::delay(1)); return x; }
flow::Future<int> coroutine(int x) { co_await flow::delay(1); co_return x; }
FLOW_TEST_CASE("/a test") { wait(flow::delay(1)); return flow::Void(); }
}
"""


def test_a_header_declares_an_actor_as_its_callers_see_it(tmp_path: Path) -> None:
    text, marks = unmarked(DECLARED)
    (tmp_path / "declaring.h").write_text(DECLARING, encoding="utf-8")
    (tmp_path / "declared.actor.cpp").write_text(text, encoding="utf-8")
    done = actorc_on_flow("--json", "declared.actor.cpp", folder=tmp_path)
    found = json.loads(done.stdout)["diagnostics"]
    assert [(each["code"], each["range"]["start"]["offset"]) for each in found] == [("A0707", marks[0])], done.stderr
    assert found[0]["message"].startswith("declaring.h:6 takes parameters by value")
    assert "`flow::Future<int> wrong(int const& x, const std::string& y);`" in found[0]["hint"]
