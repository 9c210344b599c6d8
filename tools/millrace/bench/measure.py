"""Runs benchmarks under a profiler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from millrace.bench.results import LIBRARY, collect, parse_name
from millrace.bench.suite import Settings, choose, exactly, rows_of, run
from millrace.common.arguments import UsageError
from millrace.common.failure import Failure
from millrace.common.progress import Bar
from millrace.profile.attribution import Spent, attribute
from millrace.profile.causes import Attribution
from millrace.profile.sampler import Sampler


@dataclass(slots=True)
class Row:
    """One benchmark with one compiler, by style."""

    compiler: str
    label: str
    spent: dict[str, Spent]


def rows(names: Sequence[str], pattern: str, styles: Sequence[str]) -> list[list[str]]:
    """The names that are wanted, by benchmark; each in the order of the styles."""
    chosen = choose(names, pattern)
    styled = [name for name in chosen if parse_name(name).style in styles]
    if not styled:
        others = ",".join(dict.fromkeys(parse_name(name).style for name in chosen))
        raise UsageError(f"'{pattern}' is found in no benchmark of these styles; write --styles {others}")
    # A benchmark without styles has no row to compare.
    compared = [name for name in styled if parse_name(name).style != LIBRARY]
    once = [[name] for name in styled if parse_name(name).style == LIBRARY]
    return [sorted(row, key=lambda name: styles.index(parse_name(name).style)) for row in rows_of(compared)] + once


def profile(
    program: Path,
    chosen: Sequence[Sequence[str]],
    settings: Settings,
    tool: Sampler,
    seconds: float,
    attribution: Attribution,
    console: Console,
) -> tuple[list[Row], list[str]]:
    """Times each benchmark without the profiler first, to find the time of an item and the number of passes. Leaves out
    rows with a style that fails, and returns the failures; a Failure if all fail."""
    timed = run(program, [name for row in chosen for name in row], settings, console)["benchmarks"]
    minima = {row.label: row for row in collect(timed)}
    result: list[Row] = []
    failed: list[str] = []
    with Bar(console, f"{tool.name}, {settings.compiler}") as bar:
        done, total = 0, sum(map(len, chosen))
        for row in chosen:
            label = parse_name(row[0]).label
            found: dict[str, Spent] = {}
            for name in row:
                style = parse_name(name).style
                bar.update(done, total)
                done += 1
                time = minima[label].cell(style).minimum
                try:
                    if time is None:
                        raise Failure(str(minima[label].cell(style).error))
                    one = next(each for each in timed if each["run_name"] == name)
                    passes = max(1, round(seconds * 1e9 / (time * float(one["items_per_op"]))))
                    samples = tool.complete([program, *exactly([name], settings.loop, passes)])
                    found[style] = attribute(samples, attribution, time)
                except Failure as error:
                    failed.append(f"{name}: {error}")
            if len(found) == len(row):
                result.append(Row(settings.compiler, label, found))
    if not result:
        raise Failure("\n".join(failed))
    return result, failed
