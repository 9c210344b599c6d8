"""tools/bench report: what is known of revisions, and which are counted."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from benchlib.report.history import BASELINE, Archive, baseline, countable_revisions, counts_of, head, points, spread
from benchlib.results import collect


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", *identity, *arguments], cwd=root, capture_output=True, text=True, check=True
    ).stdout.strip()


def commit(root: Path, name: str, text: str) -> str:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)
    git(root, "add", ".")
    git(root, "commit", "-qm", f"{name}: {text}")
    return git(root, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "-q")
    return root


def test_counts_are_kept_by_revision_and_compiler(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "history")
    assert archive.read("abc", "clang") == {}
    archive.add("abc", "clang", {"NET2/64/actor": 337.0})
    archive.add("abc", "clang", {"DELAY/64/actor": 88.0})
    assert archive.read("abc", "clang") == {"NET2/64/actor": 337.0, "DELAY/64/actor": 88.0}
    assert archive.read("abc", "gcc") == {}


@pytest.mark.parametrize("number", ["NaN", "-1", "1e400", "0"])
def test_a_count_that_cannot_be_is_none(tmp_path: Path, number: str) -> None:
    archive = Archive(tmp_path)
    archive.add("a" * 40, "clang", {"NET2/64/actor": 7.0})
    [file] = tmp_path.iterdir()
    file.write_text(file.read_text().replace("7.0", number))
    assert archive.read("a" * 40, "clang") == {}
    text = json.dumps({"clang": {"rows": {"NET2/64/actor": {"instructions": 7.0}}}})
    assert baseline(text, "clang") == {"NET2/64/actor": 7.0}
    assert baseline(text.replace("7.0", number), "clang") == {}


def test_a_damaged_file_is_none(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    for text in ("", "[1]", '{"NET2/64/actor": null}', "\x00"):
        (tmp_path / "abc-clang.json").write_text(text)
        assert archive.read("abc", "clang") == {}


def test_revisions_come_in_the_order_of_git(repository: Path, tmp_path: Path) -> None:
    archive = Archive(tmp_path / "history")
    first = commit(repository, "flow/a.h", "one")
    commit(repository, "flow/a.h", "two")
    third = commit(repository, "flow/a.h", "three\tand more")
    archive.add(third, "clang", {"NET2/64/actor": 337.0})
    archive.add(first, "clang", {"NET2/64/actor": 400.0})
    archive.add("f" * 40, "clang", {"NET2/64/actor": 1.0})
    found = points("clang", archive, repository)
    assert [(point.commit, point.subject, point.place) for point in found] == [
        (first, "flow/a.h: one", 0),
        (third, "flow/a.h: three\tand more", 2),
    ]
    assert points("gcc", archive, repository) == []


def test_a_version_of_the_baseline_is_a_revision(repository: Path, tmp_path: Path) -> None:
    rows = {"NET2/64/actor": {"instructions": 340.5, "allocs": 1}, "map/library": {"instructions": 9}}
    first = commit(repository, BASELINE, json.dumps({"clang": {"rows": rows}}))
    commit(repository, "flow/a.h", "no other baseline")
    broken = commit(repository, BASELINE, "{")
    archive = Archive(tmp_path / "history")
    archive.add(broken, "clang", {"NET2/64/actor": 341.0})
    found = points("clang", archive, repository)
    assert [(point.commit, point.counts) for point in found] == [
        (first, {"NET2/64/actor": 340.5}),
        (broken, {"NET2/64/actor": 341.0}),
    ]
    assert points("gcc", archive, repository) == []


def test_only_what_is_committed_has_a_revision(repository: Path) -> None:
    assert head(repository) is None
    first = commit(repository, "flow/a.h", "one")
    assert head(repository) == first
    (repository / "flow/a.h").write_text("changed")
    assert head(repository) is None


def test_what_changed_the_runtime_can_be_counted(repository: Path) -> None:
    commit(repository, "flow/a.h", "before passes could be counted")
    commit(repository, "bench/run.h", "bool isWarmUp();")
    wanted = [commit(repository, "flow/a.h", "one"), commit(repository, "actorc/actorc/emit/a.py", "two")]
    commit(repository, "README.md", "three")
    assert countable_revisions(repository) == wanted[::-1]


def test_where_there_is_no_git_there_is_no_history(tmp_path: Path) -> None:
    assert points("clang", Archive(tmp_path), tmp_path) == []


@pytest.mark.parametrize(
    ("number", "chosen"), [(0, ""), (1, "a"), (2, "ag"), (3, "adg"), (7, "abcdefg"), (9, "abcdefg")]
)
def test_revisions_are_spread(number: int, chosen: str) -> None:
    assert "".join(spread("abcdefg", number)) == chosen


def test_the_history_is_of_both_styles_of_some_works() -> None:
    names = ["NET2/64/actor", "NET2/64/coroutine", "NET2/64/actorc-coroutine", "timers/64/actor", "map/library"]
    rows = collect({"name": name, "instructions_per_item": 5.0} for name in names)
    assert counts_of(rows) == {"NET2/64/actor": 5.0, "NET2/64/coroutine": 5.0}
