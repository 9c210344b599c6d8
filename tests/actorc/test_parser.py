"""The tree: what each construct becomes, where statements end, and what they declare."""

from __future__ import annotations

import pytest
from front import actor, plains, sound, statements

from actorc.source import Source
from actorc.syntax import (
    Actor,
    Block,
    Case,
    CatchKind,
    Choose,
    Code,
    DoWhile,
    For,
    If,
    Loop,
    Plain,
    RangeFor,
    Result,
    Return,
    StateDecl,
    StateForm,
    Switch,
    Throw,
    Try,
    Wait,
    walk,
)


def declared(text: str) -> tuple[Actor, list[str]]:
    """The first actor, and its parameters as (type, name, default)."""
    file, source = sound(text)
    found = file.actors[0]
    parts = []
    for parameter in found.parameters:
        default = "" if parameter.default is None else f" = {source[parameter.default.span]}"
        how = ("&&" if parameter.is_rvalue else "") + ("..." if parameter.is_pack else "")
        parts.append(f"{source[parameter.type.span]}{how}|{parameter.name}{default}")
    return found, parts


# ---------------------------------------------------------------------------------------------------------------
# Declarations


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ("", []),
        ("void", []),
        ("int a, std::map<int, long> b", ["int|a", "std::map<int, long>|b"]),
        ("const T& a, T const& b, const T c, T const d", ["T|a", "T|b", "T|c", "T|d"]),
        ("const char* a, char const* const& b, T* const c", ["const char*|a", "char const*|b", "T*|c"]),
        ("std::function<void(int, char)> a", ["std::function<void(int, char)>|a"]),
        ("T a = {1, 2}, U b = f<int, long>(3)", ["T|a = {1, 2}", "U|b = f<int, long>(3)"]),
        ("bool a = (1 < 2), int b = 3", ["bool|a = (1 < 2)", "int|b = 3"]),
        ("std::vector<std::vector<int>> a = std::vector<std::vector<int>>()",
         ["std::vector<std::vector<int>>|a = std::vector<std::vector<int>>()"]),
        ("[[maybe_unused]] unsigned long a", ["unsigned long|a"]),
        ("struct X* a, typename T::type const& b", ["struct X*|a", "typename T::type|b"]),
        ("std::function<int(T&)> const& a", ["std::function<int(T&)>|a"]),
        ("F<[] { return 1; }> a", ["F<[] { return 1; }>|a"]),
        ("T&& a, std::unique_ptr<T>&& b = {}", ["T&&|a", "std::unique_ptr<T>&&|b = {}"]),
        ("int, T const&, a::B, T* = nullptr, std::vector<T>&&, unsigned long",
         ["int|unnamed1__", "T|unnamed2__", "a::B|unnamed3__", "T*|unnamed4__ = nullptr", "std::vector<T>&&|unnamed5__",
          "unsigned long|unnamed6__"]),
        ("Ts... a, Future<Us> const&... b, Vs&&... c, Ws...",
         ["Ts...|a", "Future<Us>...|b", "Vs&&...|c", "Ws...|unnamed4__"]),
    ],
)  # fmt: skip
def test_parameters(parameters: str, expected: list[str]) -> None:
    assert declared(f"ACTOR Future<Void> f({parameters});")[1] == expected


@pytest.mark.parametrize(
    ("head", "result", "written"),
    [
        ("Future<Void>", "Void", "Future<Void>"),
        ("flow::Future< std::map<int, std::vector<int>> >", "std::map<int, std::vector<int>>", ""),
        ("::flow::Future<T>", "T", "::flow::Future<T>"),
        ("void", None, "void"),
    ],
)
def test_return_types(head: str, result: str | None, written: str) -> None:
    file, source = sound(f"ACTOR {head} f();")
    found = file.actors[0]
    assert found.return_text == (written or head)
    assert (found.result_type and source[found.result_type.span]) == result


