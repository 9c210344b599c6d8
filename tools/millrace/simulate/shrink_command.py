"""millrace simulate shrink: finds the faults that make a seed fail."""

from __future__ import annotations

import argparse
import socket
from collections.abc import Sequence

from rich.console import Console

from millrace.common.failure import Failure
from millrace.common.progress import Bar
from millrace.common.sanitizer import SANITIZER
from millrace.simulate.batch import Batch, Record
from millrace.simulate.program import Program, program
from millrace.simulate.results import Result
from millrace.simulate.shrink import NothingFailsError, Shrunk, shrunk


def main(options: argparse.Namespace, console: Console, out: Console) -> int:
    found = program(options.program)
    found.require(options.test)
    for line in report(found, options.test, shrink(found, options.test, options.seed, options.timeout, console)):
        out.print(line, soft_wrap=True)
    return 0


def shrink(found: Program, test: str, number: int, limit: float, console: Console) -> Shrunk:
    tries = 0
    with Bar(console, f"shrinking seed {number}") as bar:

        def run(only: str | None) -> Result:
            nonlocal tries
            tries += 1
            bar.update(tries, tries, tried(only))
            return _alone(found.command(test, [] if only is None else ["--only", only]), number, limit)

        try:
            return shrunk(run, found.faults)
        except NothingFailsError:
            raise Failure(f"seed {number} of {test} does not fail: {found.again(test, number)}") from None


def tried(only: str | None) -> str:
    """What a run may have, for the bar."""
    if not only:
        return "all faults" if only is None else "no fault"
    runs = only.count(",") + 1
    return f"{runs} {'run' if runs == 1 else 'runs'} of faults"


def _alone(command: Sequence[str], number: int, limit: float) -> Result:
    records: list[Record] = []
    try:
        Batch(command, limit, SANITIZER, records.append, lambda: False).run(number, number)
    except OSError as error:
        raise Failure(f"cannot run {command[0]}: {error.strerror}") from error
    return Result.of(records[-1], socket.gethostname())


def report(found: Program, test: str, small: Shrunk) -> list[str]:
    seed = small.result.seed
    before = sum(small.before.faults.values())
    # A crashed program did not print the injected faults.
    left = amounts(small.result.faults) if small.result.digest else small.only or "no fault"
    tries = f"of {before:,}; {small.tries} runs" if small.before.digest else f"{small.tries} runs"
    return [
        f"seed {seed} of {test} with {left} ({tries}):",
        f"  {first_line(small.result.text)}",
        f"  again: {found.again(test, seed, ['--only', small.only])}",
    ]


def amounts(faults: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(faults.items())) or "no fault"


def first_line(text: str) -> str:
    return next(iter(text.splitlines()), "")
