"""A tree as the C++ compiler sees it before and after: declarations, definitions and callers in files of their own."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from trees import make, migrate, migrated, tree

from actorc.__main__ import main
from common.precompiled import precompiled
from examples import HEADERS

ROOT = Path(__file__).parents[3]
COMPILER = shutil.which("clang++-19") or shutil.which("g++") or "c++"
HEADER = """\
#pragma once
#if defined(NO_INTELLISENSE) && !defined(LIB_STORE_ACTOR_G_H)
#define LIB_STORE_ACTOR_G_H
#include "lib/store.actor.g.h"
#elif !defined(LIB_STORE_ACTOR_H)
#define LIB_STORE_ACTOR_H

#include "flow/flow.h"
#include "flow/actorcompiler.h" // This must be the last #include.

namespace lib {

class Store {
public:
    flow::Future<flow::Void> save(int key) { return write(this, key); }
    ACTOR static flow::Future<flow::Void> write(Store* self, int key, double seconds = 1.0);
    int written = 0;
};

ACTOR void log(int times);
ACTOR template <class T>
UNCANCELLABLE flow::Future<T> keep(flow::Future<T> what) {
    T value = wait(what);
    return value;
}

} // namespace lib

#include "flow/unactorcompiler.h"
#endif
"""
SOURCE = """\
#include "lib/store.actor.h"
#include "flow/actorcompiler.h" // This must be the last #include.

ACTOR UNCANCELLABLE flow::Future<flow::Void> lib::Store::write(Store* self, int key, double seconds) {
    wait(flow::delay(seconds));
    self->written += key;
    return flow::Void();
}

ACTOR void lib::log(int times) {
    try {
        choose {
            when(wait(flow::delay(times))) {
            }
            when(wait(flow::Never())) {
            }
        }
    } catch (flow::Error&) {
        wait(flow::delay(1.0));
    }
    if (times > 1)
        log(times - 1);
}

void later(int times) {
    auto wait = ACTOR [times](double seconds) -> void {
        wait(flow::delay(seconds * times));
    };
    wait(2.0);
}
"""
PLAIN = """\
#include "lib/store.actor.h"

flow::Future<flow::Void> all(lib::Store& store) {
    lib::log(3);
    auto first = store.write(&store, 1, 2.0) && lib::Store::write(&store, 2);
    return first && lib::keep<flow::Void>(store.save(3)) && lib::keep(first);
}
"""
OF_VOID = "lib::keep<flow::Void>(store.save(3)) && lib::keep(first)"
FILES = {"lib/store.actor.h": HEADER, "lib/store.actor.cpp": SOURCE, "plain.cpp": PLAIN}


def compiles(folder: Path, *names: str, flags: tuple[str, ...] = (), is_compat: bool = False) -> None:
    """With the precompiled headers of test_examples.py."""
    for name in names:
        command = [COMPILER, "-std=c++20", "-Wall", "-Wextra", "-Werror"]
        command += [f"-I{ROOT}/flow/compat"] if is_compat else []
        options = precompiled(*command, headers=HEADERS["foundationdb" if is_compat else "flow"])
        command += [*options, *flags, f"-I{folder}", f"-I{ROOT}", "-fsyntax-only", name]
        subprocess.run(command, cwd=folder, check=True)


@pytest.mark.parametrize("target", ["flow", "foundationdb"])
def test_before_and_after(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    plain = PLAIN
    if target == "foundationdb":  # where a template cannot co_return what may be a Void
        plain = PLAIN.replace(OF_VOID, "flow::success(lib::keep(flow::Future<int>(3)))")
    make(tmp_path, FILES | {"plain.cpp": plain})
    assert main(["lib/store.actor.h", "lib/store.actor.g.h"]) == 0
    assert main(["lib/store.actor.cpp", "lib/store.actor.g.cpp"]) == 0
    compiles(tmp_path, "lib/store.actor.g.cpp", "plain.cpp", flags=("-DNO_INTELLISENSE",))
    for generated in list(tmp_path.rglob("*.actor.g.*")):
        generated.unlink()
    assert migrate(".", "--write", f"--target={target}") == 0
    assert sorted(path.name for path in tmp_path.rglob("*.*")) == ["plain.cpp", "store.cpp", "store.h"]
    compiles(tmp_path, "lib/store.cpp", "plain.cpp", is_compat=target == "foundationdb")
    assert "may call the actor" not in capsys.readouterr().out


BARE = """\
#include "flow/flow.h"
#include "flow/actorcompiler.h" // This must be the last #include.