def test_every_part_of_a_head() -> None:
    text = (
        "ACTOR template <class T, int N = (1 > 2), class... Ts> [[a, b]] [[flow_allow_discard]] static UNCANCELLABLE "
        "Future<T> Outer::X::f(T a);"
    )
    file, source = sound("x " + text + " y")
    found = file.actors[0]
    assert source[found.span] == text
    assert found.template is not None
    parameters = [(parameter.text, parameter.name, parameter.is_pack) for parameter in found.template]
    assert parameters == [("class T", "T", False), ("int N", "N", False), ("class... Ts", "Ts", True)]
    assert found.attributes == ("[[a, b]]", "[[flow_allow_discard]]")
    assert (found.is_static, found.is_uncancellable) == (True, True)
    assert (found.qualifier, found.name, found.class_stem) == (("Outer", "X"), "f", "Outer_X_F")
    assert source[found.name_span] == "f"
    assert found.body is None


def test_actors_are_found_wherever_they_stand() -> None:
    text = """
        // ACTOR Future<Void> no();
        #define NO "ACTOR Future<Void> no();"
        const char* no = "ACTOR Future<Void> no();" R"(ACTOR)";
        ACTOR Future<Void> a(); SWIFT_ACTOR Future<Void> b();
        TEST_CASE("t") { wait(x); return Void(); } int TEST_CASE; int DESCR = 1;
        BENCHMARK_CASE("b", n, 1) { wait(x); return Void(); } int BENCHMARK_CASE;
        int f() { ACTOR_BUT_NOT x; return 1'000; } ACTOR void c();
    """
    assert [found.name for found in sound(text)[0].actors] == ["a", "b", "flowTestCase6", "flowBenchmarkCase7", "c"]


def test_text_outside_actors_need_not_balance() -> None:
    text = "#if A\nvoid f() {\n#else\nint g() { (\n#endif\n}\nACTOR Future<Void> a();\n) ] } 'don't \nACTOR void b();"
    file, _ = sound(text)
    assert [(found.name, found.in_namespace) for found in file.actors] == [("a", False), ("b", False)]


@pytest.mark.parametrize(
    ("before", "classes", "in_namespace"),
    [
        ("", (), False),
        ("namespace a { ", (), True),
        ("class A { struct B : C<D>, E { ", ("A", "B"), True),
        ("class A { }; ", (), False),
        ("struct [[x]] alignas(8) A final { ", ("A",), True),
        ("class EXPORT A { ", ("A",), True),
        ("struct A::B { ", ("A", "B"), True),
        ("template <> struct A<int, B<C>> { ", ("A",), True),
        ("template <class T> class A : B { ", ("A",), True),
        ("enum class A { b }; ", (), False),
        ("enum class A { ", (), True),
        ("struct A f() { ", (), True),
        ("struct A a = { ", (), True),
        ("friend class A; template <class> struct B; { ", (), True),
        ("union A { ", ("A",), True),
        ("struct A {\n#if X\n int f() {\n#else\n int g() { { \n#endif\n } ", ("A",), True),
        ("#if 0\nstruct A {\n#else\nstruct B {\n#endif\n", ("B",), True),
        ("#if 0 // old\nstruct A {\n#if X\n}\n#else\n{\n#endif\n#elif Y\nclass B { {\n#else\n#endif\n", ("B",), True),
        ("# if false\n{ {\n#endif\nstruct A {\n#if 0\n}\n#endif\n", ("A",), True),
        ("#if 01\nstruct A {\n#endif\n", ("A",), True),
    ],
)
def test_enclosing_classes(before: str, classes: tuple[str, ...], in_namespace: bool) -> None:
    file, _ = sound(before + "ACTOR Future<Void> f();")
    assert [(found.enclosing_classes, found.in_namespace) for found in file.actors] == [(classes, in_namespace)]


def test_an_actor_behind_if_0_is_no_actor() -> None:
    file, _ = sound("#if 0\nACTOR nonsense { wait }\n#if X\nACTOR void f(\n#endif\n#else\nACTOR void g();\n#endif\n")
    assert [actor.name for actor in file.actors] == ["g"]


