"""The programs of the pages, done as a reader would do them.

A block with a title is written to the file of that name. A block of the language `console` is typed, command by
command, and must print what the page shows. A page's blocks share one folder.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# What is installed here has the costly assertions, which say this as well.
IN_ACTOR = re.compile(r"^flow:   in actor .*\n", re.MULTILINE)
BLOCK = re.compile(r'^```(\w*)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)


def pages() -> list[Path]:
    candidates = [ROOT / "README.md", *sorted(ROOT.glob("*/docs/*.md")), *sorted(ROOT.glob("flow/*/README.md"))]
    elsewhere = ROOT / "actorc" / "docs" / "migration.md"  # tests/actorc/migrate/test_examples.py runs its programs
    return [page for page in candidates if page != elsewhere and "```console" in page.read_text(encoding="utf-8")]


def shown(page: Path) -> list[tuple[str, str, str]]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def test_there_are_pages() -> None:
    assert {"README.md", "flow/docs/quick_start.md", "flow/docs/tutorial.md"} <= {name_of(page) for page in pages()}


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_the_commands_of_a_page_print_what_it_shows(page: Path, shell: dict[str, str], tmp_path: Path) -> None:
    for language, title, text in shown(page):
        if title:
            (tmp_path / title).write_text(text, encoding="utf-8")
        if language != "console":
            continue
        lines = text.splitlines(keepends=True)
        commands = [line[2:] for line in lines if line.startswith("$ ")]
        printed = "".join(typed(command, tmp_path, shell) for command in commands)
        assert IN_ACTOR.sub("", printed) == "".join(line for line in lines if not line.startswith("$ ")), commands


def typed(command: str, folder: Path, shell: dict[str, str]) -> str:
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=shell,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=600,
    )
    return done.stdout


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_each_program_of_a_page_has_a_name(page: Path) -> None:
    """A block of C++ without one would be checked by nothing."""
    assert [text for language, title, text in shown(page) if language == "cpp" and not title] == []
