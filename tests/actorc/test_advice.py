"""What is reported although it could be compiled: `@@` stands before it, and nothing else may be reported."""

from __future__ import annotations

from pathlib import Path

import pytest
from front import OF_COMPILER, analysed, in_actor, reported, unmarked

ROOT = Path(__file__).parents[2]

# In a body of an actor with a parameter `f`, which waits and returns at the end.
LOST = [
    "int x = 1; do { g(@@x); wait(f); } while (false);",
    "int x = 1; loop { g(@@x); wait(f); break; }",
    "int x = 1; while (@@x > 0) { g(x); wait(f); return Void(); }",
    "int x = 1; do { wait(f); } while (@@x);",
    "int x = 1; switch (a) { case 1: wait(f); g(@@x); break; default: g(x); }",
    "int x = 1; switch (a) { case 1: wait(f); case 2: g(@@x); }",
    "int x = 1; wait(f); g(@@x);",
    "int x = 1; wait(f); int y = @@x; h(x);",
    "const std::string x = a(); wait(f); g(@@x);",
    "int x = wait(f); wait(f); g(@@x);",
    "auto x = wait(f); wait(f); g(@@x);",
    "auto [x, y] = wait(f); wait(f); g(@@y);",
    "int x = 1; @@x = wait(f);",
    "int x = 1; int y = wait(f); if (@@x) g();",
    "int x = 1; if (a) { wait(f); } g(@@x);",
    "int x = 1; if (a) wait(f); else wait(h); while (@@x) g();",
    "int x = 1; loop { g(@@x); wait(f); if (a) break; }",
    "int x = 1; while (@@x) { wait(f); }",
    "int x = 1; for (; a; @@x++) { wait(f); }",
    "int x = 1; loop { if (a) { g(@@x); continue; } wait(f); if (b) break; }",
    "int x = 1; try { wait(f); } catch (Error& e) { g(@@x); }",
    "int x = 1; try { wait(f); } catch (Error& e) { throw; } g(@@x);",
    "int x = 1; choose { when(wait(f)) { g(@@x); } when(wait(h)) { } }",
    "choose { when(int x = wait(f)) { wait(h); g(@@x); } }",
    "choose { when(int x = wait(f)) { choose { when(wait(g)) { h(@@x); } } } }",
    "try { g(); } catch (Error& e) { wait(f); h(@@e); }",
    "state std::vector<int> v; for (int x : v) { wait(f); g(@@x); }",
    "state std::vector<int> v; for (auto& [k, x] : v) { wait(f); g(@@x); }",
    "if (int x = a()) { wait(f); g(@@x); }",
    "if (auto x = a(); x > 1) { wait(f); g(@@x); }",
    "int x = 1; wait(f); auto l = [&] { return @@x; };",
    "int x = 1; wait(f); auto l = [@@x] { return x; };",
    "int x = 1; wait(f); wait(g(@@x));",
    "int x = 1; wait(f); if (a) throw e(@@x);",
    "int x = 1; wait(f); if (a) { return @@x; }",
    "int x = 1; wait(f); state int y = @@x; g(y);",
    "int x = 1; wait(f); state Y y(@@x); g(y);",
    "int x = 1; wait(f); g(a * @@x, b & x, -x, *x, T<x>());",
    "int x = 1; wait(f); y = a < @@x;",
    "int x = 1; wait(f); y = a > @@x;",
    "int x = 1; wait(f); y = c ? @@x : 2;",
    "int x = 1; wait(f); switch (@@x) { case 1: g(); }",
    "int x = 1; wait(f); y[@@x] = 2;",
    "int x = 1; wait(f); g(@@x.size(), x->y);",
    "int x = 1; { wait(f); } g(@@x);",
    "int x = 1; if (a) { int x = 2; wait(f); } g(@@x);",
    "auto x = [] { return 1; }; wait(f); g(@@x());",
    "std::function<int()> x = a(); wait(f); g(@@x());",
]

