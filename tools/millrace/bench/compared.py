"""The table of tools/bench compare, and the lines below it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import median

from millrace.bench.estimate import FASTER, MARGIN, SAME, SLOWER, UNBOUNDED, Estimate
from millrace.bench.results import OURS, Cell, Name, Row, noise
from millrace.bench.tables import new_table, number
from millrace.common.table import Table


@dataclass(frozen=True, slots=True)
class Compared:
    """One benchmark: the result of each run, in nanoseconds per item."""

    name: Name
    a: Sequence[float]
    b: Sequence[float]
    estimate: Estimate


def text(name: Name) -> str:
    return f"{name.label}/{name.style}" if name.style else name.label


def in_order(names: Iterable[Name]) -> list[Name]:
    """Benchmarks as they come, the sizes of each ascending, the styles of each size as in all tables."""
    first: dict[str, int] = {}
    known = list(names)
    for name in known:
        first.setdefault(name.benchmark, len(first))
    styles = {style: index for index, style in enumerate(OURS)}
    return sorted(
        known, key=lambda name: (first[name.benchmark], name.size or 0, styles.get(name.style, len(OURS)), name.style)
    )


def table(rows: Sequence[Compared], title: str, plain: bool) -> Table:
    headings = ("A min", "median", "B min", "median", "B/A", "interval")
    result = new_table(title, plain, headings, optional=("median", "A min", "B min"))
    result.texts("B is")
    for row in rows:
        times = (min(row.a), median(row.a), min(row.b), median(row.b))
        estimate = row.estimate
        result.add_row(text(row.name), *map(number, times), ratio(estimate.ratio), interval(estimate), estimate.verdict)
    return result


def ratio(value: float) -> str:
    return f"{value:.3f}" if value < 9.9995 else number(value)


def interval(estimate: Estimate) -> str:
    return f"{ratio(estimate.interval.low)}-{ratio(estimate.interval.high)}"


def summary(rows: Sequence[Compared]) -> str:
    """How many rows differ."""
    verdicts = Counter(row.estimate.verdict for row in rows)
    if verdicts[SAME] == len(rows):
        return f"no difference in any of {len(rows)} rows"
    parts = [f"{verdict} in {verdicts[verdict]}" for verdict in (FASTER, SLOWER) if verdicts[verdict]]
    return f"of {len(rows)} rows B is {', '.join(parts)}; no difference in {verdicts[SAME]}"


def noise_lines(rows: Sequence[Compared]) -> str:
    """The quality of the figures: how much runs differ, and the smallest difference that would be found."""
    sides = [Row(text(row.name), None, {"A": Cell(list(row.a)), "B": Cell(list(row.b))}) for row in rows]
    line = noise(sides)
    intervals = [row.estimate.sure for row in rows if row.estimate.sure != UNBOUNDED]
    widths = [log(each.high / each.low) / 2 for each in intervals]
    if not widths:
        return line
    return f"in half of the rows, a difference of {exp(median(widths)) - 1 + MARGIN:.1%} would have been found\n{line}"
