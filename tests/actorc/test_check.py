"""Every fault, at its place: `@@` stands before what must be reported, and nothing else may be."""

from __future__ import annotations

import pytest
import test_advice
from front import OF_COMPILER, analysed, in_actor, reported, unmarked

# In a body of an actor with a parameter `f`, which waits and returns at the end.
IN_A_BODY = [
    # Literals and brackets
    ("A0002", 'g(@@"abc);'),
    ("A0002", "int x = @@'a;"),
    ("A0002", 'g(h(@@"abc,\n1), 2);'),
    ("A0004", "g@@(1;"),
    ("A0004", "if @@(a { b(); }"),
    ("A0005", "g(1)@@);"),
    ("A0005", "g(1)@@];"),
    ("A0005", "wait(f)@@);"),
    # Names
    ("A0108", "state int @@f;"),
    ("A0108", "state int a = 1; { state int @@a = 2; }"),
    ("A0108", "state int a; state int @@a = wait(f);"),
    ("A0108", "state int a; for (state int @@a = 0; a < 2; a++) wait(f);"),
    ("A0108", "choose { when(state int a = wait(g)) {} when(state int @@a = wait(h)) {} }"),
    # Misspelt keywords, which cannot be C++
    ("A0607", "@@stat int i = 3; wait(f); g(i);"),
    ("A0607", "@@sate int i; wait(f); g(i);"),
    ("A0607", "try { wait(f); } @@cath (Error& e) { throw e; }"),
    ("A0607", "@@State std::vector<int> i = wait(f); wait(f); g(i);"),
    ("A0607", "@@lop { wait(f); g(); if (x) break; }"),
    ("A0607", "@@looop choose { when(wait(f)) { break; } }"),
    ("A0607", "loop @@chose { when(wait(f)) { break; } }"),
    ("A0607", "choose { when(wait(f)) { } @@whne(wait(g)) { g(); } }"),
    # Statements
    ("A0201", "@@#define X 1\n"),
    ("A0201", "@@#if X\nwait(f);\n#else\n#endif\n"),
    ("A0202", "@@if x { g(); }"),
    ("A0202", "@@while { wait(f); }"),
    ("A0202", "while @@() { wait(f); }"),
    ("A0202", "try { wait(f); } @@catch { }"),
    ("A0202", "@@wait f;"),
    ("A0202", "@@do { g(); }"),
    ("A0202", "switch @@() { case 1: g(); }"),
    ("A0203", "for @@(int i = 0) { g(); }"),
    ("A0203", "for @@(a; b; c; d) { g(); }"),
    ("A0203", "for (@@state int x : v) { g(); }"),
    ("A0203", "for (@@state std::string x : v) { g(); }"),
    ("A0204", "g()@@\nstate int x = 1;"),
    ("A0204", "int x = 3@@\nwait(f);"),
    ("A0204", "int x = 3@@\nint y = wait(f);"),
    ("A0204", "state int x = g(1)@@\nstd::vector<int> y = wait(f);"),
    ("A0204", "x = y@@\nauto z = waitNext(s);"),
    ("A0204", "state int y@@\nint z = wait(f);"),
    ("A0204", "int y@@\nstd::vector<int> z = wait(f);"),
    ("A0204", "g(1)@@\nint z = wait(f);"),
    ("A0204", "v[1]@@\nauto z = waitNext(s);"),
    ("A0204", "auto x = [] { return 1; }@@\nif (x()) wait(f);"),
    ("A0204", "loop { wait(f); break@@ }"),
    ("A0204", "if (x) { g()@@ }"),
    ("A0204", "do { wait(f); } while (x)@@"),
    ("A0205", "g(); @@else g();"),
    ("A0206", "wait(f); @@catch (Error& e) { }"),
    ("A0207", "@@try { wait(f); } g();"),
    ("A0209", "try { wait(f); } catch (@@auto& e) { }"),
    ("A0209", "try { wait(f); } catch (@@Error& e, int) { }"),
    ("A0209", "try { wait(f); } catch (@@3) { }"),
    ("A0209", "try { wait(f); } catch (@@int e[3]) { }"),
    ("A0210", "@@choose when(wait(f)) { }"),
    ("A0210", "@@choose { }"),
    ("A0211", "choose { when(wait(f)) { } @@g(); }"),
    ("A0212", "@@when(wait(f)) { }"),
    ("A0213", "choose { when@@(f) { } }"),
    ("A0213", "choose { when@@(g(wait(f))) { } }"),
    ("A0214", "switch (x) { case 1: { case 2: @@return Void(); } }"),
    ("A0214", "try { g(); } catch (Error& e) { switch (x) { case 1: while (x) { default: @@throw; } } }"),
    ("A0214", "EACH(x) { @@return Void(); }"),
    ("A0214", "loop { switch (x) { case 1: { case 2: @@continue; } } wait(f); if (x) break; }"),
    ("A0214", "EACH(x) { @@continue; }"),
    ("A0215", "@@goto end;"),
    ("A0215", "@@co_await f;"),
    ("A0215", "@@case 1: g();"),
    ("A0215", "@@extern int y; wait(f); g(y);"),
    ("A0215", "if (x) { [[maybe_unused]] int @@extern y; }"),
    ("A0215", "@@extern void h(int);"),
    ("A0216", "{ if (x)@@ }"),
    ("A0218", "int n = 1; for (auto x : @@v | each([&](int m) { return m + n; })) wait(f);"),
    ("A0217", "for (@@int i = 0; i < 3; i++) wait(f);"),
    ("A0217", "for (@@auto v = g(); auto x : v) wait(x);"),
    ("A0218", "std::vector<int> v; for (auto x : @@v) wait(f);"),
    ("A0218", "int n = 1; { for (auto x : @@g(a, n)) wait(f); }"),
    ("A0218", "std::vector<int> v = wait(f); for (auto x : @@v.w) wait(f);"),
    ("A0218", "choose { when(T v = wait(f)) { for (auto x : @@*v) wait(f); } }"),
    ("A0218", "try { g(); } catch (Bad& e) { for (auto x : @@e.all()) wait(f); }"),
    ("A0218", "for (auto& a : g()) { for (auto b : @@a) wait(f); }"),
    ("A0219", "@@".join(("{" * 400, "{" + "}" * 401))),
    ("A0220", "@@switch (x) g();"),
    ("A0221", "switch (x) { @@case: g(); }"),
    ("A0221", "switch (x) { @@case 1; g(); }"),
    ("A0222", "try { g(); } catch (...) { } @@catch (Error& e) { }"),
    ("A0222", "try { g(); } catch (Error& e) { } catch (T& x) { } @@catch (const Error& y) { }"),
    ("A0222", "try { g(); } catch (...) { } @@catch (T& x) { }"),
    ("A0223", "T t; while (x) { @@static auto n{0}; wait(f); }"),
    ("A0223", "T t; while (x) { @@static auto&& n = g(); wait(f); }"),
    ("A0223", "auto t = wait(f); do { if (x) { @@static int n = 0, m = 1; g(n, m); } wait(f); } while (x);"),
    ("A0223", "if (T t = g(); t) { while (x) { @@static int n[3] = {1}; wait(f); } }"),
    # state
    ("A0224", "@@loop (x) { wait(f); if (x) break; }"),
    ("A0301", "int @@state x = 1;"),
    ("A0301", "std::vector<int> @@state x;"),
    ("A0301", "@@state throw x;"),
    ("A0301", "if (x) @@state return Void();"),
    ("A0301", "@@state int;"),
    ("A0301", "if (@@state int x = 1; x) g();"),
    ("A0301", "@@state std::string;"),
    ("A0301", "state int x @@=;"),
    ("A0301", "state int x(1) @@+ 2;"),
    ("A0301", "state const int @@x;"),
    ("A0301", "wait(f); state int* const x = g(), @@y;"),
    ("A0301", "for (state const int @@x; y; ) wait(f);"),
    ("A0302", "@@state int v[];"),
    ("A0302", "state @@static int x = 1;"),
    ("A0302", "state @@constexpr int x = 1;"),
    ("A0302", "state const @@thread_local int x = 1;"),
    ("A0302", "wait(f); state @@T& x = g();"),
    ("A0302", "for (state @@T&& x = g(); x; ) wait(f);"),
    ("A0302", "wait(f); state @@const int v[2] = {1, 2};"),
    ("A0302", "@@state auto x = 1;"),
    ("A0302", "@@state auto [a, b] = g();"),
    ("A0302", "@@state void (*g)(int) = nullptr;"),
    ("A0302", "@@state int x : 3;"),
    ("A0302", "state @@alignas(16) char x[32];"),
    ("A0302", "wait(f); state [[maybe_unused]] @@alignas(T) char x[32] = {};"),
    ("A0302", "for (state @@alignas(8) int x = 1; x; ) wait(f);"),
    ("A0303", "@@state = 3;"),
    ("A0304", "auto g = [] { int y = 2; @@state int x = y; return x; };"),
    ("A0304", "EACH(v) { @@state std::string x; g(x); }"),
    ("A0303", "@@state.x();"),
    # wait
    ("A0401", "if (@@wait(f) > 3) g();"),
    ("A0401", "while (@@wait(f)) g();"),
    ("A0401", "g(@@wait(f));"),
    ("A0401", "x += @@wait(f);"),
    ("A0401", "auto x = [&] { @@wait(f); };"),
    ("A0401", "state int x(@@wait(f));"),
    ("A0401", "wait(g(@@wait(f)));"),
    ("A0401", "if (x) throw @@wait(f);"),
    ("A0401", "switch (x) { case 1: { case 2: @@wait(f); } }"),
    ("A0401", "switch (@@wait(f)) { case 1: g(); }"),
    ("A0401", "switch (x) { case @@wait(f): g(); }"),
    ("A0401", "do { g(); } while (@@wait(f));"),
    ("A0401", "for (int n = @@wait(f); auto x : v) g();"),
    ("A0401", "for (auto x : @@waitNext(s)) g();"),
    ("A0401", "if (x) { return 2 * @@wait(f); }"),
    ("A0402", "wait(f) @@+ 1;"),
    ("A0402", "int x = wait(f)@@.y;"),
    ("A0402", "choose { when(int x = wait(f) @@|| wait(g)) { } }"),
    ("A0403", "@@wait();"),
    ("A0404", "state @@y = wait(f);"),
    ("A0404", "@@int y[3] = wait(f);"),
    ("A0404", "@@static int y = wait(f);"),
    ("A0404", "@@Number auto y = wait(f);"),
    ("A0404", "T@@& x = wait(f);"),
    ("A0401", "a[@@wait(g)] = wait(f);"),
    ("A0302", "state @@auto x = wait(f);"),
    ("A0302", "state @@auto [x, y] = wait(f);"),
    ("A0125", "auto g = ACTOR [@@=]() -> Future<int> { return wait(f); };"),
    ("A0125", "auto g = @@ACTOR [f]() { return wait(f); };"),
    ("A0125", "auto g = ACTOR [f, @@this, @@f->x]() @@mutable -> Future<int> { return wait(f); };"),
    ("A0125", "auto g = ACTOR [f]@@<class T>(T x) -> Future<int> { return wait(f); };"),
    ("A0125", "auto g = @@ACTOR [f]() -> Future<int>;"),
    ("A0401", "auto g = ACTOR [f = @@wait(f)]() -> Future<int> { return wait(f); };"),
    ("A0401", "auto g = ACTOR [f]() -> Future<int> { auto h = [f] { @@wait(f); }; return wait(f); };"),
    ("A0108", "auto g = ACTOR [f](int @@f) -> Future<int> { return wait(f); };"),
    ("A0503", "auto g = ACTOR [f]() -> Future<int> { wait(f); @@};"),
    ("A0501", "loop { auto g = ACTOR [f]() -> Future<int> { if (n) @@break; return wait(f); }; g(); break; }"),
    ("A0213", "choose { when@@(return wait(f)) { } }"),
    ("A0502", "if (x) { return wait(f); @@g(); }"),
    ("A0406", "@@Void x = wait(f);"),
    # Control flow
    ("A0501", "if (x) @@break;"),
    ("A0501", "switch (x) { case 1: @@continue; }"),
    ("A0501", "if (x) { choose { when(wait(f)) { @@continue; } } }"),
    ("A0502", "loop { wait(f); break; @@g(); }"),
    ("A0502", "if (x) { return Void(); @@g(); }"),
    ("A0502", "switch (x) { case 1: break; @@g(); case 2: h(); }"),
    ("A0502", "{ do { wait(f); } while (true); @@g(); }"),
    ("A0502", "{ do { return Void(); } while (x); @@g(); }"),
    ("A0502", "{ while (true) { wait(f); } @@g(); }"),
    ("A0502", "{ for (;;) { wait(f); loop { break; } } @@g(); }"),
    ("A0504", "if (x) @@return;"),
    ("A0505", "if (x) @@throw;"),
    ("A0505", "try { g(); } catch (Error& e) { } if (x) @@throw;"),
    ("A0505", "try { @@throw; } catch (Error& e) { if (x) throw; }"),
]

