"""The command line of `actorc migrate`: modes, exit status, and what is printed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from trees import TOP, make, migrate, tree

import actorc
from actorc.__main__ import main

ACTOR = "ACTOR Future<Void> f(int n) {\n    wait(delay(n));\n    return Void();\n}\n"
FILES = {
    "a.actor.cpp": TOP + "\n" + ACTOR,
    "lib/x.actor.h": "#pragma once\nint x;\n",
    "b.cpp": '#include "lib/x.actor.h"\nint y;\n',
    "c.cpp": "int z;\n",
}


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--write"],
        ["a.actor.cpp", "--write", "--check"],
        ["a.actor.cpp", "--target=other"],
        ["a.actor.cpp", "--style=best"],
        ["a.actor.cpp", "--report=a.txt"],
        ["a.actor.cpp", "--jobs=0"],
        ["a.actor.cpp", "--nonsense"],
    ],
)
def test_wrong_arguments(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["migrate", *arguments])
    assert exit_.value.code == 100
    assert "actorc migrate: " in capsys.readouterr().err


def test_help_says_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["migrate", "--help"])
    assert exit_.value.code == 0
    out = capsys.readouterr().out
    for option in ("--write", "--diff", "--check", "--target", "--style", "--report", "--jobs"):
        assert option in out


def test_a_file_called_migrate_can_be_compiled(around: Path) -> None:
    make(around, {"migrate": ACTOR})
    assert main(["./migrate", "out.cpp"]) == 0
    assert (around / "out.cpp").exists()


def test_without_a_mode_it_says_what_would_be_done(around: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(around, FILES)
    assert migrate(".") == 0
    assert capsys.readouterr().out == (
        "a.actor.cpp -> a.cpp\n"
        "b.cpp is updated\n"
        "lib/x.actor.h -> lib/x.h\n"
        "\n"
        "4 files: 2 migrated, 1 updated\n"
        "1 actor: 1 migrated, 0 left\n"
        "converted: 1 wait\n"
    )


def test_check_names_what_would_change(around: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(around, FILES)
    assert migrate(".", "--check") == 1
    assert capsys.readouterr().out == "a.actor.cpp\nb.cpp\nlib/x.actor.h\n"
    assert migrate(".", "--write") == 0
    capsys.readouterr()
    assert migrate(".", "--check") == 0
    assert capsys.readouterr().out == ""


def test_diff_is_a_patch(around: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    long = "".join(f"int line{number};\n" for number in range(30))
    files = FILES | {
        "long.actor.cpp": TOP + long + ACTOR + long + ACTOR.replace("f(", "g(").rstrip("\n"),
        "crlf.actor.cpp": (TOP + long + "\n\n" + ACTOR.replace("f(", "h(")).replace("\n", "\r\n"),
        "latin.cpp": '#include "lib/x.actor.h" // \udcff\n',
    }
    make(around, files)
    assert migrate(".", "--diff") == 0
    patch = capsysbinary.readouterr().out
    copy = around / "copy"
    make(copy, files)
    subprocess.run(["git", "init", "-q"], cwd=copy, check=True)
    subprocess.run(["git", "apply", "-"], input=patch, cwd=copy, check=True)
    subprocess.run(["rm", "-r", ".git"], cwd=copy, check=True)
    patched = tree(copy)
    for path in tree(copy):
        (copy / path).unlink()
    assert migrate(".", "--write") == 0
    assert patched == tree(around)
    assert patch.count(b"@@ -") == 8
    assert b"int line15" not in patch


def test_a_patch_of_absolute_paths(around: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(around, {"a b.actor.cpp": ACTOR, "d/c.actor.cpp": ACTOR.replace("f(", "g(")})
    files = [str(around / "a b.actor.cpp"), str(around / "d/c.actor.cpp")]
    assert migrate(*files, "--diff") == 0
    patch = capsys.readouterr().out
    assert "diff --git a/a b.actor.cpp b/a b.cpp\nrename from a b.actor.cpp\nrename to a b.cpp\n" in patch
    subprocess.run(["git", "init", "-q"], check=True)
    subprocess.run(["git", "apply", "-"], input=patch, text=True, check=True)
    subprocess.run(["rm", "-r", ".git"], check=True)
    assert sorted(tree(around)) == ["a b.cpp", "d/c.cpp"]


def test_a_patch_of_what_is_not_below_the_working_directory(
    around: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    make(around, {"a b.actor.cpp": ACTOR, "d/c.cpp": "", "e/f.cpp": ""})
    monkeypatch.chdir("d")
    for given in ("../a b.actor.cpp", str(around / "a b.actor.cpp")):
        assert migrate(given, "--diff") == 0
        patch = capsys.readouterr().out
        root = str(around)[1:]
        assert f"--- a/{root}/a b.actor.cpp\t\n+++ b/{root}/a b.cpp\t\n" in patch
    subprocess.run(["git", "apply", "-"], input=patch, text=True, cwd="/", check=True)
    assert "a b.cpp" in tree(around)
    (around / "linked").symlink_to("e")
    (around / "e/g.actor.cpp").write_text(ACTOR)
    monkeypatch.chdir("../e")
    assert migrate(str(around / "linked/g.actor.cpp"), "--diff") == 0
    assert "--- a/g.actor.cpp\n+++ b/g.cpp\n" in capsys.readouterr().out


def test_notes_stand_at_their_places(around: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "ACTOR Future<Void> f() {\n\tLock guard(mutex);\n\twait(delay(1));\n\treturn Void();\n}\n"
    make(around, {"a.actor.cpp": text + "ACTOR Future<Void> left();\n"})
    assert migrate(".", "--color=never") == 1
    assert capsys.readouterr().out == (
        "a.actor.cpp stays: 1 of its actors cannot be migrated\n"
        "\n"
        "a.actor.cpp:6:1: left: actor `left` stays: its name begins with left\n"
        "    ACTOR Future<Void> left();\n"
        "    ^~~~~~~~~~~~~~~~~~~~~~~~~~\n"
        "a.actor.cpp:2:7: H2: `guard` is destroyed at the end of its block\n"
        "    \tLock guard(mutex);\n"
        "    \t     ^~~~~\n"
        "    instead: a block around it\n"
        "\n"
        "1 file: 1 kept\n"
        "2 actors: 1 migrated, 1 left\n"
        "converted: 1 wait\n"
        "\n"
        "places to look at, by hazard:\n"
        "  H2  1  a plain local is destroyed at the next wait, in a coroutine with its block\n"
    )


def test_jobs_make_no_difference(around: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = "ACTOR Future<Void> bad() { wait(; }\n"
    files = {f"d{number}/a{number}.actor.cpp": ACTOR.replace("f(", f"f{number}(") for number in range(20)}
    make(around, files | {"d3/bad.actor.cpp": bad, "d5/fault.actor.cpp": "// FAULT\n" + ACTOR})
    outputs = []
    for jobs in ("1", "3"):
        assert main(["migrate", ".", "--diff", "--jobs", jobs]) == 3
        outputs.append(capsys.readouterr())
    assert outputs[0] == outputs[1]
    assert "d3/bad.actor.cpp:1:" in outputs[0].err


def test_what_convert_makes_in_the_program_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the stand-in."""
    monkeypatch.chdir(tmp_path)
    make(tmp_path, {"a.actor.cpp": TOP + "\n" + ACTOR})
    assert migrate("a.actor.cpp", "--write") == 0
    assert tree(tmp_path) == {
        "a.cpp": '#include "flow/flow.h"\nusing namespace flow;\n\n'
        "Future<Void> f(int n, Propagate = {}) {\n    co_await delay(n);\n}\n"
    }


