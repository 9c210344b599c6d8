"""Symbolic links to actor files: none leads nowhere afterwards."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from trees import TOP, killed, make, migrate, tree

ACTOR = TOP + "ACTOR Future<Void> f() { return Void(); }\n"
FILES = {"src/a.actor.cpp": ACTOR, "src/x.actor.h": "int x;\n", "b.cpp": '#include "api/y.actor.h"\n'}
LISTS = "add_actor_sources(t FILES link.actor.cpp)\n"


def links(folder: Path) -> dict[str, str]:
    found = sorted(path for path in folder.rglob("*") if path.is_symlink())
    assert all(path.exists() for path in found)
    return {str(path.relative_to(folder)): os.readlink(path) for path in found}


def linked(around: Path) -> None:
    make(around, FILES | {"CMakeLists.txt": LISTS})
    (around / "api").mkdir()
    (around / "api/y.actor.h").symlink_to("../src/x.actor.h")
    (around / "link.actor.cpp").symlink_to("src/a.actor.cpp")
    (around / "link2.actor.cpp").symlink_to("link.actor.cpp")
    (around / "notes.txt").symlink_to(around / "src/x.actor.h")


def test_links_go_with_their_files(around: Path, capsys: pytest.CaptureFixture[str]) -> None:
    linked(around)
    assert migrate(".", "--write") == 0
    assert links(around) == {
        "api/y.h": "../src/x.h",
        "link.cpp": "src/a.cpp",
        "link2.cpp": "link.cpp",
        "notes.txt": f"{around}/src/x.h",
    }
    assert tree(around)["b.cpp"] == '#include "api/y.h"\n'
    assert "link.cpp" in tree(around)["CMakeLists.txt"]
    assert "actor" not in tree(around)["CMakeLists.txt"]
    out = capsys.readouterr().out
    assert "link.actor.cpp -> link.cpp\n" in out
    assert "notes.txt is updated\n" in out
    assert "8 files: 2 migrated, 2 updated, 4 relinked\n" in out
    assert migrate(".", "--write") == 0


def test_a_patch_has_them(around: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    linked(around)
    (around / "notes.txt").unlink()
    assert migrate(".", "--diff") == 0
    patch = capsysbinary.readouterr().out
    subprocess.run(["git", "init", "-q"], check=True)
    subprocess.run(["git", "apply", "-"], input=patch, check=True)
    subprocess.run(["rm", "-r", ".git"], check=True)
    assert links(around) == {"api/y.h": "../src/x.h", "link.cpp": "src/a.cpp", "link2.cpp": "link.cpp"}


@pytest.mark.parametrize("given", [["link.actor.cpp"], ["link2.actor.cpp", "src"]])
def test_a_link_whose_file_is_not_given_stays(
    given: list[str], around: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    linked(around)
    assert migrate(*given, "--write") == 1
    file = "src/a.actor.cpp" if given == ["link.actor.cpp"] else "link.actor.cpp"
    told = f"actorc: {given[0]}: a link to {around}/{file}, which is not given: name that, too\n"
    assert told in capsys.readouterr().err
    assert os.readlink(around / given[0]) == ("src/a.actor.cpp" if given == ["link.actor.cpp"] else "link.actor.cpp")


def test_a_link_whose_name_is_taken_keeps_its_file(around: Path, capsys: pytest.CaptureFixture[str]) -> None:
    linked(around)
    make(around, {"api/y.h": ""})
    assert migrate(".", "--write") == 1
    reason = "the link api/y.actor.h leads to it, and api/y.h exists"
    assert f"actorc: src/x.actor.h: skipped: {reason}\n" in capsys.readouterr().err
    assert links(around)["api/y.actor.h"] == "../src/x.actor.h"
    assert tree(around)["b.cpp"] == FILES["b.cpp"]
    assert "src/a.cpp" in tree(around)


def test_a_file_that_stays_keeps_its_links(around: Path) -> None:
    make(around, {"a.actor.cpp": "ACTOR Future<Void> left();\n"})
    (around / "link.actor.cpp").symlink_to("a.actor.cpp")
    assert migrate(".", "--write") == 1
    assert links(around) == {"link.actor.cpp": "a.actor.cpp"}


def test_a_folder_that_is_a_link_is_the_folder(around: Path) -> None:
    make(around, {"d/a.actor.cpp": ACTOR})
    (around / "linked").symlink_to("d")
    assert migrate("linked", "--write") == 0
    assert sorted(os.listdir(around / "d")) == ["a.cpp"]


@pytest.mark.parametrize("steps", range(12))
def test_a_killed_run_is_completed(steps: int, around: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    linked(around)
    killed(monkeypatch, steps, "replace", "unlink")
    assert migrate(".", "--write") == 0
    assert sorted(links(around)) == ["api/y.h", "link.cpp", "link2.cpp", "notes.txt"]
    assert sorted(os.listdir(around / "src")) == ["a.cpp", "x.h"]
    assert sorted(os.listdir(around / "api")) == ["y.h"]
    assert [name for name in os.listdir(around) if name.startswith(".")] == []
