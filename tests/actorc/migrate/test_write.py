"""No text is ever lost, and no file is written by half."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from trees import KEYWORDS, TOP, killed, make, migrate, tree

ACTOR = "ACTOR Future<Void> f() { return Void(); }\n"
FILES = {
    "a.actor.cpp": TOP + '#include "x.actor.h"\n' + ACTOR,
    "x.actor.h": "int x;\n",
    "b.cpp": '#include "x.actor.h"\n',
}


def test_without_write_nothing_changes(around: Path) -> None:
    make(around, FILES)
    for options in ([], ["--diff"], ["--check"]):
        migrate(".", *options)
        assert tree(around) == FILES


def test_permissions_are_kept(around: Path) -> None:
    make(around, FILES)
    for name, mode in (("a.actor.cpp", 0o640), ("x.actor.h", 0o444), ("b.cpp", 0o755)):
        (around / name).chmod(mode)
    assert migrate(".", "--write") == 0
    modes = {name: (around / name).stat().st_mode & 0o777 for name in ("a.cpp", "x.h", "b.cpp")}
    assert modes == {"a.cpp": 0o640, "x.h": 0o444, "b.cpp": 0o755}


def test_a_name_that_is_taken_is_refused_and_the_others_go_on(around: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(around, FILES | {"x.h": "int other;\n"})
    assert migrate(".", "--write") == 1
    assert "actorc: x.actor.h: skipped: x.h exists, and is another file" in capsys.readouterr().err
    after = tree(around)
    assert sorted(after) == ["a.cpp", "b.cpp", "x.actor.h", "x.h"]
    assert after["x.h"] == "int other;\n"
    assert '#include "x.actor.h"' in after["a.cpp"]
    assert after["b.cpp"] == FILES["b.cpp"]


def test_actors_of_a_refused_file_keep_their_signatures_everywhere(around: Path) -> None:
    make(around, {"x.actor.h": "ACTOR Future<Void> f();\n", "x.actor.cpp": ACTOR, "x.h": "", "b.cpp": ""})
    assert migrate(".", "--write") == 1
    assert tree(around)["x.actor.cpp"] == ACTOR


def test_a_refused_file_stays_as_it_is_and_so_does_what_it_needs(around: Path) -> None:
    files = {
        "s.actor.h": "#pragma once\nACTOR Future<int> read(int const& key);\nACTOR UNCANCELLABLE Future<Void> end();\n",
        "s.actor.cpp": '#include "s.actor.h"\n#include "t.actor.h"\n'
        "ACTOR Future<int> read(int const& key) { wait(end()); wait(done()); return key; }\n",
        "s.cpp": "int taken;\n",
        "t.actor.h": "#pragma once\nACTOR Future<Void> done() { wait(delay(1)); return Void(); }\n",
        "t.actor.cpp": '#include "s.actor.h"\n'
        "ACTOR UNCANCELLABLE Future<Void> end() { wait(delay(1)); return Void(); }\n"
        "ACTOR Future<Void> other() { wait(end()); return Void(); }\n",
        "u.cpp": '#include "s.actor.h"\nvoid u() { end(); }\n',
        "CMakeLists.txt": "add_actor_sources(s FILES s.actor.cpp s.actor.h t.actor.cpp)\n",
    }
    make(around, files)
    assert migrate(".", "--write") == 1
    after = tree(around)
    assert sorted(after) == sorted(files)
    changed = {"t.actor.h", "t.actor.cpp"}
    assert {name: text for name, text in after.items() if name not in changed} == {
        name: text for name, text in files.items() if name not in changed
    }
    assert "co_await (delay(1))" in after["t.actor.h"]
    assert "ACTOR UNCANCELLABLE Future<Void> end() { wait(delay(1));" in after["t.actor.cpp"]
    assert "co_await (end())" in after["t.actor.cpp"]


def test_a_folder_that_cannot_be_written_is_told_before_anything_changes(
    around: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    make(around, {"d/a.actor.cpp": ACTOR, "b.actor.cpp": ACTOR.replace("f()", "g()")})
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != "d" and access(path, mode))
    assert migrate(".", "--write") == 1
    assert "actorc: d/a.actor.cpp: skipped: no file can be made in d" in capsys.readouterr().err
    assert sorted(tree(around)) == ["b.cpp", "d/a.actor.cpp"]


def test_if_one_file_cannot_be_written_none_is(
    around: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    make(around, FILES)
    sync = os.fsync
    written: list[int] = []

    def full(descriptor: int) -> None:
        written.append(descriptor)
        if len(written) == 3:
            raise OSError(28, "No space left on device")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    assert migrate(".", "--write") == 1
    assert "actorc: x.h: No space left on device" in capsys.readouterr().err
    assert tree(around) == FILES


@pytest.mark.parametrize("steps", range(5))
def test_what_a_killed_run_left_is_completed(
    steps: int, around: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make(around, FILES)
    process = killed(monkeypatch, steps, "replace", "unlink")
    left = tree(around)
    for name in ("a", "x"):
        assert any(path.startswith(f"{name}.") for path in left)
    temporaries = [path for path in left if path.startswith(".")]
    assert len(temporaries) == max(0, 3 - steps)
    assert migrate(".", "--write") == 0
    assert sorted(tree(around)) == ["a.cpp", "b.cpp", "x.h"]
    told = capsys.readouterr().err
    for path in temporaries:
        assert path.endswith(f".{process}.actorc-migrate")
        assert f"actorc: {path}: removed, which a run that was interrupted had left\n" in told


def test_a_run_that_is_killed_while_it_writes_has_changed_nothing(
    around: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(around, FILES)
    killed(monkeypatch, 1, "fsync")
    left = tree(around)
    assert {name: text for name, text in left.items() if not name.startswith(".")} == FILES
    assert len(left) == len(FILES) + 2
    assert migrate(".", "--write") == 0
    assert sorted(tree(around)) == ["a.cpp", "b.cpp", "x.h"]


def test_temporaries_of_a_run_that_goes_on_stay(around: Path) -> None:
    make(around, FILES | {f".a.cpp.{os.getppid()}.actorc-migrate": "", ".a.cpp.1.tmp": ""})
    assert migrate(".", "--write") == 0
    assert len(tree(around)) == 5


def test_control_c_leaves_nothing_behind(around: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(around, FILES)

    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        migrate(".", "--write")
    assert tree(around) == FILES


def test_a_file_with_errors_is_reported_as_by_the_compiler_and_skipped(
    around: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = KEYWORDS + '#include "x.actor.h"\nACTOR Future<Void> g() { if (wait(f())) h(); }\n'
    make(around, FILES | {"bad.actor.cpp": bad})
    assert migrate(".", "--write") == 1
    captured = capsys.readouterr()
    assert "bad.actor.cpp:3:30: error: `wait` cannot stand in a condition" in captured.err
    assert "bad.actor.cpp stays: an error in line 3: `wait` cannot stand in a condition" in captured.out
    after = tree(around)
    assert sorted(after) == ["a.cpp", "b.cpp", "bad.actor.cpp", "x.h"]
    assert after["bad.actor.cpp"] == bad.replace("x.actor.h", "x.h")


def test_bytes_that_are_not_utf8_are_reported_and_kept(around: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {"a.actor.cpp": ACTOR + "// \udcff\n"}
    make(around, files)
    assert migrate(".", "--write") == 1
    assert "[A0001]" in capsys.readouterr().err
    assert tree(around) == files


def test_a_fault_of_actorc_concerns_one_file(around: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fault = "// FAULT\nACTOR Future<Void> g() { return Void(); }\n"
    make(around, FILES | {"fault.actor.cpp": fault})
    assert migrate(".", "--write") == 3
    assert "actorc: fault.actor.cpp: internal error at standin.py:" in capsys.readouterr().err
    after = tree(around)
    assert sorted(after) == ["a.cpp", "b.cpp", "fault.actor.cpp", "x.h"]
    assert after["fault.actor.cpp"] == fault
