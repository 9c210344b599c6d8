"""Calls of actors that run on, wherever they stand, and other uses of actors' names."""

from __future__ import annotations

from pathlib import Path

import pytest
from trees import make, migrate, migrated

INCLUDE = '#include "x.actor.h"\nusing namespace flow;\n'
FREE = "ACTOR UNCANCELLABLE Future<Void> f(int a, int b = 1);\n"
MEMBER = "class X {\npublic:\n    ACTOR UNCANCELLABLE static Future<Void> f(X* self, int a);\n};\n"


def called(folder: Path, declared: str, calls: str, *options: str) -> str:
    """What calls in another, plain file become; `using namespace flow` is understood."""
    files = {"x.actor.h": declared, "b.cpp": INCLUDE + calls}
    after = migrated(folder, files, *options)["b.cpp"]
    return after.removeprefix('#include "x.h"\nusing namespace flow;\n')


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("void g() { f(1); }", "void g() { f(Uncancellable(), 1); }"),
        ("void g() { f(1, 2); }", "void g() { f(Uncancellable(), 1, 2); }"),
        ("void g() { x = ::f(1); }", "void g() { x = ::f(Uncancellable(), 1); }"),
        ("auto x = f<int>(1);", "auto x = f<int>(Uncancellable(), 1);"),
        ("auto x = g(f(1), f( 2 ));", "auto x = g(f(Uncancellable(), 1), f( Uncancellable(), 2 ));"),
        ("auto x = f({1, 2}, [a, b] { c(d, e); });", "auto x = f(Uncancellable(), {1, 2}, [a, b] { c(d, e); });"),
        ("auto x = f(std::map<int, int>(), a < b);", "auto x = f(Uncancellable(), std::map<int, int>(), a < b);"),
        ("Future<Void> g() { return f(1); }", "Future<Void> g() { return f(Uncancellable(), 1); }"),
        ("Future<Void> g() { co_await f(1); }", "Future<Void> g() { co_await f(Uncancellable(), 1); }"),
        ("void g() { f\n(1); }", "void g() { f\n(Uncancellable(), 1); }"),
        ("g() { if (x) f(1); else f(2); }", "g() { if (x) f(Uncancellable(), 1); else f(Uncancellable(), 2); }"),
        ("g() { return a * f(1) & f(2); }", "g() { return a * f(Uncancellable(), 1) & f(Uncancellable(), 2); }"),
        ("void g(int f) {} void h() { f(1); }", "void g(int f) {} void h() { f(Uncancellable(), 1); }"),
        ("void g(int f); void h() { f(1); }", "void g(int f); void h() { f(Uncancellable(), 1); }"),
        ("void g() { { int f = 0; } f(1); }", "void g() { { int f = 0; } f(Uncancellable(), 1); }"),
        ("auto x = a < f(1);", "auto x = a < f(Uncancellable(), 1);"),
    ],
)  # fmt: skip
def test_a_call_says_that_the_actor_runs_on(before: str, after: str, around: Path) -> None:
    assert called(around, FREE, before + "\n") == after + "\n"


@pytest.mark.parametrize(
    "text",
    [
        "void g() { f(); f(1, 2, 3); }",  # other numbers of arguments
        "void g() { f(a < b, c > d, e); }",
        '// f(1)\n/* f(1) */ auto s = "f(1)" R"(f(1))";',
        "void g() { self->f(1); x.f(1); this->f(1); }",  # members, and the actor is none
        "struct Y { int f(int x); Foo* f(int x, int y) { return 0; } };",
        "Thing f(1);",  # a variable
        "void g() { f(Uncancellable(), 1); f(flow::Uncancellable{}, 1); }",
        "void g() { ff(1); f_(1); }",
        "#define OTHER g(1)",
        "void g() { auto f = [](int x) { return x; }; { f(1); } }",
        "void g(std::function<void(int)> f) { f(1); }",
        "struct Y { void g() { f(1); } void f(int x) {} };",  # the class has one
        "struct Y { std::function<void(int)> f; void g() { f(1); } };",
    ],
)
def test_what_is_no_call_of_it_stays(text: str, around: Path) -> None:
    assert called(around, FREE, text + "\n") == text + "\n"


