"""Compares two sides, each of which is a program or what was measured before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from rich.console import Console

from millrace.bench.compare_report import remarks, show, too_slow, write_json
from millrace.bench.compared import Compared, in_order, text
from millrace.bench.cpu import least_busy
from millrace.bench.estimate import of_groups, of_pairs
from millrace.bench.program import Program
from millrace.bench.recorded import Recording
from millrace.bench.results import OURS, Name
from millrace.bench.runs import Samples, measure
from millrace.bench.suite import compiled
from millrace.common.arguments import UsageError
from millrace.common.failure import Failure
from millrace.common.files import check_writable

Choose = Callable[[Sequence[str]], list[str]]  # those of the names that are wanted


@dataclass(frozen=True, slots=True)
class Settings:
    filter: str
    rounds: int
    fail_above: float | None
    json: Path | None

    def check(self) -> None:
        """Before a build of minutes."""
        if self.rounds < 1:
            raise UsageError("--rounds must be at least 1")
        if self.fail_above is not None and not self.fail_above >= 0:
            raise UsageError("--fail-above must be at least 0")
        compiled(self.filter)
        if self.json:
            check_writable(self.json)


def compare(
    programs: dict[int, Program],
    recordings: dict[int, Recording],
    lines: Sequence[str],
    choose: Choose,
    settings: Settings,
    console: Console,
    out: Console,
) -> int:
    """Measures, prints, and returns the exit code. Side A is number 0; `lines` say what the sides are."""
    known = [list(programs[i].names if i in programs else recordings[i].repetitions) for i in (0, 1)]
    names = common_names(known, choose)
    samples = {}
    cpu = None
    if programs:
        cpu = least_busy()
        folder = programs[min(programs)].path.parent
        samples = measure(list(programs.values()), names, settings.rounds, cpu, folder, console)
    rows = compared(names, samples, recordings)
    errors = [f"{text(name)}: {runs.error}" for name, runs in samples.items() if runs.error]
    said = [*lines, *remarks(programs, recordings, len(rows), settings.rounds, cpu)]
    try:
        show(said, rows, only_one(known, settings.filter), errors, out)
    finally:
        if settings.json:
            write_json(settings.json, said, rows, samples)
    return 1 if errors or too_slow(rows, settings.fail_above, out) else 0


def common_names(known: Sequence[Sequence[Name]], choose: Choose) -> list[Name]:
    """Those that both sides have and that are wanted."""
    both = {text(name): name for name in in_order(known[0]) if name in set(known[1])}
    if not both:
        raise Failure("A and B have no benchmark in common")
    return [both[each] for each in choose(list(both))]


def only_one(known: Sequence[Sequence[Name]], pattern: str) -> list[list[str]]:
    """The benchmarks that match the filter and that only A, or only B, has."""
    wanted = compiled(pattern)
    styles = ("", *OURS)
    found = [[name for name in known[i] if name not in set(known[1 - i]) and name.style in styles] for i in (0, 1)]
    return [[text(name) for name in in_order(each) if wanted.search(text(name))] for each in found]


def compared(names: Sequence[Name], samples: dict[Name, Samples], recordings: dict[int, Recording]) -> list[Compared]:
    good = [name for name in names if not samples or not samples[name].error]
    rows = []
    for name in good:
        runs = [[median(run) for run in side if run] for side in samples[name].runs] if samples else []
        if recordings:
            a, b = (recordings[i].repetitions[name] if i in recordings else runs[0] for i in (0, 1))
            rows.append(Compared(name, a, b, of_groups(a, b, len(good))))
        else:
            rows.append(Compared(name, runs[0], runs[1], of_pairs(runs[0], runs[1], len(good))))
    return rows
