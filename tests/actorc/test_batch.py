"""`actorc --batch`: many files in one run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import actorc
from actorc.__main__ import main

GOOD = "ACTOR Future<Void> a(Future<Void> f) { wait(f); return Void(); }\n"
BAD = "ACTOR Future<Void> a(Future<Void> f) { if (wait(f)) g(); return Void(); }\n"
PROCESSES = pytest.mark.parametrize("processes", [(), ("--jobs", "3")])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for number in range(9):
        (tmp_path / f"{number}.actor.cpp").write_text(f"// {number}\n" + (BAD if number % 4 == 1 else GOOD))
    return tmp_path


def pairs(*numbers: int) -> list[str]:
    return [name for number in numbers for name in (f"{number}.actor.cpp", f"{number}.g.cpp")]


def outputs(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.g.cpp"))


@PROCESSES
def test_every_file_is_compiled_as_by_itself(folder: Path, processes: tuple[str, ...]) -> None:
    assert main(["--batch", *processes, *pairs(0, 2, 3)]) == 0
    for number in (0, 2, 3):
        alone = folder / "alone.g.cpp"
        assert main([f"{number}.actor.cpp", str(alone)]) == 0
        assert (folder / f"{number}.g.cpp").read_bytes() == alone.read_bytes()
    assert (folder / "3.g.cpp.uid").exists()


@PROCESSES
def test_a_failure_does_not_stop_the_others(
    folder: Path, processes: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "1.g.cpp").write_text("stale")
    assert main(["--batch", *pairs(*range(9), 77), *processes]) == 1
    assert outputs(folder) == [f"{number}.g.cpp" for number in (0, 2, 3, 4, 6, 7, 8)]
    told = [line.split(" error")[0] for line in capfd.readouterr().err.splitlines() if "actor.cpp:" in line]
    assert told == [
        "1.actor.cpp:2:44:",
        "5.actor.cpp:2:44:",
        "actorc: 77.actor.cpp: No such file or directory",
    ]


@PROCESSES
def test_what_is_found_makes_one_document(
    folder: Path, processes: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["--batch", "--format=json", *processes, *pairs(1, 2, 5)]) == 1
    text = json.dumps(json.loads(capfd.readouterr().out))
    assert "1.actor.cpp" in text
    assert "5.actor.cpp" in text
    assert "2.actor.cpp" not in text


def test_a_file_may_list_the_paths(folder: Path) -> None:
    (folder / "list").write_text("\n".join(pairs(2, 3)) + "\n")
    assert main(["--batch", "@list", *pairs(4), "--backend", "coroutine"]) == 0
    assert outputs(folder) == ["2.g.cpp", "3.g.cpp", "4.g.cpp"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "pairs of INPUT and OUTPUT"),
        (["0.actor.cpp", "0.g.cpp", "2.actor.cpp"], "pairs of INPUT and OUTPUT, and these are 3 paths"),
        (["@none"], "none: No such file"),
        (["@/proc/self/environ"], "this is no list of paths"),
        ([*pairs(0), "2.actor.cpp", "./0.g.cpp"], "two files have the same OUTPUT"),
        ([*pairs(0), "2.actor.cpp", "./0.g.cpp.uid"], "0.g.cpp.uid: two files have the same OUTPUT"),
        (["2.actor.cpp", "./0.g.cpp.uid", *pairs(0)], "0.g.cpp.uid: two files have the same OUTPUT"),
        ([*pairs(0), "2.actor.cpp", "./0.actor.cpp"], "the same file as INPUT"),
        ([*pairs(0), "--depfile", "x"], "--depfile is for one file"),
        ([*pairs(0), "--jobs", "0"], "--jobs"),
    ],
)
def test_wrong_arguments(folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["--batch", *arguments])
    assert exit_.value.code == 100
    assert message in capsys.readouterr().err
    assert outputs(folder) == []


def test_an_internal_fault_of_one_file_is_the_worst(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from actorc import run

    whole = run.analyse

    def faulty(source, diagnostics):
        if source.path.startswith("2"):
            raise KeyError("a bug")
        return whole(source, diagnostics)

    monkeypatch.setattr(run, "analyse", faulty)
    assert main(["--batch", *pairs(0, 1, 2, 3)]) == 3
    assert outputs(folder) == ["0.g.cpp", "3.g.cpp"]


def test_it_runs_as_a_module(folder: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(actorc.__file__).parent.parent)}
    command = [sys.executable, "-S", "-m", "actorc", "--batch", "--jobs", "2", *pairs(0, 2, 4)]
    subprocess.run(command, env=environment, check=True)
    assert outputs(folder) == ["0.g.cpp", "2.g.cpp", "4.g.cpp"]
