"""tools/setup: that the script is whole. What it installs is there, or no other test would run."""

from __future__ import annotations

import subprocess
from pathlib import Path

SETUP = Path(__file__).resolve().parents[2] / "tools" / "setup"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SETUP, *arguments], capture_output=True, text=True, check=False)


def test_an_unknown_set_of_packages_is_refused() -> None:
    done = run("everything")
    assert done.returncode == 2
    assert "there is no set of packages 'everything'" in done.stderr


def test_it_ends_with_the_stamp_that_spares_the_next_run() -> None:
    assert SETUP.read_text(encoding="utf-8").rstrip().endswith('echo "$wanted" >"$venv/stamp"\nfi')
