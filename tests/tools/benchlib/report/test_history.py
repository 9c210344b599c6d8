"""tools/bench report: what git knows of instructions."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from benchlib.report.history import BASELINE, baseline, points


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", *identity, *arguments], cwd=root, capture_output=True, text=True, check=True
    ).stdout.strip()


def commit(root: Path, name: str, text: str) -> str:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)
    git(root, "add", ".")
    git(root, "commit", "-qm", f"{name}\tand more")
    return git(root, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    return tmp_path


def counts(**instructions: float) -> str:
    rows = {compiler: {"NET2/64/actor": {"instructions": count}} for compiler, count in instructions.items()}
    return json.dumps({compiler: {"rows": one} for compiler, one in rows.items()})


@pytest.mark.parametrize("number", ["NaN", "-1", "1e400", "0"])
def test_a_count_that_cannot_be_is_none(number: str) -> None:
    text = counts(clang=7.0)
    assert baseline(text, "clang") == {"NET2/64/actor": 7.0}
    assert baseline(text.replace("7.0", number), "clang") == {}


def test_the_versions_of_the_baseline_come_in_the_order_of_git(repository: Path) -> None:
    first = commit(repository, BASELINE, counts(clang=340.5))
    commit(repository, "flow/a.h", "no other baseline")
    commit(repository, BASELINE, "{")
    last = commit(repository, BASELINE, counts(clang=337.0, gcc=350.0))
    found = points(["clang", "gcc"], repository)
    assert [(point.commit, point.subject) for point in found] == [
        (each, f"{BASELINE}\tand more") for each in (first, last)
    ]
    assert [point.counts for point in found] == [
        {"clang": {"NET2/64/actor": 340.5}},
        {"clang": {"NET2/64/actor": 337.0}, "gcc": {"NET2/64/actor": 350.0}},
    ]
    assert [point.commit for point in points(["gcc"], repository)] == [last]


def test_both_styles_of_some_works_are_shown() -> None:
    names = ["NET2/64/actor", "NET2/64/coroutine", "NET2/64/actorc-coroutine", "timers/64/actor", "map/library"]
    text = json.dumps({"clang": {"rows": {name: {"instructions": 5.0} for name in names}}})
    assert baseline(text, "clang") == {"NET2/64/actor": 5.0, "NET2/64/coroutine": 5.0}


def test_where_there_is_no_git_there_is_no_history(tmp_path: Path) -> None:
    assert points(["clang"], tmp_path) == []
