"""Instructions per item over revisions.

Counts do not depend on the load of a machine, so counts of different days can be compared. They come from three places:
counts of this and earlier reports, kept in build/history; the versions of bench/baseline.json in git; and, if
asked for, earlier revisions that are built and counted for it.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from benchlib.compare.checkout import Store
from benchlib.compare.program import build_program
from benchlib.compare.side import Build
from benchlib.instructions.count import count
from benchlib.instructions.plan import countable, usual_sizes
from benchlib.results import STYLES, Row, parse_name
from benchlib.suite import available
from common.failure import Failure
from common.files import write
from common.process import ROOT

# The most informative ones; each takes a few seconds under valgrind.
WORKS = re.compile("^(DELAY|YIELD|NET2|callback|chain|cancel|error|stream|race_last)(/|$)")
BASELINE = "bench/baseline.json"
_MARK = "isWarmUp"  # in bench/run.h of each revision with passes that can be counted
_LOOP = "sim"


@dataclass(frozen=True, slots=True)
class Point:
    """A revision: instructions by the name of a benchmark, as in NET2/64/actor."""

    commit: str
    date: str
    subject: str
    place: int  # how many come before it
    counts: dict[str, float]


@dataclass(frozen=True, slots=True)
class Archive:
    """Earlier counts, in a file for each revision and compiler."""

    folder: Path = field(default_factory=lambda: ROOT / "build" / "history")

    def read(self, commit: str, compiler: str) -> dict[str, float]:
        try:
            document = json.loads(self._file(commit, compiler).read_text(encoding="utf-8"))
            counts = {str(name): float(value) for name, value in document.items()}
            return counts if all(map(_is_count, counts.values())) else {}
        except (OSError, ValueError, AttributeError, TypeError, OverflowError, RecursionError):
            return {}  # a damaged file is counted again

    def add(self, commit: str, compiler: str, counts: dict[str, float]) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Failure(f"cannot make the folder {self.folder}: {error.strerror}") from error
        text = json.dumps(self.read(commit, compiler) | counts, indent=1) + "\n"
        write(self._file(commit, compiler), text)

    def _file(self, commit: str, compiler: str) -> Path:
        return self.folder / f"{commit}-{compiler}.json"


def counts_of(rows: Sequence[Row]) -> dict[str, float]:
    """The benchmarks that the history shows."""
    found = {f"{row.label}/{style}": cell.instructions for row in rows for style, cell in row.cells.items()}
    return {name: instructions for name, instructions in found.items() if instructions and _is_shown(name)}


def head(root: Path = ROOT) -> str | None:
    """The commit of the sources; none if they are modified."""
    changed = _git(root, "status", "--porcelain", "--untracked-files=no")
    return None if changed else _git(root, "rev-parse", "--verify", "--quiet", "HEAD") or None


def points(compiler: str, archive: Archive, root: Path = ROOT) -> list[Point]:
    """All revisions below HEAD of which anything is known, oldest first."""
    baselines = set(_git(root, "log", "--format=%H", "--", BASELINE).split())
    result = []
    log = _git(root, "log", "--reverse", "--topo-order", "--format=%H%x09%cs%x09%s").splitlines()
    for place, line in enumerate(log):
        commit, date, subject = line.split("\t", 2)
        counts = archive.read(commit, compiler)
        if commit in baselines:
            counts = baseline(_git(root, "show", f"{commit}:{BASELINE}"), compiler) | counts
        if counts:
            result.append(Point(commit, date, subject, place, counts))
    return result


def baseline(text: str, compiler: str) -> dict[str, float]:
    """The counts of one compiler in a version of BASELINE; none if it is of another form."""
    try:
        rows = json.loads(text)[compiler]["rows"]
        counts = {name: float(row["instructions"]) for name, row in rows.items() if _is_shown(name)}
        return {name: value for name, value in counts.items() if _is_count(value)}
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return {}


def _is_count(value: float) -> bool:
    return 0 < value < 1e15


def _is_shown(name: str) -> bool:
    return bool(WORKS.match(name)) and parse_name(name).style in STYLES[:2]


def fill(compiler: str, number: int, archive: Archive, console: Console, root: Path = ROOT) -> None:
    """Counts so many earlier revisions, spread evenly over those that changed the runtime or actorc."""
    store = Store(root)
    for commit in spread(countable_revisions(root), number):
        if archive.read(commit, compiler):
            continue
        with store.locked(console):
            program = build_program(Build(commit[:12], commit, compiler), "a revision", store, root, console)
            archive.add(commit, compiler, _count(program, console, commit[:12]))
            store.prune()


def countable_revisions(root: Path = ROOT) -> list[str]:
    """The latest first."""
    commits = _git(root, "log", "--format=%H", "--", "flow", "actorc/actorc/emit").split()
    return [commit for commit in commits if _MARK in _git(root, "show", f"{commit}:bench/run.h")]


def spread(commits: Sequence[str], number: int) -> list[str]:
    """First, last and what lies evenly between."""
    if number >= len(commits) or number < 2:
        return list(commits[:number])
    return [commits[round(i * (len(commits) - 1) / (number - 1))] for i in range(number)]


def _count(program: Path, console: Console, title: str) -> dict[str, float]:
    names, _ = countable(available(program, _LOOP))
    chosen = [name for name in usual_sizes(names) if _is_shown(name)]
    document = count(program, chosen, _LOOP, console, f"counting {title}")
    return {one["name"]: one["instructions_per_item"] for one in document["benchmarks"] if "error_occurred" not in one}


def _git(root: Path, *arguments: str) -> str:
    """What git prints; nothing where it fails."""
    command = ["git", "--no-optional-locks", *arguments]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, errors="replace", check=False)
    return done.stdout.strip() if done.returncode == 0 else ""
