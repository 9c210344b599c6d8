"""Instructions per item over revisions: the versions of bench/baseline.json in git.

Counts do not depend on the load of a machine, so counts of different days can be compared.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from common.tree import ROOT
from millrace.bench.results import STYLES, parse_name

# The most informative ones.
WORKS = re.compile("^(DELAY|YIELD|NET2|callback|chain|cancel|error|stream|race_last)(/|$)")
BASELINE = "bench/baseline.json"


@dataclass(frozen=True, slots=True)
class Point:
    """A revision: instructions by compiler, and by the name of a benchmark, as in NET2/64/actor."""

    commit: str
    date: str
    subject: str
    counts: dict[str, dict[str, float]]


def points(compilers: Sequence[str], root: Path = ROOT) -> list[Point]:
    """The revisions that wrote counts down, oldest first."""
    result = []
    for line in _git(root, "log", "--reverse", "--topo-order", "--format=%H%x09%cs%x09%s", "--", BASELINE).splitlines():
        commit, date, subject = line.split("\t", 2)
        text = _git(root, "show", f"{commit}:{BASELINE}")
        if counts := {compiler: one for compiler in compilers if (one := baseline(text, compiler))}:
            result.append(Point(commit, date, subject, counts))
    return result


def baseline(text: str, compiler: str) -> dict[str, float]:
    """The counts of one compiler in a version of BASELINE; none if it is of another form."""
    try:
        rows = json.loads(text)[compiler]["rows"]
        counts = {name: float(row["instructions"]) for name, row in rows.items() if _is_shown(name)}
        return {name: value for name, value in counts.items() if 0 < value < 1e15}
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return {}


def _is_shown(name: str) -> bool:
    return bool(WORKS.match(name)) and parse_name(name).style in STYLES[:2]


def _git(root: Path, *arguments: str) -> str:
    """What git prints; nothing where it fails."""
    command = ["git", "--no-optional-locks", *arguments]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, errors="replace", check=False)
    return done.stdout.strip() if done.returncode == 0 else ""
