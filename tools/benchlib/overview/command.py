"""The default command of tools/bench: the cost of a wait in each style."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from benchlib.arguments import PRESETS, TARGET, Parser, binary, compilers
from benchlib.net import command as net
from benchlib.net.tables import is_net
from benchlib.net.tables import tables as net_tables
from benchlib.overview.cited import cited_table
from benchlib.overview.peers import libraries, own_styles, peers_table
from benchlib.overview.table import table
from common.build import build
from common.tree import revision
from millrace.bench.results import FIBER, Row, collect, errors, merge, noise
from millrace.bench.suite import Settings, available, choose, compiled, of_sizes, run
from millrace.bench.tables import library_table, task_table
from millrace.common.arguments import UsageError
from millrace.common.files import check_writable, write
from millrace.common.table import Table

QUICK = "^(DELAY|YIELD|NET2|callback|fork-.*)/"
QUICK_SIZES: tuple[int, ...] = (64, 4096, 65536, 100_000)
QUICK_SECONDS = 24.0  # for all compilers together; the rest of the minute is for set-up and first runs
QUICK_PEERS_SIZES: tuple[int, ...] = (1000, 1024, 4096)  # one of each row
QUICK_PEERS_SECONDS = 30.0
FULL_MIN_TIME = 0.2  # of one repetition, in seconds

DESCRIPTION = """\
Builds the benchmarks, runs them, and prints a table: nanoseconds per item, minimum of
the repetitions, and what the hand-written coroutine costs over the actor. An item is
one of the N actors, numbers or calls; of DELAY, YIELD and timer_*, where N - 1 timers
are set meanwhile, one wait. Per item too: blocks and system allocations, and tasks run
by the loop; bytes is the block of one of the waiting computations, result and all.
Where ACTOR and coroutine differ, "ACTOR / coroutine"; of spawn and switch, which only
fibers have, it is the fiber's, with the pages of its stack that it has used.
The library's pieces, which have
no styles, follow in a table of their own. bench/work.cpp says what each row does.

With --peers, the same works in other libraries and, in brackets, how many times our
coroutine's time that is; the floors are a function pointer, and a bare coroutine, in
an intrusive queue."""

EPILOG = """\
The JSON is Google Benchmark's: {"context": {...}, "benchmarks": [...]}, with the
compiler, flags, loop and revision in the context. With --compiler both there is
one list: each name ends in /compiler:clang or /compiler:gcc, each entry's label is
the compiler, and the context's compiler and flags are "for clang; for gcc".

tools/bench net --help: composed operations and bind, as --quick shows them, and echo.
tools/bench http --help: our HTTP server and client beside those of others.
tools/bench postgres --help: our client of PostgreSQL beside libpq, Boost.Asio with libpq, and asyncpg.
tools/bench messages --help: messages from ROUTER to ROUTER, by read strategy, beside libzmq.
tools/bench growth --help: the cost of an actor among 1 to a million, with charts.
tools/bench instructions --help: instructions instead of time, the same on a busy machine.
tools/bench frames --help: what the bytes of a waiting actor or coroutine are.
tools/bench check --help: fails if an operation takes more instructions than it did.
tools/bench compiler --help: what actorc costs.
tools/bench profile --help: what the time of a benchmark goes for, and flame graphs.
tools/bench report --help: everything as one HTML page.
tools/bench record --help: the page of results of the documentation.
tools/bench compare --help: whether one revision, or compiler, is faster than another.