def test_indices_number_definitions_of_one_name_and_declarations_by_order() -> None:
    body = "(Future<Void> x) { wait(x); }"
    text = (
        "ACTOR void f(); ACTOR void f(int a); struct X { ACTOR void f(X* x); };"
        f"ACTOR void f{body} ACTOR void X::f{body} ACTOR void F{body} ACTOR void g{body}"
    )
    found = [(actor.name, actor.body is None, actor.index) for actor in sound(text)[0].actors]
    assert found == [
        ("f", True, 0), ("f", True, 1), ("f", True, 0), ("f", False, 0), ("f", False, 0), ("F", False, 1),
        ("g", False, 0),
    ]  # fmt: skip


# ---------------------------------------------------------------------------------------------------------------
# Statements


@pytest.mark.parametrize(
    "statement",
    [
        "auto n = V{1, 2}.size();",
        "int l = [] { return 1; }();",
        "x = c ? T{} : U{};",
        "g([&](int a) { h(a); if (a) { return 1; } });",
        "[x = 1] { g(); }();",
        "T v{1};",
        "T v = {1};",
        "struct Q { int a; void b() { return; } } q;",
        "enum class E : int { a };",
        "switch (x) { case 1: while (x) { case 2: g(); } }",
        "EACH(a, b) { g(); }",
        "for_each(a, b);",
        "static_assert(sizeof(T) == 4, \"; }\");",
        "(void)x;",
        "*p = 3;",
        "::g();",
        "g(a < b, c > d);",
        "new (p) T{1};",
        "[[maybe_unused]] int x;",
        'log("a")\n  .detail("b", 1);',
        "auto f = [](auto x) -> std::pair<int, T> { return {1, x}; };",
        "auto f = []<class T>(T x) mutable noexcept { return x; };",
        "condition.wait(lock);",
        "x = [] { struct { int wait(int); } a; return a.wait(1); }();",
    ],
)  # fmt: skip
def test_a_plain_statement_is_not_cut(statement: str) -> None:
    assert plains(f"g();\n{statement}\nh();") == ["g();", statement, "h();"]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("int a;", "a"),
        ("unsigned long long a = 1, *b, c[3];", "a b c"),
        ("const std::size_t a = 1;", "a"),
        ("std::string a;", "+a"),
        ("std::string a = b, *c, &d = e;", "+a c d"),
        ("std::map<int, std::vector<int>> a(b, c);", "+a"),
        ("T a{1};", "+a"),
        ("T* a = b;", "a"),
        ("const T& a = b;", "a"),
        ("const T& a = g();", "+a"),
        ("auto&& a = T{};", "+a"),
        ("auto a = g();", "+a"),
        ("auto& a = b;", "a"),
        ("auto* a = g();", "a"),
        ("const auto& a = b[1];", "a"),
        ("auto [a, b] = g();", "+a +b"),
        ("auto& [a, b] = c;", "a b"),
        ("static T a;", "a"),
        ("constexpr T a{};", "a"),
        ("std::uint8_t a[4];", "a"),
        ("decltype(b) a = b;", "+a"),
        ("typename T::type a;", "+a"),
        ("::ns::T a;", "+a"),
        ("struct T a;", "+a"),
        ("enum E a;", "a"),
        ("using A = B;", "A"),
        ("typedef B A;", "A"),
        ("using namespace n;", ""),
        ("using n::a;", "a"),
        ("struct Q { int a; } b, *c;", "Q +b c"),
        ("struct Q;", "Q"),
        ("void (*a)(int) = b;", "a"),
        ("int T::*a = b;", "a"),
        ("std::unique_lock<M> a(b);", "+a"),
        ("std::integral auto a = b;", "+a"),
        ("[[maybe_unused]] T a;", "+a"),
        ("a * b;", "b"),
        ("a = b;", ""),
        ("a(b);", ""),
        ("a(*b);", ""),
        ("a(&b);", ""),
        ("a<b>(c);", ""),
        ("a.b(c);", ""),
        ("n::a(b);", ""),
        ("a && b();", ""),
        ("a << b;", ""),
        ("a < b;", ""),
        ("++a;", ""),
        ("delete a;", ""),
        ("a->b = c;", ""),
        ("a[1] = c;", ""),
        ("int(a);", ""),
        ("switch (int a = 1) { { case 1: int b; } }", ""),
    ],
)
def test_locals(statement: str, expected: str) -> None:
    """`+` marks a local that may need destruction."""
    [found], _ = statements(statement)
    assert isinstance(found, Plain)
    assert " ".join(("" if local.trivial else "+") + local.name for local in found.locals) == expected


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("state int x;", ("int", "x", StateForm.NONE, None)),
        ("state unsigned long x;", ("unsigned long", "x", StateForm.NONE, None)),
        ("state T x = {1, 2};", ("T", "x", StateForm.ASSIGN, "{1, 2}")),
        ("state T x = a < b ? c : d;", ("T", "x", StateForm.ASSIGN, "a < b ? c : d")),
        ("state T x(1, 2);", ("T", "x", StateForm.PAREN, "1, 2")),
        ("state L::R x(*y);", ("L::R", "x", StateForm.PAREN, "*y")),
        ("state T x();", ("T", "x", StateForm.PAREN, None)),
        ("state T x{};", ("T", "x", StateForm.BRACE, None)),
        ("state T x{ 1 };", ("T", "x", StateForm.BRACE, "1")),
        ("state std::map<int, T> x = M<int, T>();", ("std::map<int, T>", "x", StateForm.ASSIGN, "M<int, T>()")),
        ("state std::function<void(int)> x = [=](int a) { g(a, 1); };",
         ("std::function<void(int)>", "x", StateForm.ASSIGN, "[=](int a) { g(a, 1); }")),
        ("state std::vector<T>::iterator x;", ("std::vector<T>::iterator", "x", StateForm.NONE, None)),
        ("state decltype(g()) x = g();", ("decltype(g())", "x", StateForm.ASSIGN, "g()")),
        ("state REPLY_TYPE(T) x = g();", ("REPLY_TYPE(T)", "x", StateForm.ASSIGN, "g()")),
        ("state REPLY_TYPE(T) x;", ("REPLY_TYPE(T)", "x", StateForm.NONE, None)),
        ("state T& x = y;", ("T&", "x", StateForm.ASSIGN, "y")),
        ("state const char* x;", ("const char*", "x", StateForm.NONE, None)),
        ("state ::n::T x;", ("::n::T", "x", StateForm.NONE, None)),
    ],
)  # fmt: skip
def test_state_declarations(statement: str, expected: tuple[str, str, StateForm, str | None]) -> None:
    [found], source = statements(statement)
    assert isinstance(found, StateDecl)
    init = None if found.init is None else source[found.init.span]
    assert (source[found.type.span], found.name, found.form, init) == expected
    assert source[found.span] == statement
    assert found.leading


