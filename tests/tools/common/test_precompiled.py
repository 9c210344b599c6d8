"""Headers that are precompiled for all processes: made once, and again when something has changed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from common import precompiled as module

FLAGS = ("-std=c++20", "-Wall", "-Werror")


@pytest.fixture
def header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "PLACE", tmp_path / "build")
    (tmp_path / "inner.h").write_text("inline int value() { return 1; }\n")
    path = tmp_path / "outer.h"
    path.write_text('#include "inner.h"\n')
    return path


def options(compiler: str) -> tuple[str, ...]:
    """As another process gets them, which has no cache."""
    return module.precompiled.__wrapped__(compiler, *FLAGS, headers=("outer.h",))


def says(compiler: str, text: str) -> str:
    command = [compiler, *FLAGS, *options(compiler), "-fsyntax-only", "-xc++", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False).stderr


@pytest.mark.parametrize("compiler", ["clang++-19", "g++-12"])
def test_it_is_made_once_and_again_after_a_change(compiler: str, header: Path) -> None:
    assert says(compiler, "static_assert(sizeof(value()) == sizeof(int));\n") == ""
    (made,) = (path for path in (header.parent / "build").rglob("precompiled.*ch"))
    first = made.stat().st_mtime_ns
    assert says(compiler, "int x = value();\n") == ""
    assert made.stat().st_mtime_ns == first
    (header.parent / "inner.h").write_text("inline int another() { return 1; }\n")
    assert says(compiler, "int x = another();\n") == ""
    assert "value" in says(compiler, "int x = value();\n")
    assert made.stat().st_mtime_ns > first


def test_it_is_made_again_after_one_that_failed(header: Path) -> None:
    text = header.read_text()
    header.write_text("#error not yet\n")
    with pytest.raises(subprocess.CalledProcessError):
        options("clang++-19")
    header.write_text(text)
    assert says("clang++-19", "int x = value();\n") == ""
