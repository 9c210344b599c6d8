"""millrace bench: measures, compares and explains a program of benchmarks."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from rich.console import Console

from millrace.bench import check as checking
from millrace.bench.callgrind import valgrind
from millrace.bench.compare_command import compare
from millrace.bench.count import count
from millrace.bench.measure import Row as Profiled
from millrace.bench.measure import profile
from millrace.bench.plan import countable
from millrace.bench.profiles import document, report, write_flames
from millrace.bench.results import Row, collect, errors, noise
from millrace.bench.suite import Settings, available, choose, compiled, run, threaded
from millrace.bench.tables import count as plain_count
from millrace.bench.tables import new_table, number
from millrace.common.arguments import UsageError
from millrace.common.files import check_folder, check_writable, write
from millrace.common.packages import require
from millrace.profile.causes import Attribution, read
from millrace.profile.sampler import Sampler, sampler


def main(options: argparse.Namespace, console: Console, out: Console) -> int:
    compiled(options.filter)
    if getattr(options, "json", None):
        check_writable(options.json)
    if "seconds" in options and not 0 < options.seconds <= 600:
        raise UsageError("--seconds must be more than 0, and at most 600")
    if options.what == "compare":
        return compare(options, console, out)
    if not options.program.is_file():
        raise UsageError(f"there is no program {options.program}")
    options.program = options.program.resolve()
    return _COMMANDS[options.what](options, console, out)


def _run(options: argparse.Namespace, console: Console, out: Console) -> int:
    if options.repetitions < 1 or options.min_time < 0:
        raise UsageError("--repetitions must be at least 1, and --min-time at least 0")
    names = choose(available(options.program, options.loop), options.filter)
    settings = Settings("", options.loop, options.repetitions, options.min_time, "")
    found = run(options.program, names, settings, console)
    rows = collect(found["benchmarks"])
    table = new_table("ns per item", not out.is_terminal, ("min", "median", "allocs", "steps"))
    for row in rows:
        for cell in row.cells.values():
            if cell.error is None:
                counts = (plain_count(cell.allocations), plain_count(cell.steps))
                table.add_row(row.label, number(cell.minimum), number(cell.median), *counts)
    out.print(f"{found['context']['compiler']}, {options.loop} loop")
    out.print(table)
    if text := noise(rows):
        out.print(text)
    _write(options.json, found)
    return _failed(rows, out)


def _instructions(options: argparse.Namespace, console: Console, out: Console) -> int:
    valgrind()
    chosen = choose(available(options.program, "sim"), options.filter)
    names, left_out = countable(chosen, threaded(options.program, "sim"))
    if not names:
        raise UsageError("; ".join(f"{row} is not counted: {why}" for row, why in left_out.items()))
    found = count(options.program, names, "sim", console, "counting")
    rows = collect(found["benchmarks"])
    table = new_table("instructions per item", not out.is_terminal, ("instructions", "allocs"))
    for row in rows:
        for cell in row.cells.values():
            if cell.error is None:
                table.add_row(row.label, number(cell.instructions), plain_count(cell.allocations))
    out.print(table)
    for label, why in left_out.items():
        out.print(f"not counted: {label}: {why}")
    _write(options.json, found)
    return _failed(rows, out)


def _check(options: argparse.Namespace, console: Console, out: Console) -> int:
    valgrind()
    update = f"millrace bench check {options.program.name} --baseline {options.baseline} --update"
    if options.update:
        check_writable(options.baseline)
        checking.write_baseline(options.program, options.baseline, options.filter, update, console, out)
        return 0
    return 0 if checking.check(options.program, options.baseline, options.filter, update, console, out) else 1


def _profile(options: argparse.Namespace, console: Console, out: Console) -> int:
    if options.lines < 0:
        raise UsageError("--lines must be at least 0")
    tool, found, failed = _profiled(options, console)
    attribution = Attribution(read())
    report(found, f"{options.loop} loop; {tool.how}", options.lines, attribution, out)
    _write(options.json, document(found, {"profiler": tool.name, "loop": options.loop}))
    for error in failed:
        out.print(f"error: {error}")
    return 1 if failed else 0


def _flame(options: argparse.Namespace, console: Console, out: Console) -> int:
    require("millrace bench flame", "jinja2", "plotly")
    check_folder(options.out)
    tool, found, failed = _profiled(options, console)
    write_flames(found, options.out, options.program.name, tool.how, Attribution(read()))
    out.print(f"pages: {options.out}", *(f"error: {error}" for error in failed), sep="\n")
    return 1 if failed else 0


def _profiled(options: argparse.Namespace, console: Console) -> tuple[Sampler, list[Profiled], list[str]]:
    tool = sampler(options.sampler)
    names = choose(available(options.program, options.loop), options.filter)
    settings = Settings("", options.loop, 3, min(0.1, options.seconds / 4), "")
    rows = [[name] for name in names]
    return tool, *profile(options.program, rows, settings, tool, options.seconds, Attribution(read()), console)


def _write(file: Path | None, found: dict[str, Any]) -> None:
    if file:
        write(file, json.dumps(found, indent=2) + "\n")


def _failed(rows: list[Row], out: Console) -> int:
    failed = errors(rows)
    for error in failed:
        out.print(f"error: {error}")
    return 1 if failed else 0


_COMMANDS = {"run": _run, "profile": _profile, "instructions": _instructions, "check": _check, "flame": _flame}