def test_leading_states_end_at_the_first_other_statement() -> None:
    text = "state int a; state int b = 1;; state int c; int x; state int d; { state int e; }"
    found, _ = actor(text)
    assert found.body is not None
    leading = {node.name: node.leading for node in walk(found.body) if isinstance(node, StateDecl)}
    assert leading == {"a": True, "b": True, "c": True, "d": False, "e": False}
    found, _ = actor("state int a = wait(f); state int b;")
    assert found.body is not None
    assert [node.leading for node in walk(found.body) if isinstance(node, StateDecl)] == [False]


@pytest.mark.parametrize(
    ("statement", "operand", "result"),
    [
        ("wait(f);", "f", None),
        ("wait ( g(1, h<int, T>(2)) ) ;", "g(1, h<int, T>(2))", None),
        ("waitNext(s);", "s", None),
        ("T x = wait(f);", "f", "LOCAL VALUE T x"),
        ("M(T) x = wait(f);", "f", "LOCAL VALUE M(T) x"),
        ("state T x = waitNext(s);", "s", "STATE VALUE T x"),
        ("state const T x = wait(f);", "f", "STATE VALUE T x"),
        ("const std::vector<T>& x = wait(f);", "f", "LOCAL REFERENCE std::vector<T> x"),
        ("std::pair<A, B> const& x = wait(f);", "f", "LOCAL REFERENCE std::pair<A, B> x"),
        ("const T x = wait(f);", "f", "LOCAL REFERENCE T x"),
        ("T&& x = wait(f);", "f", "LOCAL OWN T x"),
        ("const T* x = wait(f);", "f", "LOCAL VALUE const T* x"),
        ("T* const& x = wait(f);", "f", "LOCAL REFERENCE T* x"),
        ("int wait_ = wait(f);", "f", "LOCAL VALUE int wait_"),
        ("auto x = wait(f);", "f", "LOCAL VALUE - x"),
        ("auto& x = wait(f);", "f", "LOCAL REFERENCE - x"),
        ("const auto x = wait(f);", "f", "LOCAL REFERENCE - x"),
        ("auto const& x = waitNext(s);", "s", "LOCAL REFERENCE - x"),
        ("auto&& x = wait(f);", "f", "LOCAL OWN - x"),
        ("auto* x = wait(f);", "f", "LOCAL VALUE - x"),
        ("auto [a, b] = wait(f);", "f", "UNPACK VALUE - a b"),
        ("const auto& [a, b, c] = wait(f);", "f", "UNPACK REFERENCE - a b c"),
        ("x = wait(f);", "f", "ASSIGN VALUE x"),
        ("*x = wait(f);", "f", "ASSIGN VALUE *x"),
        ("self->a.b[3] = wait(f);", "f", "ASSIGN VALUE self->a.b[3]"),
        ("at(x, y) = waitNext(s);", "s", "ASSIGN VALUE at(x, y)"),
        ("T::x = wait(f);", "f", "ASSIGN VALUE T::x"),
        ("return wait(f);", "f", "RETURN VALUE -"),
        ("wait(condition.wait(g));", "condition.wait(g)", None),
    ],
)
def test_waits(statement: str, operand: str, result: str | None) -> None:
    [found], source = statements(f"if (q) {statement}")
    assert isinstance(found, If)
    [found] = found.then.statements
    assert isinstance(found, Wait)
    assert source[found.span] == statement
    assert source[found.wait.operand.span] == operand
    assert found.wait.is_stream == ("waitNext" in statement)
    assert found.returns == statement.startswith("return")
    assert _described(found.wait.result, source) == result


