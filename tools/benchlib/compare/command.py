"""The command tools/bench compare: compares the speed of two builds of the benchmarks."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from rich.console import Console

from benchlib.arguments import Parser
from benchlib.compare.checkout import Store
from benchlib.compare.program import build_program
from benchlib.compare.side import Build, Side, describe, parse_side
from benchlib.overview.command import QUICK, QUICK_SIZES
from common.tree import ROOT
from millrace.bench.compare_report import describe_recording
from millrace.bench.comparing import Settings, common_names, compare
from millrace.bench.estimate import CONFIDENCE, MARGIN
from millrace.bench.program import Program, probe
from millrace.bench.recorded import Recorded, Recording, read
from millrace.bench.suite import RunError, choose, of_sizes
from millrace.common.arguments import UsageError
from millrace.common.failure import Failure

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


def main(arguments: Sequence[str], console: Console, out: Console, root: Path = ROOT) -> int:
    options = parse_arguments(arguments)
    settings = Settings(options.filter, options.rounds, options.fail_above, options.json)
    settings.check()
    wanted = partial(chosen, options)
    sides = [parse_side(word, options.compiler, root) for word in (options.a, options.b)]
    recordings = {i: read(side) for i, side in enumerate(sides) if isinstance(side, Recorded)}
    for recording in recordings.values():
        common_names([list(recording.repetitions)] * 2, wanted)
    lines = [describe_side(i, side, recordings.get(i), options.loop or "sim", root) for i, side in enumerate(sides)]
    with ExitStack() as stack:
        programs = prepare(sides, options, root, stack, console)
        return compare(programs, recordings, lines, wanted, settings, console, out)


def chosen(options: argparse.Namespace, names: Sequence[str]) -> list[str]:
    found = choose(names, options.filter or (QUICK if options.quick else ""))
    if options.quick:
        found = of_sizes(found, QUICK_SIZES)
        if not found:
            raise UsageError(f"'{options.filter}' matches nothing of the sizes {QUICK_SIZES} of --quick")
    return found


def describe_side(index: int, side: Side, recording: Recording | None, loop: str, root: Path) -> str:
    """One line that describes A or B, with the commit."""
    if isinstance(side, Build):
        return f"{'AB'[index]}: {side.text}: {describe(side, root)}; {side.preset}, {loop} loop"
    assert recording is not None
    return describe_recording(index, side, recording)


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
                try:
                    programs[i] = probe(side.text, built, copies / "AB"[i], options.loop or "sim")
                except RunError as error:
                    text = "its benchmarks cannot be listed, which is so of revisions before BENCHMARK_CASE"
                    raise Failure(f"{side.text}: {text}:\n{error}") from error
                # Both sides lack what one lacks: reported before the other is built.
                common_names([list(programs[i].names)] * 2, partial(chosen, options))
        finally:
            store.prune()
    return programs
