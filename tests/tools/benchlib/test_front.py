"""tools/bench: how a command is found."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from bench import COMMANDS, OVERVIEW

BENCH = Path(__file__).resolve().parents[3] / "tools" / "bench.py"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, BENCH, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("module", [OVERVIEW, *COMMANDS.values()])
def test_every_command_can_be_called(module: str) -> None:
    assert callable(importlib.import_module(module).main)


def test_the_help_names_every_command() -> None:
    text = run("--help").stdout
    assert [name for name in COMMANDS if f"tools/bench {name}" not in text] == []


def test_an_unknown_command_gets_the_nearest() -> None:
    done = run("grow")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "tools/bench: there is no command 'grow'; did you mean growth?\n"


def test_a_word_that_nothing_resembles_gets_all() -> None:
    done = run("xyzzy")
    assert done.returncode == 2
    assert all(name in done.stderr for name in COMMANDS)


def test_a_file_of_another_kind_is_a_wrong_argument(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("no JSON", encoding="utf-8")
    done = run("compare", str(tmp_path / "x.json"), ".")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"tools/bench: {tmp_path / 'x.json'} is not what --json writes (")


def test_a_wrong_option_of_a_command_is_said_by_it() -> None:
    done = run("growth", "--compilr", "gcc")
    assert done.returncode == 2
    assert "tools/bench growth --help" in done.stderr
