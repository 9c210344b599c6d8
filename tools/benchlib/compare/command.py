"""The command tools/bench compare: compares the speed of two builds of the benchmarks."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from rich.console import Console

from benchlib.arguments import Parser
from benchlib.compare.checkout import Store
from benchlib.compare.cpu import least_busy
from benchlib.compare.estimate import CONFIDENCE, MARGIN, of_groups, of_pairs
from benchlib.compare.program import Program, build_program, probe
from benchlib.compare.recorded import Recording, read
from benchlib.compare.report import describe_side, remarks, show, too_slow, write_json
from benchlib.compare.runs import Samples, measure
from benchlib.compare.side import Build, Recorded, Side, parse_side
from benchlib.compare.table import Compared, in_order, text
from benchlib.overview.command import QUICK, QUICK_SIZES
from benchlib.results import OURS, Name
from benchlib.suite import choose, compiled, of_sizes
from common.arguments import UsageError
from common.failure import Failure
from common.files import check_writable
from common.process import ROOT

ROUNDS = 31

DESCRIPTION = """\
Says whether the benchmarks run faster in B than in A. A and B are each one of
  HEAD~3, a branch, a tag, a hash   that revision, in a tree of its own
  . or nothing                      the working tree as it is
  clang, gcc, a preset              the working tree, built so
  HEAD~1:gcc, .:gcc                 a revision, built so
  FILE.json, FILE.json:gcc          what tools/bench --json has written
Builds both, runs them in turn, pair by pair, on the processor that has least to do, and
prints for each benchmark and style the minimum and the median of the runs (nanoseconds
per item), the ratio B/A (median of the pairs), and the interval in which it lies with
95 % (bootstrap)."""

EPILOG = f"""\
B is "faster" or "slower" if it is sure that it differs by more than {MARGIN:.0%}: so sure that all
verdicts of a table are right in {CONFIDENCE:.0%} of all tables, which takes more than an interval of one
row beyond 1. "No difference" means none that these runs could distinguish from noise: more
--rounds find smaller ones. A file has no pairs: if the machine was in another state then, that
looks like a difference of A and B.

Trees and builds of revisions are kept in build/compare, the latest few.
bench/docs/comparing.md says more.

Exit code: 0 success, whatever the result; 1 a build or a benchmark failed, or a row is
slower than --fail-above allows; 2 wrong arguments."""


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = Parser("tools/bench compare", DESCRIPTION, EPILOG, compiler=None)
    parser.add_argument("a", metavar="A", help="what B is compared with")
    parser.add_argument("b", metavar="B", nargs="?", default=".", help="default: the working tree")
    parser.add_argument("--compiler", default="clang", metavar="PRESET", help="of sides that name none; default: clang")
    parser.add_argument("--filter", default="", metavar="REGEX", help="only benchmarks with a name that contains REGEX")
    sizes = ", ".join(map(str, QUICK_SIZES))
    parser.add_argument("--quick", action="store_true", help=f"some two minutes: sizes {sizes}, the first rows only")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help=f"pairs of runs; default: {ROUNDS}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all runs to FILE as well")
    parser.add_argument(
        "--fail-above", type=float, metavar="PERCENT", help="exit code 1 if a row is surely slower by more than that"
    )
    return parser.parse_args(arguments)


def check(options: argparse.Namespace) -> None:
    """Checks the arguments before a build of minutes."""
    if options.rounds < 1:
        raise UsageError("--rounds must be at least 1")
    if options.fail_above is not None and not options.fail_above >= 0:
        raise UsageError("--fail-above must be at least 0")
    compiled(options.filter)
    if options.json:
        check_writable(options.json)


def main(arguments: Sequence[str], console: Console, out: Console, root: Path = ROOT) -> int:
    options = parse_arguments(arguments)
    check(options)
    sides = [parse_side(word, options.compiler, root) for word in (options.a, options.b)]
    recordings = {i: read(side) for i, side in enumerate(sides) if isinstance(side, Recorded)}
    for recording in recordings.values():
        common_names([list(recording.repetitions)] * 2, options)
    with ExitStack() as stack:
        programs = prepare(sides, options, root, stack, console)
        known = [list(programs[i].names if i in programs else recordings[i].repetitions) for i in (0, 1)]
        names = common_names(known, options)
        samples = {}
        cpu = None
        if programs:
            cpu = least_busy()
            folder = programs[min(programs)].path.parent
            samples = measure(list(programs.values()), names, options.rounds, cpu, folder, console)
    rows = compare(names, samples, recordings)
    errors = [f"{text(name)}: {runs.error}" for name, runs in samples.items() if runs.error]
    lines = [describe_side(i, side, programs.get(i), recordings.get(i), root) for i, side in enumerate(sides)]
    lines += remarks(programs, recordings, len(rows), options.rounds, cpu)
    try:
        show(lines, rows, only_one(known, options), errors, out)
    finally:
        if options.json:
            write_json(options.json, lines, rows, samples)
    return 1 if errors or too_slow(rows, options.fail_above, out) else 0


def prepare(
    sides: Sequence[Side], options: argparse.Namespace, root: Path, stack: ExitStack, console: Console
) -> dict[int, Program]:
    """Builds the sides that need it; `stack` holds their programs."""
    building = [(i, side) for i, side in enumerate(sides) if isinstance(side, Build)]
    programs: dict[int, Program] = {}
    if not building:
        return programs
    store = Store(root)
    with store.locked(console):
        copies = stack.enter_context(store.copies())
        try:
            for i, side in building:
                built = build_program(side, "AB"[i], store, root, console)
                programs[i] = probe(side, built, copies / "AB"[i], options.loop or "sim")
                # Both sides lack what one lacks: reported before the other is built.
                common_names([list(programs[i].names)] * 2, options)
        finally:
            store.prune()
    return programs


def common_names(known: Sequence[Sequence[Name]], options: argparse.Namespace) -> list[Name]:
    """Those that both sides have and the options ask for."""
    both = {text(name): name for name in in_order(known[0]) if name in set(known[1])}
    if not both:
        raise Failure("A and B have no benchmark in common")
    chosen = choose(list(both), options.filter or (QUICK if options.quick else ""))
    if options.quick:
        chosen = of_sizes(chosen, QUICK_SIZES)
        if not chosen:
            raise UsageError(f"'{options.filter}' matches nothing of the sizes {QUICK_SIZES} of --quick")
    return [both[each] for each in chosen]


def only_one(known: Sequence[Sequence[Name]], options: argparse.Namespace) -> list[list[str]]:
    """The benchmarks that match the filter and that only A, or only B, has."""
    wanted = compiled(options.filter)
    found = [[name for name in known[i] if name not in set(known[1 - i]) and name.style in OURS] for i in (0, 1)]
    return [[text(name) for name in in_order(each) if wanted.search(text(name))] for each in found]


def compare(names: Sequence[Name], samples: dict[Name, Samples], recordings: dict[int, Recording]) -> list[Compared]:
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