KEPT = [
    "switch (a) { case 1: { int x = 1; wait(f); break; } case 2: { int x = 2; g(x); } }",
    "int x = 1; switch (a) { case 1: wait(f); break; default: g(x); }",
    "int x = 1; g(x); wait(f);",
    "int x = 1; wait(g(x)); h();",
    "int x = 1; if (a) { wait(f); return Void(); } g(x);",
    "int x = 1; if (a) { wait(f); throw io_error(); } else { g(x); } h(x);",
    "loop { int x = 1; g(x); wait(f); if (a) break; }",
    "state std::vector<int> v; for (int x : v) { g(x); wait(f); }",
    "try { wait(f); } catch (Error& e) { g(e); throw; }",
    "choose { when(int x = wait(f)) { g(x); } when(int x = wait(h)) { g(x); } }",
    "int x = wait(f); g(x); int y = wait(f); g(y);",
    "int x = 1; wait(f); state int y = a.x + b->x + N::x + x::y; g(y);",
    "int x = 1; wait(f); g(Point{.x = 1});",
    "int x = 1; wait(f); { int x = 2; g(x); }",
    "int x = 1; wait(f); auto l = [](int x) { return x; };",
    "int x = 1; wait(f); auto l = [](const T& x, int y) { return x; };",
    "int x = 1; wait(f); auto l = [x = 2] { return x; };",
    "int x = 1; wait(f); auto l = [] { int x = 2; return x; };",
    "int x = 1; wait(f); auto l = [] { T& x = g(); return x; };",
    "int x = 1; wait(f); auto l = [] { std::vector<int> x; return x; };",
    "int x = 1; wait(f); auto l = [] { auto [x, y] = g(); return x; };",
    "int x = 1; wait(f); auto l = [] { for (auto& x : v) g(x); };",
    "int x = 1; wait(f); for (auto& x : v) g(x);",
    "int x = 1; wait(f); for (int x = 0; x < 3; x++) g(x);",
    "int x = 1; wait(f); for (int i = 0, x = 0; x < 3; x++) g(x);",
    "int x = 1; wait(f); if (int x = g()) h(x);",
    "int x = 1; wait(f); if (T* x = g(); x != nullptr) h(x);",
    "int x = 1; wait(f); if (auto [x, y] = g(); x) h(x);",
    "int x = 1; wait(f); while (T* x = g()) h(x);",
    "int x = 1; wait(f); switch (int x = g()) { case 1: h(x); }",
    "int x = 1; wait(f); struct Q { int x; int get() { return x; } } q; g(q);",
    "int x = 1; wait(f); int y = x();",
    "int x = 1; wait(f); try { g(); } catch (Error& x) { throw x; }",
    "int x = 1; wait(f); EACH(v) { int x = 2; g(x); }",
    "using T = int; wait(f); g(3);",
]


@pytest.mark.parametrize("body", LOST)
def test_locals_used_after_a_wait(body: str) -> None:
    text, offsets = unmarked(in_actor(body))
    assert reported(text) == [("A0601", offset) for offset in offsets]


@pytest.mark.parametrize("body", KEPT)
def test_names_that_are_no_lost_locals(body: str) -> None:
    assert reported(in_actor(body)) == []


def test_a_lost_local_is_told_with_its_wait_and_its_declaration() -> None:
    text = in_actor("int x = 1;\nwait(f);\nwait(g(x));\nh(x);")
    _, source, diagnostics = analysed(text)
    [found] = diagnostics
    assert [source[note.span] for note in found.notes] == ["wait(f)", "x"]
    assert found.fixes[0].apply(text) == text.replace("int x", "state int x")