def test_calls_in_actors_and_in_the_file_itself(around: Path) -> None:
    text = """\
using namespace flow;
ACTOR UNCANCELLABLE Future<Void> f() { f(); return Void(); }
ACTOR Future<Void> g() { wait(f()); wait(g()); return Void(); }
void h() { f(); }
"""
    assert migrated(around, {"a.actor.cpp": text})["a.cpp"] == (
        """\
using namespace flow;
Future<Void> f(Uncancellable) { f(Uncancellable()); return Void(); }
Future<Void> g() { co_await (f(Uncancellable())); co_await (g()); return Void(); }
void h() { f(Uncancellable()); }
"""
    )


def test_the_name_is_spelled_in_full_where_flow_is_not_used(around: Path) -> None:
    include = '#include "x.actor.h"\n'
    files = {"x.actor.h": "namespace flow { " + FREE + "}\n", "b.cpp": include + "auto x = flow::f(1);\n"}
    after = migrated(around, files)["b.cpp"]
    assert after == '#include "x.h"\nauto x = flow::f(flow::Uncancellable(), 1);\n'
    (around / "x.h").unlink()
    files = {"x.actor.h": FREE, "c.cpp": include + "auto x = f(1);\n"}
    after = migrated(around, files, "--target=foundationdb")["c.cpp"]
    assert after == '#include "x.h"\nauto x = f(Uncancellable(), 1);\n'


def test_void_actors_change_for_foundationdb_only(around: Path) -> None:
    void = "ACTOR void f(int a);\nnamespace ns { ACTOR void g(); }\nACTOR void ns::g() {}\n"
    calls = "void h() { f(1); g(); }\n"
    after = "void h() { (void)f(Uncancellable(), 1); (void)g(Uncancellable()); }\n"
    assert called(around, void, calls, "--target=foundationdb") == after
    (around / "x.h").unlink()
    assert called(around, void, calls) == calls


def test_default_arguments_stand_at_one_declaration_and_hold_for_all(around: Path) -> None:
    definition = "ACTOR UNCANCELLABLE Future<Void> f(int a, int b) { return Void(); }\n"
    files = {"x.actor.h": FREE, "x.actor.cpp": definition, "b.cpp": INCLUDE + "auto x = f(1);\n"}
    assert migrated(around, files)["b.cpp"].endswith("auto x = f(Uncancellable(), 1);\n")


@pytest.mark.parametrize(
    ("declared", "defined", "after", "call"),
    [
        ("", "UNCANCELLABLE ", "Future<Void> f(flow::Uncancellable, int a);", "f(flow::Uncancellable(), 1)"),
        ("UNCANCELLABLE ", "", "Future<Void> f(int a);", "f(1)"),
    ],
)
def test_the_definition_says_whether_an_actor_runs_on(
    declared: str, defined: str, after: str, call: str, around: Path
) -> None:
    files = {
        "x.actor.h": f"ACTOR {declared}Future<Void> f(int a);\nclass Y {{ ACTOR static Future<Void> f(int a); }};\n",
        "x.actor.cpp": f"ACTOR {defined}Future<Void> f(int a) {{ return Void(); }}\n",
        "y.actor.cpp": "ACTOR Future<Void> Y::f(int a) { return Void(); }\n",
        "b.cpp": '#include "x.actor.h"\nauto x = f(1);\n',
    }
    found = migrated(around, files)
    assert found["x.h"].splitlines()[-2:] == [after, "class Y { static Future<Void> f(int a); };"]
    assert found["b.cpp"] == f'#include "x.h"\nauto x = {call};\n'


def test_a_pack_takes_any_number_of_arguments(around: Path) -> None:
    pack = "ACTOR template <class... Ts> UNCANCELLABLE Future<Void> f(int a, Ts... more);\n"
    assert called(around, pack, "auto x = f(1, 2, 3) + f();\n") == "auto x = f(Uncancellable(), 1, 2, 3) + f();\n"


