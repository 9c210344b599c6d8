"""Checks the sources, builds, and runs tests: the usual ones, all, or some of them. Start it as tools/test."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from common.counts import Counts
from millrace.common.console import plain
from millrace.common.process import interrupt_on_terminate
from testlib.parts import FAST, OTHERS, PARTS, USUAL, Execution, Part, Step, steps_of
from testlib.runs import Outcome
from testlib.selection import TESTS, Selection
from testlib.times import expectation, note_time, table, used

DESCRIPTION = """\
Checks the sources, builds with clang 19 and assertions, and runs the unit tests,
the programs and the Python tests. It begins with the time that the steps took
when they were last run with the same arguments. The last line is "N passed, M
failed", and before it stand the names of the steps that failed; the exit code
is 1 if anything did.

tools/test --fast              while you work: no programs, no slow Python tests
tools/test --fast flow/sync net the tests of these folders of tests/
tools/test --filter delay      tests and checks with that in their names
tools/test --only gcc,tsan     these parts of --all, and nothing else"""


def listed(parts: tuple[Part, ...]) -> str:
    return "\n".join(f"  {part.name:<13} {part.minutes:>3}  {part.what}" for part in parts)


EPILOG = f"""\
The usual parts, with the minutes of one processor that each takes from nothing:
{listed(USUAL)}
and those that --all adds:
{listed(OTHERS)}"""


def run_steps(steps: list[Step], execution: Execution, arguments: str, times: Path | None) -> Counts:
    total = Counts()
    failed: list[str] = []
    spent: dict[str, tuple[float, dict[str, float]]] = {}
    for number, step in enumerate(steps, 1):
        head = f"[{number}/{len(steps)}] {step.name}"
        print(f"{head} ...", flush=True)
        started, before = time.monotonic(), used()
        try:
            outcome = execution.outcome(step)
        except (OSError, subprocess.SubprocessError) as error:
            outcome = Outcome(Counts(0, 1), str(error))
        counts, elapsed = outcome.counts, time.monotonic() - started
        spent[step.name] = used() - before, outcome.shares
        if counts.failed:
            print(outcome.output)
            failed.append(step.name)
        else:
            note_time(step.name, arguments, elapsed)
        print(f"{head}: {counts.passed} passed, {counts.failed} failed, {elapsed:.1f} s", flush=True)
        total += counts
        if times:
            times.write_text(table(spent), encoding="utf-8")
    if failed:
        print(f"failed: {', '.join(failed)}")
    return total


def parse_arguments() -> tuple[Selection, Path | None]:
    parser = argparse.ArgumentParser(
        prog="tools/test",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    size = parser.add_mutually_exclusive_group()
    size.add_argument(
        "--fast", action="store_true", help="quick checks, the unit tests, and Python tests that are quick"
    )
    size.add_argument("--all", action="store_true", help="all parts")
    size.add_argument("--only", action="append", default=[], metavar="PART", help="this part; again, or with commas")
    parser.add_argument("--filter", default="", metavar="TEXT", help="only tests and checks with TEXT in the name")
    parser.add_argument("--times", type=Path, metavar="FILE", help="write processor seconds by step and by file")
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help="of tests/, such as flow, net/sim or actorc")
    options = parser.parse_args()
    folders = tuple(folder.removeprefix("tests/").rstrip("/") for folder in options.folders)
    for folder in folders:
        if not folder or ".." in folder or not (TESTS / folder).is_dir():
            parser.error(f"there is no folder tests/{folder}")
    only = [name for names in options.only for name in names.split(",")]
    for name in only:
        if name not in PARTS:
            parser.error(f"there is no part '{name}'; there are {', '.join(PARTS)}")
    usual = FAST if options.fast else tuple(PARTS) if options.all else tuple(part.name for part in USUAL)
    parts = tuple(name for name in PARTS if name in only) if only else usual
    return Selection(parts, options.filter, folders, options.fast), options.times


def main() -> int:
    interrupt_on_terminate()
    selection, times = parse_arguments()
    steps = steps_of(selection)
    if not steps:
        where = " ".join(f"tests/{folder}" for folder in selection.folders)
        print(f"tools/test: nothing runs of {where} with these options", file=sys.stderr)
        return 2
    print(expectation([step.name for step in steps], selection.arguments()), flush=True)
    try:
        counts = run_steps(steps, Execution(selection, plain()), selection.arguments(), times)
    except KeyboardInterrupt:
        print("tools/test: interrupted", file=sys.stderr)
        return 130
    print(f"{counts.passed} passed, {counts.failed} failed")
    if selection.text and counts == Counts():
        print(f"tools/test: no test matches '{selection.text}'", file=sys.stderr)
        return 2
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