SEEN = [  # what declares `x` where the actor sees it
    "int x; @",
    "enum E { w, x }; @",
    "namespace n { const T& x = y; @ }",
    "const T& x = y; namespace n { void g(); @ }",
    "namespace { int x; } @",
    "inline namespace n { int x; } @",
    "namespace n { int x; } using namespace n; @",
    "namespace n { int x; } using n::x; @",
    "namespace n { int x; } namespace m { int y; } namespace n { @ }",
    "struct S { static int x; @ };",
    "struct S { enum { x, y }; @ };",
    "struct B { static int x; }; template <class T> struct S final : public B { @ };",
    "union { int x; }; @",
    """
#if A
namespace n {
#else
namespace m {
#endif
int y; }
int x;
@""",
]
UNSEEN = [  # what declares another one
    "void g() { int x; } @",
    "void g(int x); @",
    "void g(int x, int y = h(1), int z); @",
    "auto g = y.x; @",
    "#define z x\n@",
    "struct S { int x; std::string name; }; @",
    "struct S { struct T { static int x; }; @ };",
    "struct S { enum { x = 3 }; }; @",
    "enum class E { w, x }; @",
    "namespace far { int x; } @",
    "namespace n { namespace m { int x; } @ }",
    "template <class T> struct S { T x; }; struct U : V<S> { @ };",
    "struct S { int x; } s; @",
]


@pytest.mark.parametrize("around", SEEN)
def test_a_name_that_the_actor_sees_elsewhere_too_is_a_warning(around: str) -> None:
    _, _, diagnostics = analysed(around.replace("@", in_actor("int x = 1; wait(f); g(x);")))
    assert [(found.code, found.severity.value) for found in diagnostics] == [("A0601", "warning")]


@pytest.mark.parametrize("around", UNSEEN)
def test_a_name_that_is_declared_where_the_actor_does_not_see_it_is_none(around: str) -> None:
    _, _, diagnostics = analysed(around.replace("@", in_actor("int x = 1; wait(f); g(x);")))
    assert [(found.code, len(found.fixes)) for found in diagnostics.errors] == [("A0601", 1)]


def test_an_actor_outside_its_class_sees_the_names_of_the_class() -> None:
    text = (
        "struct S { static int x; };\nACTOR Future<Void> S::test(Future<Void> f) { int x = 1; wait(f); return g(x); }"
    )
    assert [found.severity.value for found in analysed(text)[2]] == ["warning"]
    assert [found.severity.value for found in analysed(text.replace("S::", "T::"))[2]] == ["error"]


def test_a_macro_of_that_name_is_no_local() -> None:
    assert reported("#define x 3\n" + in_actor("int x = 1; wait(f); g(x);")) == []


FIXES = [
    ("const int x = 1; wait(f); g(x);", "state const int x = 1; wait(f); g(x);"),
    ("const char* x = a; wait(f); g(x);", "state const char* x = a; wait(f); g(x);"),
    ("const int x = wait(f); wait(f); g(x);", "state const int x = wait(f); wait(f); g(x);"),
    ("T x{1}; wait(f); g(x);", "state T x{1}; wait(f); g(x);"),
    ("int x = wait(f); wait(f); g(x);", "state int x = wait(f); wait(f); g(x);"),
    (
        "try { g(); } catch (Error& e) { wait(f); h(e); throw e; }",
        "try { g(); } catch (Error& e) { state Error error = e; wait(f); h(error); throw error; }",
    ),
    (
        "state std::vector<int> v; for (const T& x : v) { wait(f); g(x); }",
        "state std::vector<int> v; for (const T& x : v) { state T thisX = x; wait(f); g(thisX); }",
    ),
    ("try { g(); } catch (Error& e) {\n    wait(f);\n    h(e);\n}",
     "try { g(); } catch (Error& e) {\n    state Error error = e;\n    wait(f);\n    h(error);\n}"),
]  # fmt: skip
NO_FIXES = [
    "auto x = 1; wait(f); g(x);",
    "T& x = a(); wait(f); g(x);",
    "int x = 1, y = 2; wait(f); g(x);",
    "int x[3]; wait(f); g(x);",
    "int x = 1; { int x = 2; } wait(f); g(x);",
    "auto [x, y] = wait(f); wait(f); g(x);",
    "state std::vector<int> v; for (auto x : v) { wait(f); g(x); }",
    "if (int x = a()) { wait(f); g(x); }",
]