ACTOR void log(int times) {
    try {
        wait(delay(times));
    } catch (Error&) {
        wait(delay(1.0));
    }
}
"""


@pytest.mark.parametrize(
    ("file", "caller", "written"),
    [
        (BARE, "void f() { log(1); }\n", ""),
        (BARE, "flow::Future<flow::Void> f() { log(1); return flow::Void(); }\n", "flow::"),
        (BARE.replace("delay", "flow::delay"), "void f() { log(1); }\n", "flow::"),
        (BARE.replace("delay", "flow::delay"), "Future<Void> f() { log(1); return Void(); }\n", ""),
        ("using namespace flow;\n" + BARE.replace("delay", "flow::delay"), "void f() { log(1); }\n", "flow::"),
    ],
)
def test_names_of_foundationdb_are_written_as_in_the_file(
    file: str, caller: str, written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"log.actor.cpp": file, "f.cpp": '#include "log.actor.cpp"\n' + caller}
    monkeypatch.chdir(tmp_path)
    after = migrated(tmp_path, files, "--target=foundationdb")
    own = "flow::" if "flow::" in file and "using" not in file else ""
    assert f"{own}Future<{own}Void> log({own}Uncancellable, int times) {{" in after["log.cpp"]
    assert f" = {own}unknown_error();" in after["log.cpp"]
    assert f" (void)log({written}Uncancellable(), 1);" in after["f.cpp"]


def test_an_operand_that_is_written_twice(tmp_path: Path) -> None:
    choice = "ACTOR Future<int> g(Future<Void> a) {\n    choose {\n        when(wait(a)) { return 1; }\n"
    choice += "        when(auto x = wait(f(1))) { return 2; }\n    }\n}\n"
    files = {"x.actor.cpp": "ACTOR UNCANCELLABLE Future<int> f(int a) { return a; }\n" + choice}
    after = migrated(tmp_path, files, "--target=foundationdb")["x.cpp"]
    assert "decltype(f(Uncancellable(), 1))" in after
    assert " = f(Uncancellable(), 1);" in after


DROPPED = """\
#include "flow/flow.h"
struct Base { int value = 0; };
struct Log { Base base[2]; Log* next = this; void run(int times); };
void Log::run(int times) {
    if (times) log(1);
    else log(2);
    for (int i = 0; i < 2; ++i) log(i);
    switch (times) { case 1: log(3); break; default: ::log(4); }
    { log(5); }
}
"""


def test_a_call_that_drops_a_void_actor_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = BARE.replace('#include "flow/flow.h"\n', "").replace("delay", "flow::delay") + DROPPED.split("\n", 1)[1]
    make(tmp_path, {"log.actor.cpp": '#include "flow/flow.h"\nusing namespace flow;\n' + source})
    assert migrate(".", "--write", "--target=foundationdb") == 0
    written = (tmp_path / "log.cpp").read_text()
    assert written.count("(void)") == 6
    assert written.count("Uncancellable()") == 6
    compiles(tmp_path, "log.cpp", is_compat=True)


@pytest.mark.parametrize("style", ["exact", "idiomatic"])
def test_requests_to_foundationdb(style: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the other target, tests/compat runs the same program as it is migrated."""
    monkeypatch.chdir(tmp_path)
    make(tmp_path, {"rpc.actor.cpp": (ROOT / "tests/compat/rpc.actor.cpp").read_text()})
    assert migrate(".", "--write", "--target=foundationdb", f"--style={style}") == 0
    assert sorted(tree(tmp_path)) == ["rpc.cpp"]
    compiles(tmp_path, "rpc.cpp", flags=(f"-I{ROOT}/net/compat",), is_compat=True)
