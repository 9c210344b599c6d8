"""The command tools/bench growth: prints the cost of one actor by the number of actors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from benchlib.arguments import PRESETS, TARGET, Parser, binary, compilers
from benchlib.growth.series import FLOORS, MEMORY, STYLES, Series, growth_table, remarks, resident, timed
from benchlib.report.sections.growth import Growth, section
from common.build import build
from common.tree import check_result_file, default_file, revision
from millrace.bench.results import collect, errors, parse_name
from millrace.bench.suite import Settings, available, of_sizes, run
from millrace.common.arguments import UsageError
from millrace.common.files import write
from millrace.pages.model import Report
from millrace.pages.page import render

MIN_TIME = 0.03  # of one repetition, in seconds
REPETITIONS = 5

DESCRIPTION = """\
Measures what an actor costs among N = 1, 2, 4, ... 1048576 (nanoseconds, minimum of
the repetitions) and the resident memory of one that waits, as a state machine and as
a coroutine. Prints tables, says where the cost rises most, and writes a page. Where
the cost of an actor jumps, it says how that of a function pointer, or of a bare
coroutine, in an intrusive queue rises there: so much of it is the machine's memory."""

EPILOG = "Takes some two minutes for each compiler."


def main(arguments: Sequence[str], console: Console, out: Console) -> int:
    parser = Parser("tools/bench growth", DESCRIPTION, EPILOG)
    page = default_file("growth.html")
    parser.add_argument("--out", type=Path, default=page, metavar="FILE", help="the page; default: build/growth.html")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, metavar="N", help=f"default: {REPETITIONS}")
    options = parser.parse_args(arguments)
    if options.repetitions < 1:
        raise UsageError("--repetitions must be at least 1")
    check_result_file(options.out)
    loop = options.loop or "sim"
    found: dict[str, Growth] = {}
    good = True
    now = revision()
    for compiler in compilers(options):
        build(PRESETS[compiler], console, [TARGET])
        settings = Settings(compiler, loop, options.repetitions, MIN_TIME, now)
        series, floors, name, failed = measure(compiler, settings, console)
        times, memory = ([one for one in series if one.is_memory == kind] for kind in (False, True))
        plain = not out.is_terminal
        out.print(f"\n{name}, {loop} loop, {now}")
        for some, title in ((times, "ns per actor, minimum"), (memory, "resident bytes per waiting actor")):
            out.print()
            out.print(growth_table(some, title, plain))
        out.print()
        for line in remarks(series, floors):
            out.print(line)
        for error in failed:
            good = False
            out.print(f"error: {error}")
        found[compiler] = Growth(tuple(series), tuple(floors))
    write(options.out, render(Report("One actor among N", f"{loop} loop, {now}", [], [section(found)])))
    out.print(f"page: {options.out}")
    return 0 if good else 1


def measure(
    compiler: str, settings: Settings, console: Console, sizes: Sequence[int] = ()
) -> tuple[list[Series], list[Series], str, list[str]]:
    """The series (of all sizes, if none are named), those of the floors, the compiler by its full name, and what
    failed."""
    program = binary(compiler)
    names = available(program, settings.loop, ["--growth"])
    if sizes:
        names = of_sizes(names, sizes)
    styles = (*STYLES, *FLOORS.values())
    times = [name for name in names if parse_name(name).style in styles and parse_name(name).benchmark != MEMORY]
    document = run(program, times, settings, console, ["--growth"])
    measured = timed(compiler, document["benchmarks"])
    series = [one for one in measured if one.style in STYLES]
    floors = [one for one in measured if one.style not in STYLES]
    series += resident(compiler, program, settings.loop, names)
    return series, floors, str(document["context"]["compiler"]), errors(collect(document["benchmarks"]))