def _described(result: Result | None, source: Source) -> str | None:
    if result is None:
        return None
    text = result.target or result.type
    words = [result.kind.name, result.hold.name, source[text.span] if text else "-", *result.names]
    return " ".join(words)


def only(block: Block) -> object:
    [statement] = block.statements
    return statement


def test_sub_statements_need_neither_braces_nor_blanks() -> None:
    [found], source = statements("if(x)return Void();else if(y){throw e;}else;")
    assert isinstance(found, If)
    assert isinstance(only(found.then), Return)
    assert source[found.then.span] == "return Void();"
    assert found.orelse is not None
    inner = only(found.orelse)
    assert isinstance(inner, If)
    assert isinstance(only(inner.then), Throw)
    assert inner.orelse is not None
    assert inner.orelse.statements == ()


def test_attributes_before_statements() -> None:
    [found], _ = statements("if constexpr (x) [[likely]] { [[unlikely]] return Void(); }")
    assert isinstance(found, If)
    assert found.is_constexpr
    assert isinstance(only(found.then), Return)


def test_loops() -> None:
    found, source = statements(
        "loop wait(f); for (state int i = 0; i < 3; i++) { wait(f); }".replace("loop", "while (x)")
        + "for (;;) { break; } for (auto& [a, b] : m) { g(); } loop { break; }"
    )
    _, waiting, endless, ranged, plain_loop = found
    assert isinstance(waiting, For)
    assert isinstance(waiting.init, StateDecl)
    assert source[waiting.init.span] == "state int i = 0;"
    assert isinstance(endless, For)
    assert (endless.init, endless.condition, endless.step) == (None, None, None)
    assert isinstance(ranged, RangeFor)
    assert (source[ranged.decl.span], source[ranged.range.span]) == ("auto& [a, b]", "m")
    assert [local.name for local in ranged.decl_locals] == ["a", "b"]
    assert isinstance(plain_loop, Loop)


