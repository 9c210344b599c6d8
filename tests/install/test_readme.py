"""The README's examples, done as a reader would do them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
ACTOR, MISTAKE, COROUTINE, PROPAGATING, TESTS = (text for language, text in BLOCKS if language == "cpp")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A place that looks like the repository's root, so that the commands can be typed as they stand."""
    for name in ("tools", "flow"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


def perform(first_command: str, folder: Path) -> tuple[str, str]:
    """Types the console block that begins so. Returns what the commands printed, and what the README shows."""
    lines = next(text for _, text in BLOCKS if text.startswith(f"$ {first_command}")).splitlines(keepends=True)
    printed = ""
    for command in (line[2:] for line in lines if line.startswith("$ ")):
        done = subprocess.run(
            command, shell=True, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        printed += done.stdout
    return printed, "".join(line for line in lines if not line.startswith("$ "))


def test_the_actor_in_60_seconds(folder: Path) -> None:
    (folder / "countdown.actor.cpp").write_text(ACTOR, encoding="utf-8")
    printed, shown = perform("tools/actorc countdown", folder)
    assert printed == shown


def test_the_same_actor_as_a_coroutine(folder: Path) -> None:
    begin, end = ACTOR.index("// Prints numbers"), ACTOR.index("ACTOR Future<Void> count")
    mixed = ACTOR[:begin] + COROUTINE + PROPAGATING + "\n" + ACTOR[end:]
    (folder / "countdown.actor.cpp").write_text(mixed, encoding="utf-8")
    printed, shown = perform("tools/actorc countdown", folder)
    assert printed == shown


def test_the_mistake(folder: Path) -> None:
    (folder / "wrong.actor.cpp").write_text(MISTAKE, encoding="utf-8")
    printed, shown = perform("tools/actorc wrong", folder)
    assert printed == shown


def test_the_tests(folder: Path) -> None:
    (folder / "delay_test.actor.cpp").write_text(TESTS, encoding="utf-8")
    printed, shown = perform("tools/actorc delay_test", folder)
    assert printed == shown