WHOLE_FILES = [
    ("A0001", "// caf@@\udce9\n"),
    ("A0002", '@@R"x(abc'),
    ("A0002", 'ACTOR Future<Void> a(std::string b = @@"abc);\n'),
    ("A0201", "ACTOR Future<Void> a(int b\n@@#if X\n, int c\n#endif\n);"),
    ("A0003", "int a; @@/* abc"),
    ("A0004", "ACTOR Future<Void> a(Future<Void> f) @@{ if (x) { wait(f); return Void(); }\n"),
    ("A0004", "ACTOR Future<Void> a(Future<Void> f) @@{ if (x) {\nACTOR void b(Future<Void> f) { wait(f); }\n"),
    ("A0004", "ACTOR Future<Void> a@@(Future<Void> f;"),
    ("A0101", "ACTOR @@template Future<Void> a(int b);"),
    ("A0101", "ACTOR @@template <> Future<Void> a(int b);"),
    ("A0101", "ACTOR template <@@class> Future<Void> a(int b);"),
    ("A0101", "ACTOR template <@@class... A, class B> Future<Void> a(B b, A... c);"),
    ("A0101", "ACTOR template <class A, @@int... B, class... C> Future<Void> a(X<B...> b, C... c);"),
    ("A0101", "ACTOR template <class A> @@template <class B> Future<Void> a(int b);"),
    ("A0102", "ACTOR [[@@flow_discard]] Future<Void> a(int b);"),
    ("A0102", "ACTOR @@[[x] y] Future<Void> a(int b);"),
    ("A0103", "ACTOR @@int a(int b);"),
    ("A0103", "ACTOR @@MyFuture<int> a(int b);"),
    ("A0103", "ACTOR @@std::future<int> a(int b);"),
    ("A0103", "ACTOR @@flow::FutureStream<int> a(int b);"),
    ("A0103", "ACTOR @@Future<std::vector<int> a(int b);"),
    ("A0103", "ACTOR @@Future<int>> a(int b);"),
    ("A0103", "ACTOR @@Future a(int b);"),
    ("A0103", "ACTOR @@FUTURE(int) a(int b) { int c = wait(b); return c; }"),
    ("A0103", "ACTOR auto a(int b) @@-> Future<int> { int c = wait(b); return c; }"),
    ("A0104", "ACTOR UNCANCELLABLE @@a::a(int b) { wait(b); return Void(); }"),
    ("A0104", "struct a { ACTOR @@a(int b); };"),
    ("A0104", "@@ACTOR ACTOR Future<int> a(int b);"),
    ("A0101", "ACTOR template <class T> @@requires (sizeof(T) > 1) Future<Void> a(T b);"),
    ("A0105", "ACTOR Future<Void> a(int b)@@\n  wait(b);\n  return Void();\n}"),
    ("A0105", "ACTOR Future<Void> a(int b)@@\n  if (b) { wait(b); }\n  return Void();\n}"),
    ("A0106", "ACTOR Future<Void> a(int b@@ int c, std::string d@@ const X& e);"),
    ("A0120", "TEST_CASE(@@name) { wait(f); return Void(); }"),
    ("A0120", '@@TEST_CASE("a", int x) { wait(f); return Void(); }'),
    ("A0204", "DESCR struct X { int a; int b@@ }@@"),
    ("A0304", "@@state int x = 1; ACTOR Future<Void> a(int b);"),
    ("A0304", "void g() { @@state std::map<int, int> x; }"),
    ("A0304", "void g() { @@state X::Y x(1); @@state const X x = 2; }"),
    ("A0103", "ACTOR @@Future<> a(int b);"),
    ("A0103", "ACTOR @@Future<,> a(int b);"),
    ("A0103", "ACTOR @@a(int b);"),
    ("A0104", "@@ACTOR Future<Void> a;"),
    ("A0104", "ACTOR @@inline Future<Void> a(int b);"),
    ("A0104", "ACTOR Future<Void> operator@@()(int b);"),
    ("A0104", "ACTOR Future<Void> X<int>@@::a(int b);"),
    ("A0104", "ACTOR Future<Void> a(int b@@)"),
    ("A0105", "ACTOR Future<Void> a(int b) @@const;"),
    ("A0105", "ACTOR Future<Void> a(int b) @@noexcept override { wait(b); return Void(); }"),
    ("A0106", "ACTOR Future<Void> a(@@3);"),
    ("A0106", "ACTOR Future<Void> a(std::string, @@int b[3], @@void (*c)(int), @@auto d, @@const auto& e);"),
    ("A0106", "ACTOR Future<Void> a(int a,@@);"),
    ("A0106", "ACTOR Future<Void> a(int a, @@...);"),
    ("A0106", "ACTOR Future<Void> a(int b @@=);"),
    ("A0107", "ACTOR Future<Void> a(@@std::string& b, @@T const&& c, const T& d, T const& e, const char* g);"),
    ("A0107", "ACTOR Future<Void> a(@@const char*& b);"),
    ("A0120", '@@TEST_CASE("a");'),
    ("A0120", 'TEST_CASE("a") { return Void(); } @@TEST_CASE("b") { return Void(); }'),
    ("A0120", 'class X { @@TEST_CASE("a") { return Void(); } };'),
    ("A0120", '@@BENCHMARK_CASE("a") { return Void(); }'),
    ("A0120", 'BENCHMARK_CASE("a", @@1 + 2) { return Void(); }'),
    ("A0120", '@@BENCHMARK_CASE("a", n);'),
    ("A0120", 'struct X { @@BENCHMARK_CASE("a", n, 1) { return Void(); } };'),
    ("A0121", "DESCR @@union X { int a; };"),
    ("A0121", "DESCR struct X { @@int a, b; int c; @@int d[3]; };"),
    ("A0004", "ACTOR[]@@({}"),
    ("A0122", "ACTOR void a(Future<Void> f) {\n    @@ACTOR void b(int x) { wait(x); }\n    wait(f);\n}"),
    ("A0122", "ACTOR void a(Future<Void> f) {\n    @@ACTOR Future<int> b(int x);\n    wait(f);\n}"),
    ("A0123", "#define X(name) @@ACTOR Future<Void> name() { return Void(); }"),
    ("A0124", "@@UNCANCELLABLE Future<Void> a();"),
    ("A0503", "ACTOR Future<Void> a(Future<Void> f) { wait(f); @@}"),
    ("A0503", "ACTOR Future<int> a(Future<Void> f) { if (x) { wait(f); return 1; } else { g(); } @@}"),
    ("A0503", "ACTOR Future<int> a(Future<Void> f) { loop { wait(f); break; } @@}"),
    ("A0503", "ACTOR Future<int> a(Future<Void> f) { wait(f); switch (x) { case 1: return 1; } @@}"),
    ("A0503", "ACTOR Future<int> a(Future<Void> f) { switch (x) { case 1: wait(f); break; default: return 1; } @@}"),
    ("A0503", "ACTOR Future<int> a(Future<Void> f) { do { wait(f); if (x) continue; return 1; } while (x); @@}"),
    (
        "A0503",
        "ACTOR Future<int> a(Future<Void> f) { try { wait(f); return 1; } catch (T&) { } catch (...) { throw; } @@}",
    ),
    ("A0503", "ACTOR Future<int> a(Future<Void> f) { try { wait(f); return 1; } catch (...) { } @@}"),
    ("A0504", "ACTOR void a(Future<Void> f) { wait(f); @@return Void(); }"),
    ("A0506", "ACTOR Future<Void> @@a() { return Void(); }"),
]


