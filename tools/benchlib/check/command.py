"""The command tools/bench check: fails if an operation takes more than bench/baseline.json says."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from benchlib.arguments import PRESETS, TARGET, Parser, binary, compilers
from benchlib.check.baseline import TOOLS, UPDATE, Baseline, counted, read, write
from benchlib.check.comparison import LIMIT, SLACK, Change, Comparison, compare, updated
from benchlib.instructions.callgrind import valgrind
from benchlib.instructions.count import count
from benchlib.instructions.plan import countable, usual_sizes
from benchlib.results import MIGRATED, TITLES, parse_name
from benchlib.suite import available, choose, compiled
from common.arguments import UsageError
from common.build import build
from common.failure import Failure
from common.files import check_writable
from common.process import ROOT
from common.table import Table

FILE = ROOT / "bench" / "baseline.json"
LOOP = "sim"  # counts with real time and real sockets do not repeat

DESCRIPTION = f"""\
Counts instructions, allocations and frame bytes of one item of each benchmark, as
tools/bench instructions does, and fails if one of them is more than {LIMIT:.0%} (and more
than {SLACK["instructions"]:g} instruction) above what bench/baseline.json says, or if a benchmark is in only
one of the two. With --update it writes the file instead: commit it with what made the
numbers change, and say in the message why that is worth it."""

EPILOG = """\
Exit code: 0 nothing grew, 1 something did (or the build or a benchmark failed),
2 wrong arguments."""


def main(arguments: Sequence[str], console: Console, out: Console) -> int:
    parser = Parser("tools/bench check", DESCRIPTION, EPILOG, compiler="both", has_loop=False)
    parser.add_argument("filter", nargs="?", default="", metavar="FILTER", help="a regular expression; default: all")
    parser.add_argument("--update", action="store_true", help="write what is counted into the file")
    options = parser.parse_args(arguments)
    compiled(options.filter)
    valgrind()
    if options.update:
        check_writable(FILE)
    baselines = {} if options.update and not FILE.exists() else read(FILE)
    good = True
    for compiler in compilers(options):
        build(PRESETS[compiler], console, [TARGET])
        if options.update:
            old = baselines.get(compiler, Baseline())
            now = look(compiler, options.filter, console)
            check_mixture(compiler, old, now, options.filter)
            baselines[compiler], said = updated(old, now, looked_at(old, now, options.filter))
            write(FILE, baselines)
            shown = said if old.rows else []
            out.print(f"{compiler}: {len(now.rows)} rows counted, {len(said)} changes", *shown, sep="\n")
        elif compiler in baselines:
            old, now = baselines[compiler], look(compiler, options.filter, console)
            good &= report(compiler, old, now, compare(old, now, looked_at(old, now, options.filter)), out)
        else:
            raise Failure(f"{FILE} has no rows of {compiler}: '{UPDATE} --compiler {compiler}' adds them")
    return 0 if good else 1


def look(compiler: str, pattern: str, console: Console) -> Baseline:
    program = binary(compiler)
    names, left_out = countable(choose(available(program, LOOP), ""))
    names = [name for name in names if parse_name(name).style != MIGRATED]  # these must be as small as coroutines
    wanted = compiled(pattern)
    if not any(wanted.search(name) for name in names) and (rows := [row for row in left_out if wanted.search(row)]):
        raise UsageError("; ".join(f"{row} is not counted: {left_out[row]}" for row in rows))
    return counted(count(program, choose(usual_sizes(names), pattern), LOOP, console, f"counting {compiler}"))


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


def report(compiler: str, old: Baseline, now: Baseline, found: Comparison, out: Console) -> bool:
    """Prints the result; returns whether it is good."""
    if old.tools != now.tools:
        out.print(
            f"{compiler}: the baseline was counted with {said_of(old)}; this is {said_of(now)}. What differs may be "
            f"their doing; to find out, run '{UPDATE}' on a revision that was good, and this again.",
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
        out.print(f"If this is as it should be, write it down: {UPDATE} --compiler {compiler} [FILTER]")
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