@pytest.mark.parametrize(("body", "fixed"), FIXES)
def test_fixes_of_lost_locals(body: str, fixed: str) -> None:
    text = in_actor(body)
    _, _, diagnostics = analysed(text)
    [found] = diagnostics
    assert found.fixes[0].apply(text) == in_actor(fixed)
    assert reported(in_actor(fixed)) == []


@pytest.mark.parametrize("body", NO_FIXES)
def test_lost_locals_that_only_the_author_can_repair(body: str) -> None:
    _, _, diagnostics = analysed(in_actor(body))
    [found] = diagnostics
    assert found.hint
    assert found.fixes == ()


# ---------------------------------------------------------------------------------------------------------------
# Warnings

IN_A_BODY = [
    ("A0507", 'wait(f); if (x) throw @@std::runtime_error("x");'),
    ("A0507", 'wait(f); if (x) throw @@"x";'),
    ("A0507", "wait(f); if (x) throw @@3;"),
    ("A0601", "int x = 1; wait(f); g(@@x);"),
    ("A0602", "state int x = 1; { int @@x = 2; wait(f); g(x); }"),
    ("A0602", "state int x = 1; { int @@x = 2; g(x); } g(x);"),
    ("A0602", "wait(f); { int @@f = 1; wait(g); h(f); }"),
    ("A0602", "state int x = 1; choose { when(int @@x = wait(f)) { g(x); } } g(x);"),
    ("A0603", "loop { try { wait(f); } @@catch (Error& e) { g(e); } if (x) break; }"),
    ("A0603", "loop { try { if (x) break; wait(f); } @@catch (...) { } }"),
    ("A0603", "while (a) { if (b) { try { wait(f); } @@catch (Error&) { continue; } } }"),
    ("A0603", "loop { try { wait(f); if (x) break; } @@catch (Error& e) { continue; } wait(g); }"),
    ("A0603", "loop { try { choose { when(wait(f)) { break; } } } @@catch (Error& e) { g(); } }"),
    ("A0604", "try { wait(f); } @@catch (...) { }"),
    ("A0604", "try { wait(f); } @@catch (...) { g(); }"),
    ("A0604", "loop { try { wait(f); } @@catch (...) { } wait(g); if (x) break; }"),
    ("A0605", "@@test(f);"),
    ("A0605", "if (x) @@test(g(1), 2);"),
    ("A0606", "state int @@x = 1;"),
    ("A0606", "state int @@x = 1; x = 2; x++; if (a) ++x;"),
    ("A0606", "state bool @@x = false; wait(f); x = true;"),
    ("A0606", "state int @@x = wait(f);"),
    ("A0606", "state std::string @@x;"),
    ("A0607", "@@Wait(f);"),
    ("A0607", "int x = @@Wait(f); g(x);"),
    ("A0607", "@@await f;"),
    ("A0607", "@@WaitNext(f);"),
    ("A0607", "@@wiat(f);"),
    ("A0607", "@@awit(f);"),
    ("A0607", "int x = @@watiNext(f); g(x);"),
    ("A0609", "state int @@wait__ = 1; wait(f); g(wait__);"),
    ("A0609", "int @@error__ = 1; g(error__);"),
    ("A0610", "state int n = 1; wait(f); g(@@this->n);"),
    ("A0610", "wait(f); g(@@this->total());"),
    ("A0610", "auto g = [a = @@this] { return a; }; wait(g());"),
]
HEADER = '#include "flow/actorcompiler.h"\n'
WHOLE_FILES = [
    ("A0605", "struct X { ACTOR static Future<Void> a(int b) { wait(b); return Void(); }"
              " ACTOR static Future<Void> c(int b) { @@a(b); wait(b); return Void(); } };"),
    ("A0605", "namespace n { ACTOR Future<int> a(int b); }\n"
              "ACTOR Future<Void> c(int b) { @@n::a(b); wait(b); return Void(); }"),
    ("A0608", HEADER + "Future<Void> a(Future<Void> f) { @@wait(f); return Void(); }"),
    ("A0608", HEADER + "static Future<Void> a(Future<Void> f) { if (x) { @@wait(f); } wait(f); return Void(); }"),
    ("A0608", HEADER + "struct X { int y; Future<flow::Void> a() { loop { int x = @@wait(f); } } };"),
    ("A0611", HEADER + '@@#include <map>\n' + in_actor("")),
    ("A0611", '@@#include "flow/flow.h"\n' + in_actor("")),
    ("A0611", HEADER + '#if A\n@@#include <map>\n#endif\n' + in_actor("")),
    ("A0609", "ACTOR Future<Void> a(Future<Void> @@wait__) { wait(wait__); return Void(); }"),
]  # fmt: skip

