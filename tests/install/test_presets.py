"""The presets by which the libraries are built to be installed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(("preset", "compiler"), [("library", "clang++-19"), ("gcc-library", "g++-12")])
def test_a_preset_of_the_libraries_configures_nothing_else(preset: str, compiler: str, tmp_path: Path) -> None:
    subprocess.run(["cmake", "--preset", preset, "-B", tmp_path], cwd=ROOT, check=True, capture_output=True)
    commands = (tmp_path / "compile_commands.json").read_text(encoding="utf-8")
    assert f"/{compiler} " in commands
    assert "/flow/" in commands and "/net/" in commands
    assert "/tests/" not in commands and "/bench/" not in commands and "/examples/" not in commands
