"""The command tools/bench messages: compares ROUTER to ROUTER with libzmq, in the same run."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from benchlib.arguments import PRESETS, Parser, binary, compilers
from common.build import build
from common.tree import check_result_file, revision
from millrace.common.arguments import UsageError
from millrace.common.failure import Failure
from millrace.common.files import write
from millrace.common.process import ending
from millrace.common.progress import Bar
from millrace.common.table import Table

TARGET = "messages_bench"
ROUNDS = 5
TIMEOUT = 300  # seconds of one measurement
NO_URING = 4  # the program's exit code
STRATEGIES = ("speculative", "reactive", "adaptive")

DESCRIPTION = """\
Sends messages from one ROUTER to another over loopback TCP, two threads, one loop
each, and the same with libzmq, in turn; shows medians. The first table has the
three strategies by which a socket reads: messages a second, system calls that
receive, and how many of them found nothing (EAGAIN). The second has sizes,
round trips, many peers and publishing. Both libraries' calls are counted alike.
round-trips-one: all threads are on one processor. router-router-uring: Millrace
uses io_uring. inproc: Millrace's sockets are on one loop, since inproc:// connects
no others; libzmq's are in two threads."""


@dataclass(frozen=True, slots=True)
class Case:
    pattern: str
    size: int
    count: int
    library: str = "millrace"
    strategy: str = "adaptive"
    where: str = ""  # "one": on one processor; "uring": Millrace uses io_uring

    @property
    def name(self) -> str:
        work = f"{self.pattern}-{self.where}" if self.where else self.pattern
        suffix = "" if self.strategy == "adaptive" else f"-{self.strategy}"
        return f"messages-{work}/{self.size}/{self.library}{suffix}"

    @property
    def words(self) -> list[str]:
        """The arguments of the program."""
        where = {"": [], "one": ["one-processor"], "uring": ["uring"] if self.library == "millrace" else []}
        return [self.library, self.pattern, str(self.size), str(self.count), self.strategy, *where[self.where]]