@pytest.mark.parametrize(("code", "text"), [(code, in_actor(body)) for code, body in IN_A_BODY] + WHOLE_FILES)
def test_each_fault_is_reported_once_and_at_its_place(code: str, text: str) -> None:
    text, offsets = unmarked(text)
    assert reported(text) == [(code, offset) for offset in offsets]


def test_every_code_has_a_test() -> None:
    advice = {code for code, _ in test_advice.IN_A_BODY + test_advice.WHOLE_FILES}
    assert {code for code, _ in IN_A_BODY + WHOLE_FILES} | advice == {fault.code for fault in OF_COMPILER}


@pytest.mark.parametrize("name", ["Futrue", "future", "Futur", "Futures", "Futere", "std::future"])
def test_a_misspelt_future_is_spelt_right_and_not_wrapped(name: str) -> None:
    _, source, diagnostics = analysed(f"ACTOR {name}<int> a(int b);")
    (found,) = diagnostics
    assert found.hint == "write `Future<int>`"
    assert [fix.apply(source.text) for fix in found.fixes] == ["ACTOR Future<int> a(int b);"]


@pytest.mark.parametrize("type_", ["std::vector<int>", "Feature<int>"])
def test_another_type_is_what_the_future_is_of(type_: str) -> None:
    _, _, diagnostics = analysed(f"ACTOR {type_} a(int b);")
    assert [found.hint for found in diagnostics] == [f"write `Future<{type_}>`"]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (
            "ACTOR template <class T, std::enable_if_t<true, int> = 0> Future<Void> a(T b);",
            "std::enable_if_t<true, int> NAME",
        ),
        ("ACTOR template <class> Future<Void> a(int b);", "write `class NAME`"),
        ("ACTOR RESULT a(int b);", "a macro"),
        ("ACTOR T a(int b);", "write `Future<T>`"),
        ("ACTOR inline Future<Void> a(int b);", "in a header that several files include write `static`"),
    ],
)
def test_a_hint_fits_what_is_written(text: str, hint: str) -> None:
    [found] = analysed(text)[2]
    assert hint in found.hint
    assert not ("macro" in hint and found.fixes)


