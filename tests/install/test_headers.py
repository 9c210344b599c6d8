"""The headers that are installed: those that programs include, and those that these need."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from common.build import binary_dir

ROOT = Path(__file__).resolve().parents[2]
UMBRELLAS = {"flow/flow.h", "flow/sim.h"}
PAGES = ("*.md", "flow/docs/**/*.md", "net/docs/**/*.md", "actorc/**/*.md")
EXAMPLES = ("net/examples/**/*", "tests/examples/**/*")
EMITTERS = ("actorc/**/*.py", "actorc/**/*.j2")
FOR_MAINTAINERS = "internals.md"
_PATH = re.compile(r"\b(?:flow|net)/[\w/]+\.h\b")
_LAST_PART = re.compile(r"(?<![\w/])\w+\.h\b")
_INCLUDE = re.compile(r'^ *# *include "([^"]+)"', re.MULTILINE)


def texts(*patterns: str) -> list[str]:
    """Of the files of the tree that users read, build, or that actorc emits code with."""
    paths = [path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file()]
    return [path.read_text(encoding="utf-8", errors="replace") for path in paths if path.name != FOR_MAINTAINERS]


def included(header: str) -> set[str]:
    text = (ROOT / header).read_text(encoding="utf-8")
    beside = [((ROOT / header).parent / name, ROOT / name) for name in _INCLUDE.findall(text)]
    paths = [next((path for path in both if path.exists()), None) for both in beside]
    return {path.resolve().relative_to(ROOT).as_posix() for path in paths if path}


def for_programs(headers: set[str]) -> set[str]:
    """Umbrella headers, those for other vocabularies, and those that a page, an example or emitted code names; and what
    they include."""
    pages = texts(*PAGES)
    paths = {name for text in (*pages, *texts(*EXAMPLES, *EMITTERS)) for name in _PATH.findall(text)}
    parts = {name for text in pages for name in _LAST_PART.findall(text)}
    waiting = [each for each in headers if "/compat/" in each or each in UMBRELLAS | paths or Path(each).name in parts]
    found: set[str] = set()
    while waiting:
        if (header := waiting.pop()) not in found:
            found.add(header)
            waiting += included(header)
    return found


@pytest.mark.slow
def test_what_is_installed_is_what_programs_include(prefix: Path) -> None:
    # The folder may have files of an earlier installation.
    files = (binary_dir("tests") / "install_manifest.txt").read_text(encoding="utf-8").split()
    installed = {file.split("/include/millrace/")[1] for file in files if file.endswith(".h")}
    assert all((prefix / "include" / "millrace" / header).is_file() for header in installed)
    in_tree = {path.relative_to(ROOT).as_posix() for top in ("flow", "net") for path in (ROOT / top).rglob("*.h")}
    expected = for_programs({header for header in in_tree if not header.startswith("net/examples/")})
    assert sorted(installed - expected) == [], "no program includes them: name them in Install.cmake, or on a page"
    assert sorted(expected - installed) == [], "a program needs them: remove them from Install.cmake"
    assert not [header for header in installed if "example" in header]
