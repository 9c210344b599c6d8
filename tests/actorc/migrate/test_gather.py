"""Which files are meant by the paths of a command line, and what cannot be used."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from trees import make, migrate, tree

from actorc_migrate.gather import Kind, gather, kind_of, new_path

ACTOR = "ACTOR Future<Void> f() { return Void(); }\n"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.actor.cpp", Kind.ACTORS),
        ("d/a.actor.h", Kind.ACTORS),
        ("a.actor.g.cpp", None),
        ("a.actor.g.h", None),
        ("a.cpp", Kind.PLAIN),
        ("a.hpp", Kind.PLAIN),
        ("a.inl", Kind.PLAIN),
        ("CMakeLists.txt", Kind.CMAKE),
        ("x.cmake", Kind.CMAKE),
        ("a.txt", None),
        ("a.py", None),
    ],
)
def test_the_name_tells_what_a_file_is(name: str, kind: Kind | None) -> None:
    assert kind_of(name) is kind


def test_new_names() -> None:
    assert new_path("x.actor/a.b.actor.cpp") == "x.actor/a.b.cpp"
    assert new_path("a.actor.h") == "a.h"


def paths(*given: str) -> list[str]:
    found = gather(given)
    assert found.unusable == []
    return [each.path for each in found.files.values()]


def test_a_folder_stands_for_all_below_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["b/a.actor.cpp", "b/c/x.h", "CMakeLists.txt", "readme.txt", ".git/x.cpp", ".#x.cpp", "a.actor.g.cpp"]
    make(tmp_path, dict.fromkeys([*names, "build/CMakeCache.txt", "build/deep/x.cpp"], ""))
    monkeypatch.chdir(tmp_path)
    assert paths(".") == ["CMakeLists.txt", "b/a.actor.cpp", "b/c/x.h"]


def test_a_file_that_is_given_twice_counts_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, {"d/a.actor.cpp": "", "d/e/b.h": ""})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "linked").symlink_to("d")
    assert paths("d/e/../a.actor.cpp", "d", "d/e", str(tmp_path / "d"), "linked") == ["d/a.actor.cpp", "d/e/b.h"]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("none.actor.cpp", "No such file or directory"),
        ("broken.actor.cpp", "a link that leads nowhere"),
        ("link.actor.cpp", "a link to "),
        ("other.actor.cpp", "a link to "),
        ("a.txt", "does not have the name of an actor file"),
        ("a.actor.g.cpp", "is made by actorc: name the .actor.cpp or .actor.h file"),
    ],
)
def test_what_cannot_be_used_is_told_and_the_rest_is_done(
    path: str, message: str, around: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(around, {"a.txt": "", "a.actor.g.cpp": "", "d/real.actor.cpp": "", "good.actor.cpp": ACTOR})
    (around / "broken.actor.cpp").symlink_to("nowhere")
    (around / "link.actor.cpp").symlink_to("d/real.actor.cpp")
    (around / "other.actor.cpp").symlink_to("a.txt")
    assert migrate("--write", path, "good.actor.cpp") == 1
    assert f"actorc: {path}: {message}" in capsys.readouterr().err
    assert (around / "good.cpp").exists()


def test_a_folder_that_cannot_be_read(
    around: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    make(around, {"d/a.actor.cpp": ACTOR})

    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert migrate("--write", "d") == 1
    assert "actorc: d: Permission denied" in capsys.readouterr().err


def test_a_folder_without_actors_is_nothing_to_do(around: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {"d/a.cpp": "int loop;\n", "d/CMakeLists.txt": "project(x)\n"}
    make(around, files)
    assert migrate("d", "--write") == 0
    assert capsys.readouterr().out == "there are no actor files\n2 files\n"
    assert tree(around) == files


def test_a_link_to_a_plain_file_changes_the_file(around: Path) -> None:
    make(around, {"x.actor.h": "", "d/real.cpp": '#include "x.actor.h"\n'})
    (around / "link.cpp").symlink_to("d/real.cpp")
    assert migrate("--write", "x.actor.h", "link.cpp") == 0
    assert (around / "link.cpp").is_symlink()
    assert (around / "d/real.cpp").read_text() == '#include "x.h"\n'