def cases(quick: bool) -> list[Case]:
    share = 10 if quick else 1
    both = [
        Case("router-router", 64, 2_000_000 // share),
        Case("router-router", 1024, 200_000 // share),
        Case("router-router", 65536, 20_000 // share),
        Case("router-router", 65536, 20_000 // share, where="uring"),
        Case("round-trips", 64, 10_000 // share),
        Case("round-trips", 64, 10_000 // share, where="one"),
        *(Case(f"peers-{peers}", 64, 1_000_000 // share) for peers in (10, 100, 1000)),
        *(Case(f"pub-{subscribers}", 64, 1_000_000 // share // subscribers) for subscribers in (1, 10, 100)),
        Case("inproc", 64, 2_000_000 // share),
    ]
    future = Case("router-router-future", 64, 2_000_000 // share)
    strategies = [
        replace(each, strategy=strategy)
        for each in both
        if each.name in ("messages-router-router/64/millrace", "messages-round-trips/64/millrace")
        for strategy in STRATEGIES[:2]
    ]
    pairs = [each for ours in both for each in (ours, replace(ours, library="libzmq"))]
    return [*pairs, *strategies, future]


def main(arguments: Sequence[str], console: Console, out: Console) -> int:
    parser = Parser("tools/bench messages", DESCRIPTION, "Takes about two minutes.", has_loop=False)
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help=f"default: {ROUNDS}")
    parser.add_argument("--quick", action="store_true", help="a tenth of the messages")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was measured")
    options = parser.parse_args(arguments)
    if options.rounds < 1:
        raise UsageError("--rounds must be at least 1")
    if options.json:
        check_result_file(options.json)
    for compiler in compilers(options):
        build(PRESETS[compiler], console, [TARGET])
        found = measure(binary(compiler, TARGET), cases(options.quick), options.rounds, console)
        machine = f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}"
        title = f"{compiler}, {revision()}, {machine}: medians of {options.rounds}"
        out.print()
        out.print(strategy_table(found, title, not out.is_terminal))
        out.print()
        out.print(size_table(found, title, not out.is_terminal))
        if options.json:
            write(
                options.json,
                json.dumps({"benchmarks": [{"name": name, **row} for name, row in found.items()]}, indent=1),
            )
    return 0


def measure(program: Path, wanted: list[Case], rounds: int, console: Console) -> dict[str, dict[str, float]]:
    """The median of each counter, by the names of the cases."""
    runs: dict[str, list[dict[str, float]]] = {each.name: [] for each in wanted}
    with Bar(console, "messages") as bar:
        for done in range(rounds + 1):
            for each in wanted:
                if done == rounds:  # counting costs time, so it has a run of its own
                    counted = run(program, each, "count-allocations") if runs[each.name] else {}
                    for row in runs[each.name]:
                        row["allocs_per_item"] = counted["allocs_per_item"]
                elif row := run(program, each):
                    runs[each.name].append(row)
            bar.update(done + 1, rounds + 1)
    return {name: median(rows) for name, rows in runs.items() if rows}


def run(program: Path, case: Case, *more: str) -> dict[str, float]:
    """Without a result where there is no io_uring."""
    command = [str(program), *case.words, *more]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    if ended.returncode == NO_URING and case.where == "uring":
        return {}
    if ended.returncode:
        raise Failure(f"{' '.join(command)}: {ending(ended.returncode)}\n{ended.stderr}")
    row: dict[str, float] = json.loads(ended.stdout)
    return row


def median(rows: list[dict[str, Any]]) -> dict[str, float]:
    return {key: statistics.median(row[key] for row in rows) for key in rows[0]}


def rate(row: dict[str, float]) -> str:
    number = row["items_per_second"]
    return f"{number / 1e6:.2f} M" if number >= 1e6 else f"{number / 1e3:.1f} K"


def strategy_table(found: dict[str, dict[str, float]], title: str, plain: bool) -> Table:
    result = Table(f"{title}; 64 bytes", plain)
    result.texts("work", "reads")
    result.numbers("messages/s", "recvfrom calls", "EAGAIN", "recvfrom/msg", "p50 us")
    for pattern in ("router-router", "round-trips"):
        for name in ("millrace-speculative", "millrace-reactive", "millrace", "libzmq"):
            row = found.get(f"messages-{pattern}/64/{name}")
            if row:
                label = {"millrace": "adaptive", "libzmq": "libzmq"}.get(name, name.removeprefix("millrace-"))
                calls, empty = f"{row['receive_calls']:.0f}", f"{row['eagain']:.0f}"
                each = f"{row['receive_calls_per_item']:.5f}"
                result.add_row(pattern, label, rate(row), calls, empty, each, latency(row, "p50_us"))
    return result


def latency(row: dict[str, float], key: str) -> str:
    return f"{row[key]:.1f}" if key in row else ""


def size_table(found: dict[str, dict[str, float]], title: str, plain: bool) -> Table:
    result = Table(title, plain)
    result.texts("work")
    result.numbers(
        "bytes", "millrace/s", "libzmq/s", "times", "CPU ns", "allocs", "p50 us", "p99 us", "libzmq p50", "p99"
    )
    for name, row in found.items():
        work, size, style = name.split("/")
        if style != "millrace":
            continue
        theirs = found.get(f"{work}/{size}/libzmq", {})
        times = f"{row['items_per_second'] / theirs['items_per_second']:.1f}" if theirs else ""
        result.add_row(
            work.removeprefix("messages-"),
            size,
            rate(row),
            rate(theirs) if theirs else "",
            times,
            f"{row['cpu_ns_per_item']:.0f}",
            f"{row['allocs_per_item']:.4f}",
            latency(row, "p50_us"),
            latency(row, "p99_us"),
            latency(theirs, "p50_us"),
            latency(theirs, "p99_us"),
        )
    return result
