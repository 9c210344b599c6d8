"""millrace simulate run: many seeds of one simulation."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing

from rich.console import Console

from millrace.common.arguments import UsageError
from millrace.common.failure import Failure
from millrace.common.packages import require
from millrace.common.process import revision
from millrace.common.progress import Bar
from millrace.common.sanitizer import SANITIZER
from millrace.simulate import local
from millrace.simulate.arguments import ALL
from millrace.simulate.ledger import Difference, Ledger, opened
from millrace.simulate.program import Program, program
from millrace.simulate.results import Result, Tally, grouped
from millrace.simulate.shrink_command import first_line, report, shrink
from millrace.simulate.words import span

BATCH = 100  # seeds in a process, at most


def main(options: argparse.Namespace, console: Console, out: Console) -> int:
    if options.jobs and options.scheduler:
        raise UsageError("--jobs does nothing with --scheduler")
    if options.scheduler:
        require("millrace simulate --scheduler", "distributed")
    with opened(options.ledger) as ledger:  # before anything takes long
        found = program(options.program)
        code = 0
        for test in _tests(options, found):
            one = argparse.Namespace(**{**vars(options), "test": test})
            with ExitStack() as stack:
                code = max(code, _run(one, found, ledger, _results(one, found, stack), console, out))
            if code > 1:
                break
        return code


def _tests(options: argparse.Namespace, found: Program) -> list[str]:
    for test in options.but:
        found.require(test)
    if options.test == ALL:
        return [test for test in found.tests if test not in options.but]
    if options.but:
        raise UsageError(f"--but does nothing without {ALL}")
    found.require(options.test)
    return [options.test]


def split(some: range, workers: int) -> Iterator[range]:
    """Several batches for each worker, so that all end at nearly the same time."""
    size = min(BATCH, max(1, len(some) // (4 * workers)))
    return (some[i : i + size] for i in range(0, len(some), size))


def _results(options: argparse.Namespace, found: Program, stack: ExitStack) -> Generator[Result | None, None, None]:
    command = found.command(options.test, ["--once"] if options.once else [])
    if options.scheduler:
        from millrace.simulate.cluster import Cluster

        cluster = stack.enter_context(closing(Cluster(options.scheduler)))
        batches = split(options.seeds, cluster.threads() or 1)
        return cluster.run(command, found.hash, batches, options.timeout, SANITIZER)
    jobs = min(options.jobs or os.cpu_count() or 1, len(options.seeds))
    return local.run(command, split(options.seeds, jobs), jobs, options.timeout, SANITIZER)


def _run(
    options: argparse.Namespace,
    found: Program,
    ledger: Ledger,
    results: Generator[Result | None, None, None],
    console: Console,
    out: Console,
) -> int:
    tally = Tally()
    number = ledger.begin(found, options.test, revision(), options.seeds)
    began = time.monotonic()
    differences: list[Difference] = []
    try:
        code, problem = _gather(options, tally, ledger, number, results, console)
        ledger.end(number)
        differences = ledger.differences(number)
    finally:  # also if the ledger fails
        _print(options, found, tally, differences, time.monotonic() - began, console, out)
    if problem:
        console.print(f"millrace simulate: {problem}", soft_wrap=True)
    return code or int(bool(tally.failures or differences))


def _gather(
    options: argparse.Namespace,
    tally: Tally,
    ledger: Ledger,
    number: int,
    results: Generator[Result | None, None, None],
    console: Console,
) -> tuple[int, str]:
    """Into the tally and the ledger; returns the exit code for an end before the last seed, and why it came."""
    most = None if options.keep_going else options.max_failures
    began = time.monotonic()
    try:
        with Bar(console, f"seeds of {options.test}") as bar, closing(results):
            for result in results:
                if result is not None:
                    tally.add(result)
                    ledger.add(number, result)
                if most is not None and len(tally.failures) >= most:
                    return 0, f"ended after {len(tally.failures)} failures; --keep-going goes on"
                bar.update(len(tally.done), len(options.seeds), _note(tally, time.monotonic() - began))
    except KeyboardInterrupt:
        return 130, "interrupted"
    except (Failure, OSError) as error:
        return 2, str(error)
    return 0, ""


def _note(tally: Tally, real: float) -> str:
    failures = f"{len(tally.failures)} failures"
    return f"{failures}, {tally.seconds / real:,.0f} simulated s/s, {tally.faults.total():,} faults"


def _print(
    options: argparse.Namespace,
    found: Program,
    tally: Tally,
    differences: Sequence[Difference],
    real: float,
    console: Console,
    out: Console,
) -> None:
    groups = grouped(tally.failures.values())
    lines = []
    for group in groups:
        smallest = group.smallest
        lines += [
            f"{group.count} {'seed' if group.count == 1 else 'seeds'}: {group.signature}",
            f"  seed {smallest.seed}: {first_line(smallest.text)}",
            *(f"  {line}" for line in smallest.text.splitlines()[1:]),
            f"  again: {found.again(options.test, smallest.seed)}",
        ]
        if options.shrink:
            try:
                small = shrink(found, options.test, smallest.seed, options.timeout, console)
                lines += [f"  {line}" for line in report(found, options.test, small)]
            except Failure as error:  # it may have failed on another machine only
                lines.append(f"  not shrunk: {error}")
        lines.append("")
    lines += [f"not deterministic: {each}" for each in differences]
    kinds = f" of {len(groups)} signatures" if len(groups) > 1 else ""
    lines.append(
        f"{len(tally.done):,} seeds of {options.test}: {len(tally.failures):,} failed{kinds}; {span(tally.seconds)} "
        f"simulated in {span(real)}, {tally.faults.total():,} faults"
    )
    for line in lines:
        out.print(line, soft_wrap=True)