PROGRAM = [sys.executable, "-S", str(Path(actorc.__file__).parent.parent)]


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_alive(pid: int) -> bool:
    """An orphan may stay a zombie: in a container, the first process may be any program, which need not reap it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def started(folder: Path, jobs: int) -> subprocess.Popen[str]:
    """Has much to do, and has begun with it."""
    make(folder, {f"{name}.actor.cpp": TOP + ACTOR * 1000 for name in "abcdefgh"})
    run = subprocess.Popen([*PROGRAM, "migrate", ".", f"--jobs={jobs}"], cwd=folder, stderr=subprocess.PIPE, text=True)
    while run.poll() is None and len(children(run.pid)) < 2:
        time.sleep(0.01)
    assert run.poll() is None, "it had nothing to do"
    return run


def test_workers_end_with_the_program(tmp_path: Path) -> None:
    run = started(tmp_path, jobs=100)
    workers = children(run.pid)
    assert len(workers) == 2, "a worker for four files"
    run.kill()
    run.communicate()
    deadline = time.monotonic() + 60
    while any(map(is_alive, workers)):
        assert time.monotonic() < deadline, "workers outlive the program"
        time.sleep(0.01)


def test_an_interrupt(tmp_path: Path) -> None:
    run = started(tmp_path, jobs=2)
    os.kill(run.pid, signal.SIGINT)
    _, errors = run.communicate()
    assert (run.returncode, errors) == (130, "actorc: interrupted\n")
    assert len(list(tmp_path.iterdir())) == 8