@pytest.mark.parametrize(
    ("clause", "name"),
    [
        ("(Error& e)", "e"),
        ("(Error &)", None),
        ("(...)", None),
        ("(const Error& e)", "e"),
        ("(flow::Error const& e)", "e"),
    ],
)
def test_catch_clauses(clause: str, name: str | None) -> None:
    [found], source = statements(f"try {{ g(); }} catch {clause} {{ h(); }}")
    assert isinstance(found, Try)
    assert found.catches[0].name == name
    assert source[found.catches[0].head] == f"catch {clause}"


@pytest.mark.parametrize(
    ("clause", "kind", "type_", "name"),
    [
        ("const Error& e", CatchKind.ERROR, "const Error&", "e"),
        ("Error", CatchKind.ERROR, "Error", None),
        ("::flow::Error const e", CatchKind.ERROR, "::flow::Error const", "e"),
        ("std::exception& e", CatchKind.OTHER, "std::exception&", "e"),
        ("const char* what", CatchKind.OTHER, "const char*", "what"),
        ("X<int>::Error&", CatchKind.OTHER, "X<int>::Error&", None),
        ("unsigned long", CatchKind.OTHER, "unsigned long", None),
        ("...", CatchKind.ALL, None, None),
    ],
)
def test_what_a_clause_catches(clause: str, kind: CatchKind, type_: str | None, name: str | None) -> None:
    [found], source = statements(f"try {{ g(); }} catch ({clause}) {{ h(); }}")
    assert isinstance(found, Try)
    first = found.catches[0]
    assert (first.kind, first.name) == (kind, name)
    assert (None if first.type is None else source[first.type.span]) == type_
    assert source[first.span] == f"catch ({clause}) {{ h(); }}"


def test_a_label_belongs_to_the_statement_behind_it() -> None:
    [found, after], source = statements("if (x) here: there: wait(f); g();")
    assert isinstance(found, If)
    assert [source[inner.span] for inner in found.then.statements] == ["here:", "there:", "wait(f);"]
    assert source[after.span] == "g();"


def test_switch() -> None:
    [found], source = statements(
        "switch (T x = g(); x) { h(); case 1: case a ? 2 : 3: wait(f); [[fallthrough]]; "
        "[[likely]] default: switch (y) { case B::c: break; } }"
    )
    assert isinstance(found, Switch)
    assert source[found.condition.span] == "T x = g(); x"
    kinds = [type(statement) for statement in found.body.statements]
    assert kinds == [Plain, Case, Case, Wait, Plain, Case, Switch]
    labels = [inner for inner in walk(found) if isinstance(inner, Case)]
    assert [source[label.value.span] if label.value else "" for label in labels] == ["1", "a ? 2 : 3", "", "B::c"]
    assert source[labels[1].span] == "case a ? 2 : 3:"


def test_do() -> None:
    [first, second], source = statements("do { g(); } while (x < 3); do if (y) wait(f); while (z);")
    assert isinstance(first, DoWhile)
    assert isinstance(second, DoWhile)
    assert source[first.span] == "do { g(); } while (x < 3);"
    assert source[first.condition.span] == "x < 3"
    assert isinstance(second.body.statements[0], If)


