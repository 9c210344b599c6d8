"""tools/dependents.py, on what Ninja prints of small builds, and on the builds that are there."""

import json
import os
import subprocess
from pathlib import Path

import pytest

import dependents

ROOT = Path(__file__).resolve().parents[2]
HEADERS: dependents.Recorded = json.loads(dependents.RECORDED.read_text(encoding="utf-8"))
PRESETS = sorted({preset for most in HEADERS.values() for preset in most})


@pytest.mark.parametrize("preset", PRESETS)
def test_an_edit_of_a_header_compiles_no_more_than_is_recorded(preset: str, capsys: pytest.CaptureFixture[str]) -> None:
    build = ROOT / "build" / preset
    if not (build / ".ninja_deps").exists():
        pytest.skip(f"{preset} is not built")
    code = dependents.main([str(build)])
    assert code == 0, capsys.readouterr().err


def test_ten_headers_are_named() -> None:
    assert len(HEADERS) == 10


def listing(build: Path, **objects: str) -> str:
    """As of `ninja -t deps`, for objects of target `t` with the files that they were made of. Makes them."""
    parts = []
    for name, files in objects.items():
        output = build / "CMakeFiles/t.dir" / name
        output.parent.mkdir(parents=True, exist_ok=True)
        output.touch()
        lines = "".join(f"    {file}\n" for file in files.split())
        parts.append(f"CMakeFiles/t.dir/{name}: #deps {len(files.split())}, deps mtime 1 (VALID)\n{lines}\n")
    return "".join(parts)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("flow/a.cpp", "flow/b.cpp", "flow/c.actor.cpp", "flow/h.h", "net/examples/e.cpp", "tests/t.cpp"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    dependents.changed.cache_clear()
    return tmp_path


def count(root: Path, text: str) -> int:
    return dependents.dependents(["flow/h.h"], text, root / "build", root)["flow/h.h"]


def test_objects_that_depend_on_a_header(tree: Path) -> None:
    header = tree / "flow/h.h"
    objects = {"flow/a.cpp.o": f"{tree}/flow/a.cpp {header}", "flow/b.cpp.o": f"{tree}/flow/b.cpp"}
    assert count(tree, listing(tree / "build", **objects)) == 1


@pytest.mark.parametrize("mentions", ["CMakeFiles/t.dir/pch.hxx.pch", "{build}/CMakeFiles/t.dir/pch.hxx"])
def test_a_precompiled_header_counts_for_each_object_that_uses_it(tree: Path, mentions: str) -> None:
    use = mentions.format(build=tree / "build")
    objects = {"pch.hxx.pch": f"{tree}/flow/h.h", "flow/a.cpp.o": f"{tree}/flow/a.cpp {use}", "flow/b.cpp.o": use}
    assert count(tree, listing(tree / "build", **objects)) == 2


def test_an_object_that_is_older_than_a_source_of_it_is_not_counted(tree: Path) -> None:
    objects = {f"flow/{name}.cpp.o": f"{tree}/flow/{name}.cpp {tree}/flow/h.h" for name in "ab"}
    text = listing(tree / "build", **objects)
    os.utime(tree / "flow/b.cpp", (2e10, 2e10))
    assert count(tree, text) == 1


@pytest.mark.parametrize(
    "name",
    [
        "CMakeFiles/t.dir/flow/c.actor.cpp.o",
        "net/examples/CMakeFiles/echo.dir/e.cpp.o",
        "net/examples/CMakeFiles/kv.dir/Unity/unity_0_cxx.cxx.o",
        "tests/CMakeFiles/t.dir/t.actors/state-machine/made.cpp.o",
        "CMakeFiles/t.dir/pch.hxx.pch",
    ],
)
def test_objects_that_are_not_counted(tree: Path, name: str) -> None:
    assert not dependents.is_counted(name, tree)


@pytest.mark.parametrize(
    "name",
    [
        "tests/CMakeFiles/t.dir/t.cpp.o",
        "tests/CMakeFiles/t.dir/__/flow/a.cpp.o",
        "tests/CMakeFiles/t.dir/Unity/unity_12_cxx.cxx.o",
    ],
)
def test_objects_that_are_counted(tree: Path, name: str) -> None:
    assert dependents.is_counted(name, tree)


def test_a_folder_in_which_nothing_is_built(tree: Path) -> None:
    with pytest.raises(SystemExit, match="nothing is built"):
        count(tree, "")


def run(tree: Path, recorded: dict[str, int], monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """On a build of two objects, both of which depend on the header."""
    objects = {f"flow/{name}.cpp.o": f"{tree}/flow/{name}.cpp {tree}/flow/h.h" for name in "ab"}
    done = subprocess.CompletedProcess([], 0, listing(tree / "build", **objects))
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    file = tree / "recorded.json"
    file.write_text(json.dumps({header: {"build": most} if most else {} for header, most in recorded.items()}))
    return dependents.main([str(tree / "build"), *arguments], tree, file)


def test_more_objects_than_recorded_fail(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tree, {"flow/h.h": 2}, monkeypatch) == 0
    assert run(tree, {"flow/h.h": 1}, monkeypatch) == 1
    assert "flow/h.h: 2 objects depend on it, and 1 are allowed" in capsys.readouterr().err


def test_a_header_that_is_no_longer_there_fails(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tree, {"flow/h.h": 2, "flow/gone.h": 9}, monkeypatch) == 1
    assert "flow/gone.h is not there" in capsys.readouterr().err


def test_a_preset_without_numbers_fails(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit, match="has no numbers for build"):
        run(tree, {"flow/h.h": 0}, monkeypatch)


@pytest.mark.parametrize(("before", "after", "code"), [(5, 2, 0), (0, 2, 0), (1, 1, 1)])
def test_only_lower_and_new_numbers_are_recorded(
    tree: Path, monkeypatch: pytest.MonkeyPatch, before: int, after: int, code: int
) -> None:
    assert run(tree, {"flow/h.h": before}, monkeypatch, "--record") == code
    assert json.loads((tree / "recorded.json").read_text()) == {"flow/h.h": {"build": after}}