def test_a_static_actor_is_seen_in_its_file_only(around: Path) -> None:
    actor = "ACTOR static UNCANCELLABLE Future<Void> f() { return Void(); }\n"
    files = {"a.actor.cpp": "using namespace flow;\n" + actor + "auto x = f();\n", "b.cpp": "auto x = f();\n"}
    after = migrated(around, files)
    assert after["a.cpp"].endswith("auto x = f(Uncancellable());\n")
    assert after["b.cpp"] == files["b.cpp"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("auto x = X::f(x, 1);", "auto x = X::f(Uncancellable(), x, 1);"),
        ("auto x = ns::X::f(x, 1);", "auto x = ns::X::f(Uncancellable(), x, 1);"),
        ("void X::g() { f(this, 1); }", "void X::g() { f(Uncancellable(), this, 1); }"),
        ("void X::g() { this->f(this, 1); }", "void X::g() { this->f(Uncancellable(), this, 1); }"),
        ("struct X { int g() { a->f(x, 1); } };", "struct X { int g() { a->f(Uncancellable(), x, 1); } };"),
        ("void g(X& x) { x.f(y, 1); }", "void g(X& x) { x.f(Uncancellable(), y, 1); }"),
        ("void g(Reference<X> x) { x->f(y, 1); }", "void g(Reference<X> x) { x->f(Uncancellable(), y, 1); }"),
        ("auto x = f(x, 1);", "auto x = f(x, 1);"),  # no member is seen there
        ("namespace ns { void f(X*, int); }\nauto x = ns::f(x, 1);", None),
    ],
)  # fmt: skip
def test_members(before: str, after: str | None, around: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert called(around, MEMBER, before + "\n") == (after or before) + "\n"
    assert "H8: whether" not in capsys.readouterr().out


def test_a_file_calls_what_it_can_see(around: Path) -> None:
    """By way of other files, or of those that include it behind what it needs."""
    files = {
        "lib/x.actor.h": FREE,
        "lib/all.h": '#include "x.actor.h"\n',
        "a.cpp": '#include "all.h"\n#include "part.inl"\nauto x = f(1);\n',
        "part.inl": "auto y = f(1);\n",
        "other.cpp": "auto x = f(1);\n",
    }
    after = migrated(around, files)
    assert after["a.cpp"].endswith("auto x = f(flow::Uncancellable(), 1);\n")
    assert after["part.inl"] == "auto y = f(flow::Uncancellable(), 1);\n"
    assert after["other.cpp"] == files["other.cpp"]


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("auto x = y->f(y, 1);", "auto x = y->f(Uncancellable(), y, 1);", "it is a member of `X`, and the type of the"),
        ("auto x = Alias::f(y, 1);", "auto x = Alias::f(Uncancellable(), y, 1);", "`Alias` may be another name of `X`"),
        ("void Y::g() { f(y, 1); }", "void Y::g() { f(Uncancellable(), y, 1); }", "which `Y` may be derived from"),
    ],
)
def test_where_it_cannot_be_told_a_call_changes_and_a_note_says_so(
    before: str, after: str, why: str, around: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert called(around, MEMBER, before + "\n") == after + "\n"
    out = capsys.readouterr().out
    assert "H8: this may call the actor `f`: " in out
    assert why in out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("auto p = &f;", "b.cpp:3:11: H8: `f` is used without a call"),
        ("auto x = std::bind(f, 1);", "b.cpp:3:20: H8: `f` is used without a call"),
        ("#define CALL(x) f(x)", "b.cpp:3:1: H8: a macro calls `f`"),
        ("Future<Void> f(Int const& a, int const& b);", "b.cpp:3:14: H11: a declaration of `f`"),
    ],
)
def test_what_cannot_be_changed_is_told(
    text: str, message: str, around: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(around, {"x.actor.h": FREE, "b.cpp": INCLUDE + text + "\n"})
    assert migrate(".") == int("H11" in message)
    assert message in capsys.readouterr().out


@pytest.mark.parametrize(
    ("actor", "text", "message"),
    [
        ("ACTOR void f()", "void (*p)() = f;", "returns a coroutine: a pointer to it has another type"),
        ("ACTOR Future<int> f(int b, int const& a)", "auto p = &f;", "takes its parameters by value: a pointer"),
        ("ACTOR Future<int> f(int a)", "int x = g(f(1, f));", "takes its parameters by value: a pointer"),
        ("ACTOR Future<int> f()", "auto p = &f;", ""),
        ("ACTOR Future<int> f(int const& a)", "int x = f(1);", ""),
    ],
)
def test_pointers_of_another_type_are_told(
    actor: str, text: str, message: str, around: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(around, {"x.actor.h": f"#pragma once\n{actor};\n", "b.cpp": INCLUDE + text + "\n"})
    assert migrate(".") == 0
    out = capsys.readouterr().out
    assert ("b.cpp:3:" in out) == bool(message)
    assert f"`f` is used without a call, and {message}" in out or not message


@pytest.mark.parametrize(
    "text",
    [
        "using ns::f;",
        "int g(int f) { return g(f); }",
        "Future<Void> f(int a);",  # another number of parameters
        "struct Y { Future<Void> f(int a, int b); };",
        "Future<Void> f(Uncancellable, int a, int b);",
        "class FooActor {};",
    ],
)
def test_what_means_something_else_is_not_told(text: str, around: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(around, {"x.actor.h": FREE, "b.cpp": INCLUDE + text + "\n"})
    assert migrate(".") == 0
    assert "b.cpp:" not in capsys.readouterr().out


def test_a_prototype_of_any_actor_is_told_with_the_place_of_the_definition(
    around: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {
        "a.actor.cpp": "int x;\nACTOR Future<int> f(int a) { return a; }\n",
        "b.cpp": "Future<int> f(Int const& a);\n",
    }
    make(around, files)
    assert migrate(".") == 1
    out = capsys.readouterr().out
    assert "b.cpp:1:13: H11: a declaration of `f`, which is a coroutine" in out
    assert "instead: the head of `f` as it is at a.cpp:2" in out


def test_names_of_actors_classes_are_told(around: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {
        "a.actor.cpp": "ACTOR Future<int> f() { return 1; }\nACTOR Future<int> f(int a) { return a; }\n"
        "struct X { ACTOR static Future<int> g(); };\nACTOR Future<int> X::g() { return 1; }\n",
        "b.cpp": '#include "a.actor.cpp"\n'
        "int a = sizeof(FActor);\nint b = sizeof(FActor1State<FActor1>);\nfriend class X_GActorState;\n"
        '// FActor "FActor"\nint HActor;\n',
    }
    make(around, files)
    assert migrate(".") == 0
    out = capsys.readouterr().out
    for place in ("b.cpp:2:16: H20: `FActor`", "b.cpp:3:16: H20: `FActor1State`", "b.cpp:4:14: H20: `X_GActorState`"):
        assert place in out
    assert "b.cpp:5" not in out
    assert "b.cpp:6" not in out


def test_classes_of_the_same_name_are_not_told(around: Path, capsys: pytest.CaptureFixture[str]) -> None:
    actor = "ACTOR Future<int> f() { return 1; }\n"
    own = '#include "a.actor.h"\nclass FActor final : public X {};\nFActor x;\n'
    make(around, {"a.actor.h": actor, "b.cpp": own, "c.cpp": "FActor x;\n"})
    assert migrate(".") == 0
    assert "H20" not in capsys.readouterr().out


def test_an_unusual_spelling_of_the_head_is_found_nevertheless(around: Path) -> None:
    declared = "ACTOR UNCANCELLABLE Future<std::function<void(int)>> unusual(int a);\n"
    assert called(around, declared, "auto x = unusual(1);\n") == "auto x = unusual(Uncancellable(), 1);\n"
