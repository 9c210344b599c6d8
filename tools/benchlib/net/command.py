"""The command tools/bench net: measures composed operations, binding, and echo servers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from benchlib.arguments import PRESETS, Parser, binary, compilers
from benchlib.net.tables import SERVERS, remarks, tables
from common.build import build
from common.tree import revision
from millrace.bench.results import collect, errors, merge, parse_name
from millrace.bench.suite import Settings, available, compiled, run
from millrace.common.arguments import UsageError, unknown
from millrace.common.files import check_writable, write

TARGET = "net_bench"
REPETITIONS = 5
ROUNDS = 11  # of servers
MIN_TIME = 0.05  # of one repetition, in seconds
QUICK_MIN_TIME = 0.005
QUICK_REPETITIONS = 3

DESCRIPTION = """\
Measures composed operations over a stream with free I/O, in each style
and beside a function pointer and a bare coroutine in the same queue; binding, beside
the bare system calls; and echo servers, and requests with replies, ours and others',
on the loopback device."""

EPILOG = """\
Rows are composed-socket/LEVEL/STYLE, composed-tls/LEVEL/STYLE, composed-loop/4/STYLE,
bind-tcp/N/STYLE, bind-udp/N/STYLE, and of servers echo/CONNECTIONS/SERVER, echo-depth,
echo-open, echo-tls, echo-loops, idle and flood,
and of requests rpc/DEPTH/STYLE, rpc-connections/N/STYLE and rpc-bytes/N/STYLE;
bench/docs/sockets.md says what each is.
Servers take turns, a round each. Takes some twelve minutes."""


def quick_names(compiler: str, loop: str) -> list[str]:
    """The rows of tools/bench --quick: no echo servers, and no rows that take seconds."""
    names = [parse_name(name) for name in available(binary(compiler, TARGET), loop)]
    return [f"{name.label}/{name.style}" for name in names if name.benchmark not in SERVERS and (name.size or 0) <= 50]


def measure(names: Sequence[str], settings: Settings, console: Console, quick: bool) -> dict[str, Any]:
    """One document."""
    program = binary(settings.compiler, TARGET)
    echoes = [name for name in names if parse_name(name).benchmark in SERVERS]
    others = [name for name in names if name not in echoes]
    documents = []
    if quick:
        settings = replace(settings, repetitions=QUICK_REPETITIONS, min_time=QUICK_MIN_TIME)
    for some, repetitions in ((others, settings.repetitions), (echoes, ROUNDS)):
        if some:
            own = replace(settings, repetitions=repetitions)
            documents.append(run(program, some, own, console))
    document = documents[0]
    document["benchmarks"] = [result for each in documents for result in each["benchmarks"]]
    return document


def main(arguments: Sequence[str], console: Console, out: Console) -> int:
    parser = Parser("tools/bench net", DESCRIPTION, EPILOG, has_loop=False)
    parser.add_argument("--filter", default="", metavar="REGEX", help="only rows with a name that contains REGEX")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, metavar="N", help=f"default: {REPETITIONS}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to FILE as well")
    options = parser.parse_args(arguments)
    if options.repetitions < 1:
        raise UsageError("--repetitions must be at least 1")
    pattern = compiled(options.filter)
    if options.json:
        check_writable(options.json)
    documents: dict[str, dict[str, Any]] = {}
    good = True
    now = revision()
    for compiler in compilers(options):
        build(PRESETS[compiler], console, [TARGET])
        every = available(binary(compiler, TARGET), "real")
        names = [name for name in every if pattern.search(name)]
        if not names:
            raise UsageError(unknown("row", options.filter, every))
        settings = Settings(compiler, "real", options.repetitions, MIN_TIME, now)
        documents[compiler] = document = measure(names, settings, console, quick=False)
        out.print(f"\n{document['context']['compiler']}, {now}")
        for shown in tables(document["benchmarks"], not out.is_terminal):
            out.print()
            out.print(shown)
        for remark in remarks(document["benchmarks"]):
            out.print(remark)
        for error in errors(collect(document["benchmarks"])):
            good = False
            out.print(f"error: {error}")
    if options.json:
        write(options.json, json.dumps(merge(documents), indent=2) + "\n")
    return 0 if good else 1
