"""The fake program, and millrace simulate as a command."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

MILLRACE = Path(__file__).resolve().parents[4] / "tools" / "millrace"
FAKE = Path(__file__).parent / "fake.py"

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def fake(tmp_path: Path) -> Path:
    """A program: the interpreter starts quickly without its site packages."""
    program = tmp_path / "fake"
    script = shutil.copy(FAKE, tmp_path)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {script} "$@"\n')
    program.chmod(0o755)
    return program


@pytest.fixture
def simulate(tmp_path: Path, fake: Path) -> Command:
    """Runs a command with the fake program and a ledger of its own."""

    def run(command: str, *arguments: str | Path, program: Path = fake) -> subprocess.CompletedProcess[str]:
        options = [] if command == "shrink" else ["--ledger", str(tmp_path / "ledger.sqlite")]
        options += [] if command == "summary" else ["--program", str(program)]
        line = [sys.executable, str(MILLRACE), "simulate", command, *map(str, arguments), *options]
        return subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)

    return run