SOUND = [
    "try { wait(f); } catch (Error& e) { if (e.code() == 1) throw; wait(f); }",
    "try { g(); } catch (Error& e) { if (x) { wait(f); } else { throw; } }",
    "try { g(); } catch (Error& e) { try { wait(f); } catch (Error& e) { throw; } }",
    "try { g(); } catch (Error& e) { try { h(); } catch (Error&) { } throw; }",
    "state std::vector<int> v; for (auto& [a, b] : v) { wait(f); }",
    "for (auto x : g()) { h(x); }",
    "for (int i = 0; i < 3; i++) { if (i == 1) continue; g(i); }",
    "loop { for (auto x : v) { switch (x) { case 1: continue; } g(x); } wait(f); break; }",
    "switch (x) { case 1: { auto l = [] { return 1; }; break; } default: throw io_error(); }",
    "while (x) { wait(f); }",
    "switch (x) { case 1: try { g(); } catch (...) { throw; } }",
    "try { g(); } catch (Error& e) { wait(f); throw; }",
    "try { g(); } catch (T) { wait(f); } catch (const Error& e) { loop { wait(f); if (x) throw; } } catch (...) { }",
    "switch (x) { case 1: wait(f); break; case 2: return Void(); default: throw io_error(); }",
    "loop { switch (x) { case 1: wait(f); continue; default: break; } break; }",
    "switch (x) { default: wait(f); [[fallthrough]]; case a ? 1 : b: case X::Y: case 'a' ... 'z': g(); }",
    "switch (x) { case 1: { auto l = [](int y) { switch (y) { case 2: return 1; } return 2; }; wait(f); } }",
    "switch (x) { case 1: { struct S { S() = default; }; case 2: g(); } }",
    "do { wait(f); if (x) continue; } while (y);",
    "do g(); while (y); do if (x) wait(f); else break; while (true);",
    "for (auto x : g()) wait(x);",
    "for (auto& [a, b] : m->all(f)) wait(f);",
    "int n = 1; for (auto x : items.n) wait(f);",
    "int n = 1; for (auto x : g(n)) h(x);",
    "int n = 1; for (auto x : v | each([&](auto& m, int n) { return m + n; })) wait(f);",
    "for (auto&& x : g()) wait(f);",
    "for (T&& x : g()) wait(f);",
    "for (n = 1; auto x : g()) wait(f);",
    "for (state V v = g(); auto x : v) wait(f);",
    "for (int n = 1; auto x : g(n)) h(x);",
    "for (; T x = g();) wait(f);",
    "state T& x = g(); state const T&& y = h(); state const int v[2] = {1, 2}; k(v);",
    'wait(f); state const T x = g(); state T* const y = &z; state int v[2][3]; state char w[4] = "abc"; k(y, v, w);',
    "state std::function<auto(int) -> int> g; state [[maybe_unused]] int x;",
    "state const T x; state std::string const y; state const int* z; state const int n{}; k(x, y, z, n);",
    "static auto n = 0; T t; static auto m = 1; wait(f); while (x) { static auto k = 1; wait(f); }",
    "T t; while (x) { static constexpr auto n = 0; static std::map<int, int> m; static const T& r = h(); wait(f); }",
    "if (a) { return Void(); } else { throw io_error(); }",
    "auto l = []() -> Task<int> { co_return co_await g(); };",
    "struct Local { int get() { return 1; } } local;",
    "int f = 1;",
    "auto l = [] { extern int y; return y; }; struct Local { void get() { extern int y; } };",
    "g(state); int stateful = 1;",
    "condition.wait(lock); object->wait(3); std::this_thread::wait(1);",
    "loop().stop(); choose = 1; when->x();",
]


