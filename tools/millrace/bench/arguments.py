"""The arguments of millrace bench."""

from __future__ import annotations

import argparse
from pathlib import Path

from millrace.common.arguments import CommandParser
from millrace.profile.arguments import SAMPLERS

DESCRIPTION = """\
Measures, compares and explains programs of benchmarks: BENCHMARK_CASE
(flow/testing/benchmark.h), linked with millrace::bench."""

RUN = """\
Runs benchmarks, each in a process of its own, and prints what an item takes: processor
time of the thread (the least of the repetitions, and their median), allocations, and
steps of the loop."""

COMPARE = """\
Says whether benchmarks run faster in B than in A. A and B are each one of
  FILE.json       what `millrace bench run --json` has written
  PROGRAM         a program of benchmarks
  HEAD~3, main    with --build and --program: that revision of the git repository in the
                  current folder, in a tree of its own; `.`: the working tree
Two programs run in turn, pair by pair, on the processor that has least to do. The
interval has the ratio B/A with 95 %; "faster" and "slower" are sure."""

PROFILE = """\
Runs benchmarks under a profiler and says what their time goes for: nanoseconds per item
of each cause (allocate, start of an actor, await glue, resume path, user code, ...), the
functions that take most of it, and the source lines. The program needs debug information
and frame pointers, which millrace::bench sets for the sources that link it."""

INSTRUCTIONS = """\
Counts the instructions of one item with valgrind. The number does not depend on what
else the machine does, and comes out the same each time."""

CHECK = """\
Counts instructions and allocations of one item of each benchmark, and fails if one of
them is more than 3 % (and more than 1 instruction) above what the file says, or if a
benchmark is in only one of the two. --update writes the file."""

FLAME = """\
Writes for each benchmark a page with a flame graph; the colours are the causes."""

EXIT = """\
Exit code: 0 success, 1 a benchmark failed, or is slower or larger than allowed, 2 wrong
arguments."""

ROUNDS = 31


def parser() -> CommandParser:
    result = CommandParser("millrace bench", DESCRIPTION)
    kinds = result.add_subparsers(dest="what", metavar="run | compare | profile | instructions | check | flame")
    kinds.required = True

    def command(name: str, says: str, description: str) -> argparse.ArgumentParser:
        return kinds.add_parser(name, help=says, description=description, epilog=EXIT)

    _run(command("run", "measure", RUN))
    _compare(command("compare", "is B faster than A?", COMPARE))
    _profile(command("profile", "where does the time go?", PROFILE))
    _instructions(command("instructions", "count instructions", INSTRUCTIONS))
    _check(command("check", "does any benchmark need more than it did?", CHECK))
    _flame(command("flame", "draw where the time goes", FLAME))
    return result


def _run(parser: argparse.ArgumentParser) -> None:
    _program(parser)
    parser.add_argument("--repetitions", type=int, default=5, metavar="N", help="of each benchmark; default: 5")
    parser.add_argument("--min-time", type=float, default=0.1, metavar="S", help="of a repetition; default: 0.1")
    _loop(parser)
    _json(parser)


def _compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("a", metavar="A", help="what B is compared with")
    parser.add_argument("b", metavar="B")
    parser.add_argument("--build", metavar="COMMAND", help="builds a revision: a command of the shell, run in its tree")
    parser.add_argument("--program", type=Path, metavar="PATH", help="what --build makes, from the top of the tree")
    parser.add_argument("--filter", default="", metavar="REGEX", help="only benchmarks with a name that contains REGEX")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help=f"pairs of runs; default: {ROUNDS}")
    text = "exit code 1 if a benchmark is surely slower by more than that"
    parser.add_argument("--fail-above", type=float, metavar="PERCENT", help=text)
    _loop(parser)
    _json(parser)


def _profile(parser: argparse.ArgumentParser) -> None:
    _program(parser)
    parser.add_argument("--lines", type=int, default=10, metavar="N", help="so many source lines; default: 10")
    _json(parser)
    _sampler(parser)


def _instructions(parser: argparse.ArgumentParser) -> None:
    _program(parser)
    _json(parser)


def _check(parser: argparse.ArgumentParser) -> None:
    _program(parser)
    text = "what each benchmark may take, by compiler; keep it beside the sources"
    parser.add_argument("--baseline", type=Path, required=True, metavar="FILE", help=text)
    parser.add_argument("--update", action="store_true", help="write what is counted into the file")


def _flame(parser: argparse.ArgumentParser) -> None:
    _program(parser)
    parser.add_argument("--out", type=Path, default=Path(), metavar="DIR", help="default: the current folder")
    _sampler(parser)


def _program(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", type=Path, metavar="PROGRAM", help="a program of benchmarks")
    parser.add_argument("filter", nargs="?", default="", metavar="CASE", help="a regular expression; default: all")


def _sampler(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--with", dest="sampler", choices=SAMPLERS, help="default: perf, where it works")
    parser.add_argument("--seconds", type=float, default=2.0, metavar="S", help="of each recording; default: 2")
    _loop(parser)


def _loop(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--loop", choices=("sim", "real"), default="sim", help="the loop to run on; default: sim")


def _json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers to FILE as well")
