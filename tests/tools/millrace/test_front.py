"""The front of the command `millrace`, and how shells complete its words."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from millrace.commands import COMMANDS
from millrace.completion.command import bash, fish, places, zsh

MILLRACE = Path(__file__).resolve().parents[3] / "tools" / "millrace"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, MILLRACE, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_can_be_called(name: str) -> None:
    assert importlib.import_module(f"millrace.{name}.arguments").parser().prog == f"millrace {name}"
    assert callable(importlib.import_module(f"millrace.{name}.command").main)


def test_the_help_names_every_command() -> None:
    done = run("--help")
    assert done.returncode == 0
    assert [name for name in COMMANDS if f"\n  {name} " not in done.stdout] == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "millrace: which command: console, profile, "),
        (["consle"], "millrace: there is no command 'consle'; did you mean console"),
        (["nonsense"], "millrace: there is no command 'nonsense'; try console, "),
        (["port", "--nonsense"], "millrace port: unrecognized arguments: --nonsense (see millrace port --help)\n"),
        (["simulate", "rn"], "millrace simulate: argument run | shrink | summary: invalid choice: 'rn'"),
    ],
)
def test_wrong_arguments(arguments: list[str], says: str) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(says)
    assert done.stderr.count("\n") == 1


def completed(*words: str) -> list[str]:
    """What bash offers in place of the last word."""
    quoted = " ".join(f"'{word}'" for word in ("millrace", *words))
    script = f'{bash(places())}\nCOMP_WORDS=({quoted}) COMP_CWORD={len(words)}; _millrace; echo "${{COMPREPLY[*]}}"'
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.split()


def test_bash_completes_commands_options_and_values() -> None:
    assert completed("") == list(COMMANDS)
    assert completed("pro") == ["profile"]
    assert completed("console", "--p") == ["--pending"]
    assert completed("profile", "--with", "") == ["perf", "signal"]
    assert completed("debugger", "l") == ["lldb"]
    assert completed("simulate", "s") == ["shrink", "summary"]
    assert completed("simulate", "run", "--sc") == ["--scheduler"]
    assert completed("simulate", "run", "adder", "--once", "--keep") == ["--keep-going"]
    assert completed("console", "--trace", "") == [], "a file: bash completes it itself"
    assert completed("nonsense", "") == []


@pytest.mark.parametrize(("shell", "make"), [("zsh", zsh), ("fish", fish)])
def test_other_shells_understand_their_scripts(shell: str, make: object, tmp_path: Path) -> None:
    assert callable(make)
    text = str(make(places()))
    assert text.count("--keep-going" if shell == "zsh" else "-l keep-going ") == 1
    if not shutil.which(shell):
        pytest.skip(f"there is no {shell}")
    (tmp_path / "script").write_text(text)
    subprocess.run([shell, "-n", tmp_path / "script"], check=True)