Exit code: 0 success, 1 the build or a benchmark failed, 2 wrong arguments."""


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = Parser("tools/bench", DESCRIPTION, EPILOG)
    sizes = ", ".join(map(str, QUICK_SIZES))
    parser.add_argument("--quick", action="store_true", help=f"less than a minute: sizes {sizes}, the first rows only")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to FILE as well")
    parser.add_argument("--filter", default="", metavar="REGEX", help="only benchmarks with a name that contains REGEX")
    parser.add_argument("--peers", action="store_true", help="beside other libraries; with --quick less than 2 minutes")
    parser.add_argument("--repetitions", type=int, metavar="N", help="default: 9, with --quick 5")
    options = parser.parse_args(arguments)
    options.loop = options.loop or ("real" if options.peers else "sim")  # other libraries have no virtual time
    return options


def check(options: argparse.Namespace) -> None:
    """Checks the arguments before a build of minutes."""
    if options.repetitions is not None and options.repetitions < 1:
        raise UsageError("--repetitions must be at least 1")
    compiled(options.filter)
    if options.json:
        check_writable(options.json)


def measure(options: argparse.Namespace, console: Console) -> dict[str, dict[str, Any]]:
    """The JSON of each compiler's run."""
    quick_pattern, quick_sizes, quick_seconds = QUICK, QUICK_SIZES, QUICK_SECONDS
    if options.peers:
        quick_pattern, quick_sizes, quick_seconds = "", QUICK_PEERS_SIZES, QUICK_PEERS_SECONDS
    work: dict[str, list[str]] = {}
    with_net = options.quick and not options.peers and not options.filter
    for compiler in compilers(options):
        build(PRESETS[compiler], console, [TARGET, net.TARGET] if with_net else [TARGET])
        pattern = options.filter or (quick_pattern if options.quick else "")
        names = choose(available(binary(compiler), options.loop), pattern, options.peers, (FIBER,))
        work[compiler] = of_sizes(names, quick_sizes) if options.quick else names
        if not work[compiler]:
            raise UsageError(f"'{options.filter}' matches nothing of the sizes {quick_sizes} of --quick")
    repetitions = options.repetitions or (5 if options.quick else 9)
    runs = repetitions * sum(map(len, work.values()))
    min_time = min(FULL_MIN_TIME, quick_seconds / runs) if options.quick else FULL_MIN_TIME
    now = revision()
    documents = {}
    for compiler, names in work.items():
        settings = Settings(compiler, options.loop, repetitions, min_time, now)
        documents[compiler] = document = run(binary(compiler), names, settings, console)
        if with_net:
            more = net.measure(net.quick_names(compiler, options.loop), settings, console, quick=True)
            document["benchmarks"] += more["benchmarks"]
    return documents


def report(documents: dict[str, dict[str, Any]], options: argparse.Namespace, out: Console) -> bool:
    """Prints the tables; false if a benchmark failed."""
    plain = not out.is_terminal
    good = True
    for document in documents.values():
        context, results = document["context"], document["benchmarks"]
        rows = collect(result for result in results if not is_net(result["name"]))
        out.print(f"\n{context['compiler']}, {options.loop} loop, {context['revision']}")
        shown_tables = peers_tables(rows, plain) if options.peers else tables(rows, context["compiler"], plain)
        for shown in (*shown_tables, *net_tables(results, plain)):
            if shown.row_count:
                out.print()
                out.print(shown)
        out.print(noise(rows))
        for error in errors(collect(results)):
            good = False
            out.print(f"error: {error}")
    return good


def tables(rows: list[Row], compiler: str, plain: bool) -> list[Table]:
    return [
        table(rows, "ns per item", plain),
        task_table(rows, "structured tasks: ns per child or value", plain),
        cited_table(rows, compiler, plain),
        library_table(rows, "the library: ns per use", plain, "ns", "minimum"),
    ]


def peers_tables(rows: list[Row], plain: bool) -> list[Table]:
    return [
        peers_table(rows, own_styles(rows), "ns per item (times our coroutine's)", plain),
        peers_table(rows, libraries(rows), "the same in other libraries", plain),
    ]


def main(arguments: Sequence[str], console: Console, out: Console) -> int:
    options = parse_arguments(arguments)
    check(options)
    documents = measure(options, console)
    try:
        good = report(documents, options, out)
    finally:
        if options.json:
            write(options.json, json.dumps(merge(documents), indent=2) + "\n")
    return 0 if good else 1
