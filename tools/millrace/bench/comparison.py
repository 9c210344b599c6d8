"""The changes since the baseline was written."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from statistics import geometric_mean

from millrace.bench.baseline import MEASURES, Baseline, Numbers

LIMIT = 0.03
# A compiler may need one instruction more without a reason in the source, which is 9 % of the shortest row.
SLACK = {"instructions": 1.0}
# Two counts of one row may differ by so much; a smaller change does not rewrite the line in the file.
REPEATABLE = 0.005


@dataclass(frozen=True, slots=True)
class Change:
    """A changed number of a row."""

    name: str
    what: str
    old: float
    new: float

    @property
    def percent(self) -> str:
        if not self.old:
            return "from nothing"
        return f"{(self.new / self.old - 1) * 100:+.1f} %"

    def __str__(self) -> str:
        return f"{self.name}: {self.what} {self.old:g} -> {self.new:g} ({self.percent})"


@dataclass(slots=True)
class Comparison:
    worse: list[Change] = field(default_factory=list)
    slightly_worse: list[Change] = field(default_factory=list)  # really, but within the limit
    better: list[Change] = field(default_factory=list)
    new: list[str] = field(default_factory=list)  # only in the program
    missing: list[str] = field(default_factory=list)  # only in the baseline
    average: str = ""  # the geometric mean of all changes in instructions: shows slow growth below the limit

    @property
    def good(self) -> bool:
        return not (self.worse or self.new or self.missing)


def compare(baseline: Baseline, now: Baseline, looked_at: Collection[str]) -> Comparison:
    """Of the names in `looked_at`, which are those of the baseline, of the program, or both."""
    both = [(baseline.rows[name], numbers) for name, numbers in now.rows.items() if name in baseline.rows]
    ratios = [new["instructions"] / old["instructions"] for old, new in both if old["instructions"]]
    result = Comparison(average=f"{(geometric_mean(ratios) - 1) * 100:+.2f} %" if ratios else "not comparable")
    result.new = [name for name in now.rows if name not in baseline.rows]
    result.missing = [name for name in baseline.rows if name in looked_at and name not in now.rows]
    for name, numbers in now.rows.items():
        for change in changes(name, baseline.rows.get(name), numbers):
            if is_more(change.what, change.old, change.new):
                result.worse.append(change)
            elif is_more(change.what, change.new, change.old):
                result.better.append(change)
            elif change.new > change.old and is_worth_a_line(change):
                result.slightly_worse.append(change)
    return result


def changes(name: str, old: Numbers | None, new: Numbers) -> list[Change]:
    """All changes, however small; none for new rows."""
    if old is None:
        return []
    found = [Change(name, what, old.get(what, 0), new.get(what, 0)) for what in MEASURES]
    return [change for change in found if change.old != change.new]


def is_more(what: str, old: float, new: float) -> bool:
    return new - old > max(LIMIT * old, SLACK.get(what, 0))


def updated(baseline: Baseline, now: Baseline, looked_at: Collection[str]) -> tuple[Baseline, list[str]]:
    """The baseline with the new counts of the checked rows, and the changed lines."""
    said = [
        f"{tool} {baseline.tools.get(tool, '-')} -> {now.tools[tool]}"
        for tool in now.tools
        if baseline.tools.get(tool) != now.tools[tool]
    ]
    rows = {name: numbers for name, numbers in baseline.rows.items() if name not in looked_at or name in now.rows}
    said += [f"removed: {name}" for name in baseline.rows if name not in rows]
    for name, numbers in now.rows.items():
        if name not in rows:
            said.append(f"added: {name}")
            rows[name] = numbers
        elif some := [change for change in changes(name, rows[name], numbers) if is_worth_a_line(change)]:
            said += map(str, some)
            rows[name] = numbers
    return Baseline(now.tools, rows), said


def is_worth_a_line(change: Change) -> bool:
    return abs(change.new - change.old) > REPEATABLE * change.old
