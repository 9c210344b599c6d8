"""The cost and the memory of an actor by the number of actors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from millrace.bench.results import collect, parse_name
from millrace.bench.suite import RunError, once
from millrace.bench.tables import number
from millrace.common.table import Table

STYLES = ("actor", "coroutine")
FLOORS = {"actor": "floor-callback", "coroutine": "floor-coroutine"}  # the least that is possible
MEMORY = "waiting"  # this work measures memory, not time
_TITLES = {"actor": "ACTOR"}

LIMIT = 2.5  # times the cost at LIMIT_SIZES[0] that the cost at LIMIT_SIZES[1] may be
LIMIT_SIZES = (64, 65536)
CLIFF = 1.5  # times the cost of half as many
SMALLEST = 64  # with fewer actors, the fixed costs of a pass dominate
SMALLEST_MEMORY = 4096  # with fewer actors, whole pages are too coarse a measure


@dataclass(slots=True)
class Series:
    """One work in one style: cost per actor by the number of actors."""

    compiler: str
    benchmark: str
    style: str
    cost: dict[int, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.benchmark} {_TITLES.get(self.style, self.style)}"

    @property
    def is_memory(self) -> bool:
        return self.benchmark == MEMORY

    def rise(self, before: int, after: int) -> float | None:
        few, many = self.cost.get(before), self.cost.get(after)
        return many / few if few and many is not None else None

    def limit_ratio(self) -> float | None:
        """The cost of very many against that of a few."""
        return self.rise(*LIMIT_SIZES)

    def steepest(self) -> tuple[int, int, float] | None:
        """The two neighbouring sizes between which the cost rises most and stays high, and the ratio.

        A single slow N is a disturbance.
        """
        sizes = sorted(size for size in self.cost if size >= SMALLEST)
        lasting = {size: min(self.cost[later] for later in sizes[i:]) for i, size in enumerate(sizes)}
        steps = [(a, b, lasting[b] / lasting[a]) for a, b in pairwise(sizes) if lasting[a] > 0]
        return max(steps, key=lambda step: step[2], default=None)


def timed(compiler: str, results: Iterable[dict[str, Any]]) -> list[Series]:
    """The minima of a run."""
    found: dict[tuple[str, str], Series] = {}
    for row in collect(results):
        for style, cell in row.cells.items():
            if row.size is None or cell.minimum is None:
                continue
            series = found.setdefault((row.benchmark, style), Series(compiler, row.benchmark, style))
            series.cost[row.size] = cell.minimum
    works = list(dict.fromkeys(one.benchmark for one in found.values()))
    return sorted(found.values(), key=lambda one: (works.index(one.benchmark), one.style))


def resident(compiler: str, program: Path, loop: str, names: Sequence[str]) -> list[Series]:
    """Resident bytes of each actor that waits. A process keeps memory that it once used, so each measurement has its
    own process."""
    found = {style: Series(compiler, MEMORY, style) for style in STYLES}
    for text in names:
        name = parse_name(text)
        if name.benchmark != MEMORY or name.style not in found or (name.size or 0) < SMALLEST_MEMORY:
            continue
        for result in once(program, [text], loop, 1, ["--growth"])["benchmarks"]:
            if result.get("error_occurred"):
                raise RunError(f"{text}: {result['error_message']}")
            found[name.style].cost[name.size or 0] = float(result["resident_per_item"])
    return list(found.values())


def growth_table(series: Sequence[Series], title: str, plain: bool) -> Table:
    """A row for each N, a column for each series."""
    result = Table(title, plain)
    result.numbers("N", *(one.name for one in series))
    for size in sorted({size for one in series for size in one.cost}):
        result.add_row(str(size), *(number(one.cost.get(size)) for one in series))
    return result


def remarks(series: Sequence[Series], floors: Sequence[Series] = ()) -> list[str]:
    """Many against few, and where the cost rises most."""
    return [*limits(series), *steps(series, floors)]


def limits(series: Sequence[Series]) -> list[str]:
    """What very many cost, against a few."""
    few, many = LIMIT_SIZES
    lines = []
    for one in series:
        ratio = one.limit_ratio()
        if ratio is not None and not one.is_memory:
            verdict = "within" if ratio <= LIMIT else "above"
            lines.append(f"{one.name}: {many} actors cost {ratio:.2f} times what {few} do, {verdict} {LIMIT}")
    return lines


def steps(series: Sequence[Series], floors: Sequence[Series] = ()) -> list[str]:
    """Where the cost rises most from one size to twice as many; where that is a cliff, how the floor rises there."""
    lines = []
    for one in series:
        step = one.steepest()
        if step is not None:
            kind = "cliff" if step[2] >= CLIFF else "no cliff; steepest"
            line = f"{one.name}: {kind}: {step[2]:.2f} times from {step[0]} to {step[1]}"
            for floor in floors:
                rise = floor.rise(step[0], step[1])
                if step[2] >= CLIFF and (floor.benchmark, floor.style) == (one.benchmark, FLOORS[one.style]) and rise:
                    line += f", the floor {rise:.2f} times"
            lines.append(line)
    return lines