@pytest.mark.parametrize("body", SOUND)
def test_what_must_not_be_reported(body: str) -> None:
    assert reported(in_actor(body)) == []


ENDS = [
    "loop { wait(f); }",
    "while (true) { wait(f); }",
    "while (1) wait(f);",
    "for (;;) { wait(f); for (;;) { break; } }",
    "wait(f); throw io_error();",
    "choose { when(wait(f)) { return 1; } when(wait(g)) { throw e; } }",
    "try { wait(f); return 1; } catch (Error& e) { throw; }",
    "wait(f); if (x) return 1; else { return 2; }",
    "wait(f); switch (x) { case 1: return 1; default: return 2; }",
    "switch (x) { case 1: wait(f); default: loop { wait(f); } }",
    "do { wait(f); if (x) continue; return 1; } while (true);",
    "do { wait(f); return 1; } while (x);",
    "try { wait(f); return 1; } catch (T& x) { return 2; } catch (Error& e) { throw; }",
    "{ wait(f); { return 1; } }",
]


@pytest.mark.parametrize("body", ENDS)
def test_an_actor_that_cannot_reach_its_end_needs_no_return_there(body: str) -> None:
    assert reported(f"ACTOR Future<int> a(Future<Void> f) {{ {body} }}") == []


def test_a_fault_hides_none_in_later_statements_and_actors() -> None:
    text, offsets = unmarked(
        """
        ACTOR Future<Void> a(Future<Void> f, @@int& x) {
            @@int y[2] = wait(f);
            if (@@wait(f)) {
                @@state int v[];
                g(1@@
            }
            loop @@choose wait(f);
            @@break;
            return Void();
        }
        ACTOR @@int b(Future<Void> f) { g(@@wait(f)); }
        ACTOR Future<Void> c(Future<Void> f) { if (x) @@break; wait(f); @@}
        """.replace("g(1@@", "g(1)@@")
    )
    # The two heads are wrong, so that only the form of these actors' statements is checked, not their control flow.
    offsets = [offset for offset in offsets if not text.startswith("break;\n            return", offset)]
    assert [offset for _, offset in reported(text)] == offsets


@pytest.mark.parametrize(
    "text",
    [
        "struct state { int x; }; state x; state y = {1}; state* z; state& g(state a, state* b);",
        "state X::y = 1; state X::g() { state s; state(s); return s; }",
        "void g(int state) { state = 1; if (state) { state++; } state.x(); state: goto state; }",
        "namespace state { int x; } int y = state::x; template <class T> state operator<(state, T);",
        "ACTOR Future<Void> a(IN OUT X b, Future<int> const c, long long d, struct X e, std::map<X, X> const* g);",
        "TEST_CASE(NAME) { wait(delay(1)); return Void(); }",
        'static const char* name = "/a"; TEST_CASE(name) { wait(delay(1)); return Void(); }',
        'TEST_CASE("/a" SUFFIX) { wait(delay(1)); return Void(); }',
    ],
)
def test_words_that_mean_something_else(text: str) -> None:
    assert reported(text) == []
