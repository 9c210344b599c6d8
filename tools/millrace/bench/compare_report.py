"""Prints the results of a comparison, and writes them as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

from rich.console import Console

from millrace.bench.compared import Compared, noise_lines, summary, table, text
from millrace.bench.estimate import SLOWER, UNBOUNDED, Interval, surely_outside
from millrace.bench.program import Program
from millrace.bench.recorded import Recorded, Recording
from millrace.bench.results import Name
from millrace.bench.runs import REPETITIONS, SECONDS, Samples
from millrace.common.files import write

LISTED = 8  # names in one line


def describe_recording(index: int, side: Recorded, recording: Recording) -> str:
    """One line that describes A or B."""
    known = (str(recording.context[key]) for key in ("revision", "compiler", "loop") if key in recording.context)
    return f"{'AB'[index]}: {side.text}: measured before: {', '.join(known)}"


def remarks(
    programs: dict[int, Program], recordings: dict[int, Recording], rows: int, rounds: int, cpu: int | None
) -> list[str]:
    """How it was measured, and the consequences."""
    lines = []
    runs = f"of {REPETITIONS} repetitions of {SECONDS * 1000:.0f} ms on CPU {cpu}"
    if not recordings:
        lines.append(f"{rounds} pairs of runs {runs}, A and B in turn")
        if len({program.digest for program in programs.values()}) == 1:
            lines.append("A and B are the same program to the byte: all that differs is noise")
        if rows and surely_outside(rounds, rows) is None:
            fewest = next(n for n in count(rounds) if surely_outside(n, rows) is not None)
            lines.append(f"too few pairs to tell any difference from chance: {rows} rows need --rounds {fewest}")
        return lines
    if programs:
        lines.append(f"{rounds} runs {runs} beside the repetitions of a file")
    lines.append("no pairs, A and B were not run in turn: if the machine differed, that looks like a difference here")
    loops = {program.loop for program in programs.values()} | {str(r.context.get("loop")) for r in recordings.values()}
    if len(loops) > 1:
        lines.append(f"A and B ran on different loops: {' and '.join(sorted(loops))}")
    return lines


def show(
    lines: Sequence[str],
    rows: Sequence[Compared],
    only_one: Sequence[Sequence[str]],
    errors: Sequence[str],
    out: Console,
) -> None:
    out.print()
    for line in lines:
        out.print(line)
    if rows:
        out.print()
        out.print(table(rows, "ns per item", plain=not out.is_terminal))
        out.print(summary(rows))
    for letter, names in zip("AB", only_one, strict=True):
        if names:
            more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
            out.print(f"only {letter} has {', '.join(names[:LISTED])}{more}")
    for error in errors:
        out.print(f"error: {error}")
    if rows:
        out.print(noise_lines(rows))


def too_slow(rows: Sequence[Compared], percent: float | None, out: Console) -> bool:
    """Whether a row is slower by more than the limit, with the certainty of the verdict "slower"."""
    if percent is None:
        return False
    found = [row for row in rows if row.estimate.verdict == SLOWER and row.estimate.sure.low > 1 + percent / 100]
    for row in found:
        out.print(f"slower by more than {percent:g} %: {text(row.name)}")
    return bool(found)


def write_json(file: Path, lines: Sequence[str], rows: Sequence[Compared], samples: dict[Name, Samples]) -> None:
    """All runs: the result of each and, if made for this comparison, its repetitions."""
    document = {"about": lines, "rows": [_entry(row, samples.get(row.name)) for row in rows]}
    write(file, json.dumps(document, indent=1) + "\n")


def _entry(row: Compared, samples: Samples | None) -> dict[str, Any]:
    estimate = row.estimate
    entry = {
        "name": text(row.name),
        "ratio": estimate.ratio,
        "interval": _bounds(estimate.interval),
        "sure": _bounds(estimate.sure),
        "verdict": estimate.verdict,
        "a": list(row.a),
        "b": list(row.b),
    }
    return entry | ({"repetitions": samples.runs} if samples else {})


def _bounds(interval: Interval) -> list[float] | None:
    """JSON has no infinity."""
    return None if interval == UNBOUNDED else [interval.low, interval.high]
