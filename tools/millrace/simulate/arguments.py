"""The arguments of millrace simulate."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from millrace.common.arguments import CommandParser

RUN = """\
Runs a simulation for many seeds, each with faults of its own, on all cores or on the
workers of a Dask cluster. Failures are grouped by signature; of each the smallest seed
is printed with the command that runs it again. A seed that crashes the program, hangs it
or makes it print what is no result has failed, too, and those after it are run. With
`all` in place of a simulation, each that the program has is run with these seeds."""

RUN_EPILOG = """\
With --scheduler each batch of seeds is a task of Dask. The program must be the same file
at the same path on every worker; workers need nothing else of the project.

Exit code: 0 nothing failed, 1 a seed failed, or two runs of one differed, 2 wrong
arguments, or it could not go on, 130 interrupted; what is done by then is printed, and
kept."""


SHRINK = """\
Finds the fewest faults with which a seed still fails with the same signature: first
whole kinds of them are left out, then parts, and then single ones. Prints what is left,
and the command that runs it."""

SUMMARY = """\
Prints what all runs in a ledger have shown: seeds and simulated time, how often each
fault was injected and which never was, the probes that were seen and that never were, and
what failed."""

ALL = "all"
FAILURES = 100  # after which a run ends
LEDGER = Path("simulations.sqlite")
KEPT_RUNS = 100  # in LEDGER, which nobody would tidy
SEEDS = sys.maxsize  # fit into SQLite, and a range of them has a len()


def seed(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"'{text}' is no seed: write a number")
    if int(text) >= SEEDS:
        raise argparse.ArgumentTypeError(f"seeds end before {SEEDS}")
    return int(text)


def seeds(text: str) -> range:
    """`FIRST..LAST`, or one."""
    first, dots, last = text.partition("..")
    try:
        found = range(seed(first), seed(last if dots else first) + 1)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"'{text}' are no seeds, as 0..999: {error}") from None
    if not found:
        raise argparse.ArgumentTypeError(f"'{text}' are no seeds: the last comes before the first")
    return found


def count(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' must be a number from 1 on")
    return int(text)


def seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = 0
    if not 0 < found < 1e6:
        raise argparse.ArgumentTypeError(f"'{text}' must be seconds, more than 0")
    return found


def scheduler(text: str) -> str:
    if not re.fullmatch(r"(tcp|tls|ws|wss)://.+:\d+", text):
        raise argparse.ArgumentTypeError(f"'{text}' is no scheduler, as tcp://HOST:PORT")
    return text


def parser() -> CommandParser:
    result = CommandParser("millrace simulate", "Runs simulations, and says what they have shown.")
    commands = result.add_subparsers(dest="what", metavar="run | shrink | summary", required=True)
    _run(commands.add_parser("run", help="run seeds of a simulation, or of all", description=RUN, epilog=RUN_EPILOG))
    _shrink(commands.add_parser("shrink", help="find the faults that make a seed fail", description=SHRINK))
    _summary(commands.add_parser("summary", help="what all runs so far have shown", description=SUMMARY))
    return result


def _run(parser: CommandParser) -> None:
    parser.add_argument("test", metavar="TEST", help=f"a simulation, or {ALL}")
    text = f"of {ALL}: not these, such as one that shows a failure"
    parser.add_argument("--but", nargs="+", default=[], metavar="TEST", help=text)
    parser.add_argument("--seeds", type=seeds, required=True, metavar="FIRST..LAST", help="which, both included")
    parser.add_argument("--jobs", type=count, metavar="N", help="processes; default: as many as cores")
    parser.add_argument(
        "--scheduler", type=scheduler, metavar="tcp://HOST:PORT", help="run on the Dask cluster that is there"
    )
    _program(parser)
    _ledger(parser)
    parser.add_argument("--once", action="store_true", help="each seed once, without a comparison of two runs")
    text = "of real time, for each seed; default: 60"
    parser.add_argument("--timeout", type=seconds, default=60.0, metavar="SECONDS", help=text)
    ends = parser.add_mutually_exclusive_group()
    text = f"end after so many; default: {FAILURES}"
    ends.add_argument("--max-failures", type=count, default=FAILURES, metavar="N", help=text)
    ends.add_argument("--keep-going", action="store_true", help="do not end, however many fail")
    parser.add_argument("--shrink", action="store_true", help="find the faults that matter, of each signature")


def _shrink(parser: CommandParser) -> None:
    parser.add_argument("test", metavar="TEST", help="a simulation")
    parser.add_argument("--seed", type=seed, required=True, metavar="S", help="one that fails")
    parser.add_argument("--timeout", type=seconds, default=60.0, metavar="SECONDS", help="of real time; default: 60")
    _program(parser)


def _summary(parser: CommandParser) -> None:
    parser.add_argument("test", metavar="TEST", nargs="?", default="", help="a simulation; default: all")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write it as a page that needs no network")
    _ledger(parser)


def _program(parser: CommandParser) -> None:
    text = "the program of the simulations (flow/sim/simulation.h)"
    parser.add_argument("--program", type=Path, required=True, metavar="PATH", help=text)


def _ledger(parser: CommandParser) -> None:
    text = f"where results are kept; default: {LEDGER}, with the last {KEPT_RUNS} runs"
    parser.add_argument("--ledger", type=Path, default=LEDGER, metavar="FILE", help=text)