def test_range_for_with_an_init_statement() -> None:
    [plain, state, bare], source = statements(
        "for (V v = g(); auto x : v) h(); for (state V w{1}; T&& x : w) wait(f); for (; auto x : a ? b : c) wait(f);"
    )
    assert isinstance(plain, RangeFor)
    assert isinstance(state, RangeFor)
    assert isinstance(bare, RangeFor)
    assert isinstance(plain.init, Code)
    assert isinstance(state.init, StateDecl)
    assert bare.init is None
    assert [source[each.range.span] for each in (plain, state, bare)] == ["v", "w", "a ? b : c"]
    assert [local.name for local in state.decl_locals] == ["x"]


def test_several_states_in_the_header_of_a_loop_stand_before_it() -> None:
    [counted, ranged], source = statements(
        "for (state int a = 1, b{2}; a < b; ++a) wait(f); for (state V v, w = v; auto x : w) wait(f);"
    )
    assert isinstance(counted, Block)
    assert isinstance(ranged, Block)
    [a, b, loop] = counted.statements
    assert [isinstance(each, StateDecl) and (each.name, each.leading) for each in (a, b)] == [
        ("a", False),
        ("b", False),
    ]
    assert isinstance(loop, For)
    assert (loop.init, loop.span) == (None, counted.span)
    assert isinstance(loop := ranged.statements[-1], RangeFor)
    assert (loop.init, source[loop.range.span]) == (None, "w")


def test_choose() -> None:
    [found], source = statements(
        "choose { when(wait(f)) return Void(); when (state T x = wait(g)) {}; when(T y = waitNext(s)) { h(); } }"
    )
    assert isinstance(found, Choose)
    bound = [(when.wait.result.name, when.wait.result.is_state) for when in found.whens if when.wait.result]
    assert bound == [("x", True), ("y", False)]
    assert [source[when.wait.span] for when in found.whens] == ["wait(f)", "state T x = wait(g)", "T y = waitNext(s)"]


@pytest.mark.parametrize(
    ("value", "is_never"),
    [("Never()", True), ("flow::Never()", True), ("Never{}", True), ("Never(1)", False), ("Void()", False)],
)
def test_return_never(value: str, is_never: bool) -> None:
    [found], source = statements(f"if (x) return {value};")
    assert isinstance(found, If)
    returned = only(found.then)
    assert isinstance(returned, Return)
    assert isinstance(returned.value, Code)
    assert (source[returned.value.span], returned.is_never) == (value, is_never)


def test_spans_are_exact_in_text_with_crlf_tabs_and_a_byte_order_mark() -> None:
    body = "ACTOR Future<Void> a(Future<Void> f) {\r\n\twait(f); // ünï\r\n\treturn Void();\r\n}"
    file, source = sound("\ufeff// ü\r\n" + body + "\r\nint x;\r\n")
    assert source[file.actors[0].span] == body


def test_lambdas_that_are_actors() -> None:
    file, source = sound(
        """
        ACTOR Future<int> outer(Future<int> f) {
            auto g = ACTOR [f, &x, y = a + b](int n = 1, T const& t) -> Future<int> {
                auto inner = ACTOR UNCANCELLABLE []() -> void { wait(f); };
                return wait(f);
            };
            call(ACTOR [] { return 1; }, 2);
            return wait(g(1));
        }
        int plain() { return run(ACTOR [f]() -> Future<int> { return wait(f); }); }
        """.replace("ACTOR [] {", "[] {")
    )
    outer, plain = file.actors
    assert (outer.captures, plain.body is not None, plain.lambdas) == (None, True, ())
    [g] = outer.lambdas
    assert source[g.span].startswith("ACTOR [f, &x")
    assert source[g.span].endswith("return wait(f);\n            }")
    assert g.captures is not None
    described = [(each.name, each.is_reference, each.init and source[each.init.span]) for each in g.captures]
    assert described == [("f", False, None), ("x", True, None), ("y", False, "= a + b")]
    assert [parameter.name for parameter in g.parameters] == ["n", "t"]
    assert (g.return_text, g.is_uncancellable) == ("Future<int>", False)
    [inner] = g.lambdas
    assert (inner.captures, inner.result_type, inner.is_uncancellable) == ((), None, True)
    assert plain.captures is not None
    assert [each.name for each in plain.captures] == ["f"]
