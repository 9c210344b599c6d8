"""What the presets that no tool builds have: the libraries, and the examples."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("preset", "compiler", "has_examples"),
    [
        ("library", "clang++-19", False),
        ("gcc-library", "g++", False),
        ("clang", "clang++-19", True),
        ("gcc", "g++", True),
    ],
)
def test_a_preset_builds_what_its_name_says_and_nothing_else(
    preset: str, compiler: str, has_examples: bool, tmp_path: Path
) -> None:
    subprocess.run(["cmake", "--preset", preset, "-B", tmp_path], cwd=ROOT, check=True, capture_output=True)
    commands = (tmp_path / "compile_commands.json").read_text(encoding="utf-8")
    assert f"/{compiler} " in commands
    assert "/flow/" in commands and "/net/" in commands
    assert ("/net/examples/" in commands) == has_examples
    assert "/tests/" not in commands and "/bench/" not in commands
    assert "-Werror" not in commands
