"""A tree as the C++ compiler sees it before and after: declarations, definitions and callers in files of their own."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from trees import make, migrate

from actorc.__main__ import main

ROOT = Path(__file__).parents[3]
COMPILER = shutil.which("clang++-19") or shutil.which("g++-12") or "c++"
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
    wait(flow::delay(times));
    if (times > 1)
        log(times - 1);
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
FILES = {"lib/store.actor.h": HEADER, "lib/store.actor.cpp": SOURCE, "plain.cpp": PLAIN}


def compiles(folder: Path, *names: str, flags: tuple[str, ...] = ()) -> None:
    for name in names:
        command = [COMPILER, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{folder}", f"-I{ROOT}"]
        subprocess.run([*command, *flags, name], cwd=folder, check=True)


def test_before_and_after(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    make(tmp_path, FILES)
    assert main(["lib/store.actor.h", "lib/store.actor.g.h"]) == 0
    assert main(["lib/store.actor.cpp", "lib/store.actor.g.cpp"]) == 0
    compiles(tmp_path, "lib/store.actor.g.cpp", "plain.cpp", flags=("-DNO_INTELLISENSE",))
    for generated in list(tmp_path.rglob("*.actor.g.*")):
        generated.unlink()
    assert migrate(".", "--write") == 0
    assert sorted(path.name for path in tmp_path.rglob("*.*")) == ["plain.cpp", "store.cpp", "store.h"]
    compiles(tmp_path, "lib/store.cpp", "plain.cpp")
    assert "cannot be told" not in capsys.readouterr().out