SOUND = [
    "try { wait(f); } catch (Error& e) { }",
    "try { wait(f); } catch (...) { throw; }",
    "try { wait(f); } catch (...) { if (x) throw; }",
    "try { wait(f); } catch (...) { return Void(); }",
    "try { wait(f); } catch (...) { wait(g); }",
    "try { g(); } catch (...) { }",
    "loop { try { wait(f); } catch (Error& e) { if (e.code() == error_code_actor_cancelled) throw; } if (x) break; }",
    "loop { try { wait(f); } catch (Error& e) { wait(delay(1)); } if (x) break; }",
    "loop { try { wait(f); } catch (Error& e) { break; } }",
    "loop { try { wait(f); } catch (Error& e) { g(); } wait(delay(1)); if (x) break; }",
    "loop { wait(delay(1)); try { wait(f); if (x) break; } catch (Error& e) { continue; } }",
    "loop { try { g(); } catch (Error& e) { } wait(f); if (x) break; }",
    "for (state int i = 0; i < 3; i++) { try { wait(f); } catch (Error& e) { g(e); } }",
    "state std::vector<int> v; for (int x : v) { try { g(x); wait(f); } catch (Error& e) { } }",
    "try { loop { wait(f); if (x) break; } } catch (Error& e) { g(e); }",
    "state int x = 1; { int x = 2; g(x); }",
    "{ int x = 2; g(x); } state int x = 1; wait(f); g(x);",
    "wait(test(f));",
    "(void)test(f);",
    "state Future<Void> running = test(f);",
    "g(test(f));",
    "x->test(f);",
    "auto test = [](int) {}; test(1);",
    "state int x = 1; wait(f); g(x);",
    "state int x = 1; wait(f); if (x++ < 3) g();",
    "state int x = 1; wait(f); y = x = 3;",
    "state Future<Void> x = g();",
    "state Reference<X> x = g();",
    "state FlowLock::Releaser x(lock);",
    "state T x;",
    "state [[maybe_unused]] int x = 1;",
    "condition.Wait(f); x->await(f); std::Wait(f);",
    "stat(path); stat x; State state_(1); x = stat * y; struct stat z; stat::type w; wait(f);",
    "lop{1, 2}; chose{}; whne(1); wait(f);",
    "Wait waiter(f); x = Waiting(f);",
    "if (x) throw io_error();",
    "if (x) throw e;",
    "state int x__ = 1; wait(f); g(x__, __LINE__);",
]


def test_a_misspelt_wait_is_no_missing_wait() -> None:
    text = "ACTOR Future<Void> a(Future<Void> f) { wiat(f); return Void(); }"
    assert [found.code for found in analysed(text)[2]] == ["A0607"]


