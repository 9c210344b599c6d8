"""`actorc check` of actor files: what the build accepts has no messages, and what is wrong is found at its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from back import COMPILERS, emitted, syntax_errors
from checking import actorc_on_flow
from front import unmarked

pytest.importorskip("clang")

HEADER = """\
#pragma once
#include "flow/flow.h"
#include <memory>
#include <string>
#include <vector>
struct Key { int number; };
struct Lock { Lock(Lock&&) = default; Lock(Lock const&) = delete; int number; };
flow::Future<int> cube(int const& x);
namespace kinds {
flow::Future<int> number(int const& n, std::string const& text);
flow::Future<int> alias(Key const& key, Lock&& lock, std::unique_ptr<int>&& own, std::vector<int>&& taken, int const&);
template <class T>
flow::Future<T> made(T const& value, std::vector<T> const& more);
class Store {
public:
    flow::Future<int> get(int key) { return get(this, key); }

private:
    static flow::Future<int> get(Store* const& self, int const& key);
    static flow::Future<int> get(Store* const& self, Key const& key, int const& more);
    int value_ = 1;
};
}
"""
HEAD = """\
#include "store.h"
using namespace flow;
struct Lane { Future<Void> go(); };
#include "flow/actorcompiler.h" // must be the last include
"""
ACTORS = """\
ACTOR Future<int> cube(int x);
namespace kinds {
ACTOR Future<int> number(int n, const std::string& text) {
    n = 1; text += "ä";
    auto sum = [n, &text] { return n + int(text.size()); };
    decltype(n) seconds = sum();
    wait(delay(seconds));
    return n;
}
ACTOR Future<int> alias(Key key, Lock lock, std::unique_ptr<int> own, std::vector<int>&&
    taken, int) {
    key.number = 1;
    own.reset();
    taken.clear();
    state Lock kept = std::move(lock);
    wait(delay(1));
    return kept.number;
}
ACTOR template <class T>
Future<T> made(T value, std::vector<T> more) { wait(delay(1)); value += 1; more.push_back(value); return value; }
ACTOR Future<int> calls(Lock lock) {
    state int a = wait(number(3, "x"));
    state int b = wait(alias(Key{1}, std::move(lock), nullptr, {}, 1));
    int c = wait(made(2, std::vector<int>()));
    return a + b + c;
}
}
ACTOR Future<int> kinds::Store::get(Store* self, int key) {
    int next = wait(get(self, Key{1}, 2));
    return self->value_ + key + next;
}
ACTOR Future<int> kinds::Store::get(Store* self, Key key, int more) { key.number = more; wait(delay(1)); return 1; }
ACTOR Future<int> cube(int x) {
    int next = wait(cube(x - 1));
    return x * next;
}
"""
WRONG = """\
ACTOR Future<int> cube(int x) { @@Lane().go(); wait(delay(x)); /* ä */ @@Lane().go(); return x; }
ACTOR Future<int> kinds::Store::get(Store* self, int key) { wait(delay(key)); return self->@@value; }
ACTOR Future<Void> calls() {
    int x = wait(@@cube("x"));
    return Void();
}
Future<Void> plain() {
    @@cube(2);
    co_await delay(1);
}
"""


def found(name: str, folder: Path) -> list[tuple[str, int]]:
    done = actorc_on_flow("--json", name, folder=folder)
    assert done.stderr == ""
    return [(each["code"], each["range"]["start"]["offset"]) for each in json.loads(done.stdout)["diagnostics"]]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_what_the_build_accepts(compiler: str, tmp_path: Path) -> None:
    (tmp_path / "store.h").write_text(HEADER, encoding="utf-8")
    assert syntax_errors(emitted(HEAD + ACTORS, "state-machine"), compiler, tmp_path, f"-I{tmp_path}") == ""


def test_a_plain_header_declares_actors_as_their_callers_see_them(tmp_path: Path) -> None:
    (tmp_path / "store.h").write_text(HEADER, encoding="utf-8")
    (tmp_path / "right.actor.cpp").write_text(HEAD + ACTORS, encoding="utf-8")
    assert found("right.actor.cpp", tmp_path) == []


def test_their_functions_are_searched_and_places_are_those_of_the_source(tmp_path: Path) -> None:
    (tmp_path / "store.h").write_text(HEADER, encoding="utf-8")
    text, marks = unmarked(HEAD + WRONG)
    (tmp_path / "wrong.actor.cpp").write_text(text, encoding="utf-8")
    codes = ["A0701", "A0701", "A0706", "A0706", "A0701"]
    assert found("wrong.actor.cpp", tmp_path) == list(zip(codes, marks, strict=True))


INCLUDED = """\
#ifdef NO_INTELLISENSE
#error the build reads the generated header
#endif
#pragma once
#include "store.h"
#include "flow/actorcompiler.h" // must be the last include
using namespace flow;
struct Box {
    template <class T>
    static Future<int> get(Box* const& self, T const& key);
    int value;
};
ACTOR Future<int> cube(int x);
ACTOR template <class T>
Future<int> Box::get(Box* self, T key) { wait(delay(1)); return self->value + key; }
#include "flow/unactorcompiler.h" // leaves no keyword behind
"""
INCLUDING = """\
#include "box.actor.h"
#include "flow/actorcompiler.h" // must be the last include
ACTOR Future<int> cube(int x) { wait(delay(1)); return x; }
ACTOR Future<int> calls(Box* box) { int x = wait(cube(3)); int y = wait(box->get(box, x)); return y; }
"""


def test_so_do_actor_headers(tmp_path: Path) -> None:
    (tmp_path / "store.h").write_text(HEADER, encoding="utf-8")
    (tmp_path / "box.actor.h").write_text(INCLUDED, encoding="utf-8")
    (tmp_path / "box.actor.cpp").write_text(INCLUDING, encoding="utf-8")
    assert found("box.actor.h", tmp_path) == []
    assert found("box.actor.cpp", tmp_path) == []


DISCARDS = """\
#include "flow/flow.h"
using namespace flow;
#include "flow/actorcompiler.h" // must be the last include
ACTOR Future<Void> work(int x) { wait(delay(x)); return Void(); }
ACTOR UNCANCELLABLE Future<Void> runs(int x) { wait(delay(x)); return Void(); }
ACTOR [[flow_allow_discard]] static
Future<Void> allowed(int x) { wait(delay(x)); return Void(); }
ACTOR Future<Void> discards(bool b) {
    runs(1);
    allowed(2);
    @@work(1);

    work(2); // actorc: allow A0605

    b ? @@work(3) : @@work(4);
    wait(delay(1));
    return Void();
}
"""


def test_a_discarded_actor_is_reported_once(tmp_path: Path) -> None:
    text, marks = unmarked(DISCARDS)
    (tmp_path / "discards.actor.cpp").write_text(text, encoding="utf-8")
    assert found("discards.actor.cpp", tmp_path) == list(zip(["A0605", "A0701", "A0701"], marks, strict=True))
