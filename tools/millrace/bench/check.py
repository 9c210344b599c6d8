"""Counts what the benchmarks of a program need, and compares it with a file that says what they did."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from millrace.bench.baseline import TOOLS, Baseline, counted, read, write
from millrace.bench.comparison import LIMIT, Change, Comparison, compare, updated
from millrace.bench.count import count
from millrace.bench.plan import countable, usual_sizes
from millrace.bench.results import MIGRATED, TITLES, parse_name
from millrace.bench.suite import available, choose, compiled, threaded
from millrace.common.arguments import UsageError
from millrace.common.failure import Failure
from millrace.common.table import Table

LOOP = "sim"  # counts with real time and real sockets do not repeat


def check(program: Path, file: Path, pattern: str, update: str, console: Console, out: Console) -> bool:
    """Whether the program needs no more than the file says. `update` is the command that writes the file."""
    baselines = read(file, update)
    now = look(program, pattern, console)
    compiler = compiler_of(now)
    if compiler not in baselines:
        raise Failure(f"{file} has no rows of {compiler}: '{update}' adds them")
    old = baselines[compiler]
    return report(compiler, old, now, compare(old, now, looked_at(old, now, pattern)), update, out)


def write_baseline(program: Path, file: Path, pattern: str, update: str, console: Console, out: Console) -> None:
    baselines = read(file, update) if file.exists() else {}
    now = look(program, pattern, console)
    compiler = compiler_of(now)
    old = baselines.get(compiler, Baseline())
    check_mixture(compiler, old, now, pattern)
    baselines[compiler], said = updated(old, now, looked_at(old, now, pattern))
    write(file, baselines)
    shown = said if old.rows else []
    out.print(f"{compiler}: {len(now.rows)} rows counted, {len(said)} changes", *shown, sep="\n")


def compiler_of(counts: Baseline) -> str:
    """clang or gcc."""
    return counts.tools["compiler"].split()[0]


def look(program: Path, pattern: str, console: Console) -> Baseline:
    names, left_out = countable(choose(available(program, LOOP), ""), threaded(program, LOOP))
    names = [name for name in names if parse_name(name).style != MIGRATED]  # these must be as small as coroutines
    wanted = compiled(pattern)
    if not any(wanted.search(name) for name in names) and (rows := [row for row in left_out if wanted.search(row)]):
        raise UsageError("; ".join(f"{row} is not counted: {left_out[row]}" for row in rows))
    return counted(count(program, choose(usual_sizes(names), pattern), LOOP, console, f"counting {program.name}"))


def looked_at(old: Baseline, now: Baseline, pattern: str) -> set[str]:
    wanted = compiled(pattern)
    return {name for name in (*old.rows, *now.rows) if wanted.search(name)}


def check_mixture(compiler: str, old: Baseline, now: Baseline, pattern: str) -> None:
    if pattern and old.rows and old.tools != now.tools:
        raise UsageError(
            f"the rows of {compiler} were counted with {said_of(old)}, and this is {said_of(now)}: "
            f"update all of them, without '{pattern}'"
        )


def said_of(baseline: Baseline) -> str:
    compiler, libc, checker = (baseline.tools[tool] for tool in TOOLS)
    return f"{compiler}, {libc} and valgrind {checker}"


def report(compiler: str, old: Baseline, now: Baseline, found: Comparison, update: str, out: Console) -> bool:
    """Prints the result; returns whether it is good."""
    if old.tools != now.tools:
        out.print(
            f"{compiler}: the baseline was counted with {said_of(old)}; this is {said_of(now)}. What differs may be "
            f"their doing; to find out, run '{update}' on a revision that was good, and this again.",
        )
    for title, some in (("grew", found.worse), ("shrank", found.better)):
        if some:
            out.print()
            out.print(changes_table(f"{compiler}: {title} by more than {LIMIT:.0%}", some, not out.is_terminal))
    for change in found.slightly_worse:
        out.print(f"{compiler}: grew, within the limit: {change}")
    for title, names in (("not in the baseline", found.new), ("in the baseline, but not a benchmark", found.missing)):
        for name in names:
            out.print(f"{compiler}: {title}: {name}")
    verdict = "good" if found.good else "not good"
    out.print(f"{compiler}: {len(now.rows)} rows, {verdict}; instructions {found.average} on average")
    if found.better or not found.good:
        out.print(f"If this is as it should be, write it down: {update}")
    return found.good


def changes_table(title: str, some: Sequence[Change], plain: bool) -> Table:
    result = Table(title, plain)
    result.texts("benchmark", "style", "what")
    result.numbers("baseline", "now", "change")
    for change in some:
        name = parse_name(change.name)
        style = TITLES.get(name.style, name.style)
        result.add_row(name.label, style, change.what, f"{change.old:g}", f"{change.new:g}", change.percent)
    return result