CALLER = "ACTOR Future<Void> c(int b) { a(b); wait(b); return Void(); }"
SOUND_FILES = [
    "ACTOR void a(int b) { loop { try { wait(b); } catch (Error& e) { } } }",
    "ACTOR UNCANCELLABLE Future<Void> a(int b) { loop { try { wait(b); } catch (...) { } } }",
    "ACTOR void a(int b) { wait(b); }\nACTOR Future<Void> c(int b) { a(b); wait(b); return Void(); }",
    "ACTOR [[flow_allow_discard]] Future<Void> a(int b);\n" + CALLER,
    "ACTOR Future<Void> a(int b);\nvoid a(char b);\n" + CALLER,
    "struct X { ACTOR static Future<Void> a(int b); };\n" + CALLER,
    "struct X { ACTOR static Future<Void> a(int b); };\n" + CALLER.replace("a(b);", "Y::a(b);"),
    "void Wait(int);\nACTOR Future<Void> c(int b) { Wait(b); wait(b); return Void(); }",
    "Future<Void> a(Future<Void> f) { wait(f); return Void(); }",
    HEADER + "void a() { wait(f); }",
    HEADER + "Future<Void> a() { x.wait(f); co_await f; }",
    HEADER + "Future<Void> wait(int x); Future<Void> a() { return wait(3); }",
    HEADER + "Future<Void> a() { return g([] { wait(3); }); }",
]


@pytest.mark.parametrize(("code", "text"), [(code, in_actor(body)) for code, body in IN_A_BODY] + WHOLE_FILES)
def test_each_is_reported_once_and_at_its_place(code: str, text: str) -> None:
    text, offsets = unmarked(text)
    assert reported(text) == [(code, offset) for offset in offsets]


@pytest.mark.parametrize("text", [in_actor(body) for body in SOUND] + SOUND_FILES)
def test_what_must_not_be_reported(text: str) -> None:
    assert reported(text) == []


@pytest.mark.parametrize("text", [in_actor(body) for _, body in IN_A_BODY] + [text for _, text in WHOLE_FILES])
def test_each_fix_removes_what_it_is_for(text: str) -> None:
    text, _ = unmarked(text)
    for found in analysed(text)[2]:
        for fix in found.fixes:
            fixed = fix.apply(text)
            assert (found.code, found.span.start) not in reported(fixed), fixed
            assert not analysed(fixed)[2].errors, fixed


SOUND_INCLUDES = [
    '#include "flow/flow.h"\nvoid g();\n',
    '#include "flow/flow.h"\n#include "actorcompiler.h" // the last\n' + in_actor(""),
    "#include <map>\n" + HEADER + "enum {\n#define E(n) n,\n#include <table.h>\n};\n" + in_actor(""),
    '#include "flow/flow.h"\nACTOR Future<Void> declared(int n);\n',
    '#include "a.h"\n' + HEADER + in_actor("") + '#include "flow/unactorcompiler.h"\n',
    '#include "a.h"\n' + HEADER + '#include "b.h" // actorc: allow A0611\n' + in_actor(""),
]


@pytest.mark.parametrize("text", SOUND_INCLUDES)
def test_includes_that_are_right(text: str) -> None:
    assert reported(text) == []


@pytest.mark.parametrize(
    "code", [fault.code for fault in OF_COMPILER if fault.code >= "A0601" or fault.code == "A0507"]
)
def test_every_code_has_a_test(code: str) -> None:
    assert code in {code for code, _ in IN_A_BODY + WHOLE_FILES}


@pytest.mark.parametrize(
    "path", sorted([*ROOT.glob("tests/programs/*.actor.*"), *ROOT.glob("bench/*.actor.*")]), ids=lambda path: path.name
)
def test_programs_give_no_reason_to_warn(path: Path) -> None:
    assert reported(path.read_text(encoding="utf-8")) == []
