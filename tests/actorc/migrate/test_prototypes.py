"""Declarations without `ACTOR` in plain files: they take what the coroutine takes, or are told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from trees import make, migrate, migrated

FREE = "using namespace flow;\nACTOR Future<int> f(int a, std::string b) { return a; }\n"
MEMBER = "using namespace flow;\nACTOR Future<int> Q::f(Q* self, std::vector<X> b) { return 1; }\n"


def declared(folder: Path, actors: str, header: str, *options: str, status: int = 0) -> str:
    """What a plain header becomes."""
    return migrated(folder, {"a.actor.cpp": actors, "a.h": header}, *options, status=status)["a.h"]


QUALIFIED = "ACTOR Future<int> app::f(int a) { return a; }\n"
OVERLOADS = "ACTOR Future<int> f(int a) { return a; }\nACTOR Future<int> f(long a) { return a; }\n"
MOVED = "ACTOR Future<int> f(Key&& a, std::unique_ptr<Key> b) { return 1; }\n"
POINTER = "ACTOR Future<int> f(char const* a, Key b) { return 1; }\n"


@pytest.mark.parametrize(
    ("actors", "before", "after"),
    [
        (FREE, "Future<int> f(int const& a, std::string const& b);", "Future<int> f(int a, std::string b);"),
        (FREE, "extern Future<int> f(const int& a, string const &b);", "extern Future<int> f(int a, string b);"),
        (FREE, "Future<int> f(int const&, const std::string &);", "Future<int> f(int, std::string);"),
        (FREE, "Future<int> f(int const& = {1}, string const& = {});", "Future<int> f(int = {1}, string = {});"),
        (FREE, "Future<int> f(int const&\n    a,\n    string const& b);", "Future<int> f(int a,\n    string b);"),
        (
            FREE,
            '[[nodiscard]] Future<int> f([[maybe_unused]] const int& a, std::string const& b = "a, b");',
            '[[nodiscard]] Future<int> f([[maybe_unused]] int a, std::string b = "a, b");',
        ),
        (
            MEMBER,
            "class Q { public: static flow::Future<int> f(Q* const& self, std::vector<app::X> const& b); };",
            "class Q { public: static flow::Future<int> f(Q* self, std::vector<app::X> b); };",
        ),
        (
            MEMBER,
            "namespace app { struct Q : P<int> { static Future<int> f(Q* const&, std::vector<X> const&); }; }",
            "namespace app { struct Q : P<int> { static Future<int> f(Q*, std::vector<X>); }; }",
        ),
        (QUALIFIED, "namespace app { Future<int> f(int const&); }", "namespace app { Future<int> f(int); }"),
        (
            f"namespace app {{\n{OVERLOADS}}}\n",
            "namespace app { class Q { friend Future<int> f(int const&); }; }",
            "namespace app { class Q { friend Future<int> f(int); }; }",
        ),
        (
            QUALIFIED,
            "class Q { friend Future<int> app::f(int const&); };",
            "class Q { friend Future<int> app::f(int); };",
        ),
        (MOVED, "Future<int> f(Key&& a, std::unique_ptr<Key>&& b);", "Future<int> f(Key a, std::unique_ptr<Key> b);"),
        (POINTER, "Future<int> f(char const* const& a, Key&& b);", "Future<int> f(char const* a, Key b);"),
        (
            OVERLOADS,
            "Future<int> f(long const&);\nFuture<int> f(int const&);",
            "Future<int> f(long);\nFuture<int> f(int);",
        ),
        (
            MEMBER,
            "class Q { Future<int> f(Q const& a, int const& b); static Future<int> f(Q* const&, vector<X> const&); };",
            "class Q { Future<int> f(Q const& a, int const& b); static Future<int> f(Q*, vector<X>); };",
        ),
        (
            "ACTOR Future<int> f(X a) { return 1; }\n",
            "Future<int> f(X const&);\nFuture<int> f(app::X const&);",
            "Future<int> f(X);\nFuture<int> f(app::X const&);",
        ),
    ],
)
@pytest.mark.parametrize("style", ["exact", "idiomatic"])
def test_it_takes_what_the_coroutine_takes(
    actors: str, before: str, after: str, style: str, around: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert declared(around, actors, before + "\n", f"--style={style}") == after + "\n"
    out = capsys.readouterr().out
    assert "H11" not in out
    assert "by hand" not in out


@pytest.mark.parametrize(
    ("actors", "text"),
    [
        ("ACTOR Future<int> f() { return 1; }\n", "Future<int> f();"),
        (FREE, "Future<int> f(int a, std::string b);"),
        (FREE, "Future<int> f(Int a, std::string b);"),
        (f"namespace MACRO {{\n{FREE}}}\n", "namespace app { Future<int> f(int a, std::string b); }"),
        ("ACTOR Future<int> left(int a) { return a; }\n", "Future<int> left(int const& a);"),
        (f"namespace app {{\n{FREE}}}\n", "struct X { Future<int> f(int const&, std::string const&); };"),
        ("ACTOR static Future<int> f(int a) { return a; }\n", "Future<int> f(int const& a);"),
        ("namespace {\nACTOR Future<int> f(int a) { return a; }\n}\n", "Future<int> f(int const& a);"),
    ],
)
def test_what_is_right_or_means_something_else_stays(
    actors: str, text: str, around: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert declared(around, actors, text + "\n", status=int("left" in actors)) == text + "\n"
    assert "H11" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("actors", "text"),
    [
        (FREE, "Future<int> f(Int const& a, std::string const& b);"),  # perhaps another name of the type
        (FREE, "Future<int> f(int& a, std::string const& b);"),
        (FREE, "Future<int> f(int a, std::string const& b);"),
        (FREE, "Future<int> f(int const a, std::string const& b);"),
        (FREE, "Future<int> f(int const& a, std::string&& b);"),
        (FREE, "Future<int> f(int const& /* how many */ a, std::string const /* of */& b);"),
        (FREE, "void g() { Future<int> f(int const& a, std::string const& b); }"),
        (MEMBER, "class Q { virtual Future<int> f(Q* const&, std::vector<X> const&); };"),
        (MEMBER, "template <class T> class Q { static Future<int> f(Q* const&, std::vector<X> const&); };"),
        (OVERLOADS.replace("int a", "A a").replace("long a", "x::A a"), "Future<int> f(y::x::A const& a);"),
        ("ACTOR template <class T> Future<T> f(T a) { return a; }\n", "template <class T> Future<T> f(T const& a);"),
        ("ACTOR UNCANCELLABLE Future<int> f(int a) { return 1; }\n", "Future<int> f(int a);"),
    ],
)
def test_where_it_is_not_sure_the_result_is_not_called_whole(
    actors: str, text: str, around: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert declared(around, actors, text + "\n", status=1) == text + "\n"
    out = capsys.readouterr().out
    assert "H11: a declaration of `f`" in out
    assert "\n1 declaration must be changed by hand (H11)\n" in out


def test_declarations_that_may_be_of_two_functions_stay(around: Path, capsys: pytest.CaptureFixture[str]) -> None:
    actors = "ACTOR Future<int> f(A a) { return 1; }\n"
    text = "Future<int> f(x::A const& a);\nFuture<int> f(y::A const& a);\n"
    make(around, {"a.actor.cpp": actors, "a.h": text})
    assert migrate(".", "--write") == 1
    assert (around / "a.h").read_text() == text
    assert capsys.readouterr().out.splitlines()[-1] == "2 declarations must be changed by hand (H11)"


def test_the_reports_count_what_is_to_be_changed_by_hand(around: Path) -> None:
    make(around, {"a.actor.cpp": FREE, "a.h": "Future<int> f(Int const& a, std::string const& b);\n"})
    assert migrate(".", "--report=r.json", "--report=r.html") == 1
    assert json.loads((around / "r.json").read_text())["totals"]["byHand"] == 1
    assert "<b>1</b> declarations to change by hand" in (around / "r.html").read_text()


def test_an_actor_that_runs_on_and_its_callers(around: Path) -> None:
    files = {
        "a.actor.cpp": '#include "a.h"\nACTOR UNCANCELLABLE flow::Future<int> f(int a, int b) { return a; }\n'
        "ACTOR void g(int a) {}\nACTOR void h() {}\n",
        "a.h": "#pragma once\n#include <string>\nflow::Future<int> f(int const& a, int const& b = 2);\n"
        "void g(int const& a);\nvoid h();\n",
        "b.cpp": '#include "a.h"\nvoid k() { g(1); x = f(1) + f(1, 2); }\n',
    }
    after = migrated(around, files)
    assert after["a.h"] == (
        '#pragma once\n#include <string>\n#include "flow/coro/coroutine.h"\n'
        "flow::Future<int> f(flow::Uncancellable, int a, int b = 2);\n"
        "flow::coro::Detached g(int a);\nflow::coro::Detached h();\n"
    )
    assert after["b.cpp"].endswith("{ g(1); x = f(flow::Uncancellable(), 1) + f(flow::Uncancellable(), 1, 2); }\n")


def test_a_void_actor_and_its_callers_for_foundationdb(around: Path) -> None:
    files = {
        "a.actor.cpp": '#include "a.h"\nACTOR void g(int a) {}\n',
        "a.h": '#include "flow/flow.h"\nvoid g(int const& a);\n',
        "b.cpp": '#include "a.h"\nvoid k() { g(1); }\n',
    }
    after = migrated(around, files, "--target=foundationdb")
    assert after["a.h"].endswith('#include "flow/CoroUtils.h"\nFuture<Void> g(Uncancellable, int a);\n')
    assert after["b.cpp"].endswith("{ (void)g(Uncancellable(), 1); }\n")


def test_an_actor_that_stays_elsewhere_keeps_its_declaration(around: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two programs define the function, and one of them cannot change."""
    actors = "ACTOR Future<int> f(int a) { return a; }\n"
    files = {"a.actor.cpp": actors, "b.actor.cpp": actors, "b.cpp": "taken\n", "a.h": "Future<int> f(int const& a);\n"}
    assert migrated(around, files, status=1)["a.h"] == files["a.h"]
    assert "a.h:1:13: H11: a declaration of `f`" in capsys.readouterr().out


def test_the_diff_and_the_list_of_changes_have_it(around: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(around, {"a.actor.cpp": FREE, "a.h": "Future<int> f(int const& a, std::string const& b);\n"})
    assert migrate(".", "--diff") == 0
    assert "-Future<int> f(int const& a, std::string const& b);\n+Future<int> f(int a, std::string b);\n" in (
        capsys.readouterr().out
    )
    assert migrate(".", "--check") == 1
    assert capsys.readouterr().out.splitlines() == ["a.actor.cpp", "a.h"]
