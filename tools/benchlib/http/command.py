"""The command tools/bench http: our HTTP server beside others, in the same run."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from rich.console import Console

from benchlib.arguments import PRESETS, Parser, binary
from benchlib.http import clients, idle, load
from benchlib.http.clients import CLIENT
from benchlib.http.servers import OURS, PLAIN, WORKS, Place, absent, servers_of, started, write_files
from benchlib.http.tables import tables
from common.build import binary_dir, build
from common.tree import revision
from millrace.bench.suite import compiled
from millrace.common.arguments import UsageError, unknown
from millrace.common.files import check_writable, write
from millrace.common.progress import Bar

TARGET = "http_bench"
ROUNDS = 11
CONNECTIONS = 50

DESCRIPTION = """\
Measures HTTP servers: ours, nginx, hyper, Go's, Boost.Beast and nghttpd, each a
process with one thread, with wrk (HTTP/1.1) or h2load (HTTP/2) on the loopback
device. Servers take turns, a second each. Our client, Go's and curl's ask nginx. Whatever is
not installed is left out."""

EPILOG = """\
Rows are http/WHAT/CONNECTIONS/SERVER: memory, file-612, file-64k, memory-tls,
memory-h2, memory-h2-tls, the memory of idle, idle-tls and idle-h2 connections, client;
bench/docs/http.md says what each is. Takes some six minutes."""

Row = tuple[str, int, str]  # what, connections, server


def every_row() -> list[Row]:
    rows = [(work, CONNECTIONS, server) for work in WORKS for server in servers_of(work)]
    for what, (_, connections) in idle.IDLE.items():
        work = what.replace("idle", "memory")
        rows += [(what, connections, server) for server in servers_of(work) if server != "nghttpd"]
    return rows + [(CLIENT, CONNECTIONS, client) for client in clients.PROGRAMS]


def is_there(row: Row, place: Place) -> bool:
    missing = absent(place)
    if row[0] == CLIENT:
        return row[2] not in clients.absent(place.programs) and clients.ASKED not in missing
    return row[2] not in missing


def name_of(row: Row) -> str:
    what, connections, server = row
    return f"http/{what}/{connections}/{server}"


def measure(rows: Sequence[Row], programs: Path, certificates: Path, rounds: int, bar: Bar) -> list[dict[str, Any]]:
    """The results, as Google Benchmark writes them: one of each row and round."""
    results: list[dict[str, Any]] = []
    idle.allow_descriptors()
    with tempfile.TemporaryDirectory() as folder:
        place = Place(programs, Path(folder), certificates)
        write_files(place.folder)
        for what in dict.fromkeys(row[0] for row in rows):
            some = [row for row in rows if row[0] == what]
            if what in idle.IDLE:
                for row in some:
                    with started(row[2], place, idle.IDLE[what][0]) as server:
                        results.append(_result(row, idle.measure(server, row[1])))
            elif what == CLIENT:
                with started(clients.ASKED, place, PLAIN) as server:
                    for _ in range(rounds):
                        results += [_result(row, clients.measure(row[2], programs, server, row[1])) for row in some]
            else:
                results += _measure_work(what, some, place, rounds)
            bar.update(len({result["name"] for result in results}), len(rows))
    return results


def _measure_work(what: str, rows: Sequence[Row], place: Place, rounds: int) -> list[dict[str, Any]]:
    how, path = WORKS[what]
    results = []
    with ExitStack() as stack:
        servers = {row: stack.enter_context(started(row[2], place, how)) for row in rows}
        for _ in range(rounds):
            results += [_result(row, load.measure(server, path, row[1])) for row, server in servers.items()]
        for row, server in servers.items():
            if server.name != OURS:
                continue
            requests, own, others, _ = idle.counted(server)  # counting takes time: after the rounds
            load.measure(server, path, row[1])
            after = idle.counted(server)
            allocations = {
                "allocs_per_request": (after[1] - own) / (after[0] - requests),
                "allocs_of_libraries": (after[2] - others) / (after[0] - requests),
            }
            results = [result | allocations if result["name"] == name_of(row) else result for result in results]
    return results


def _result(row: Row, counters: dict[str, float]) -> dict[str, Any]:
    name = name_of(row)
    return {"name": name, "run_name": name, "run_type": "iteration", **counters}


def main(arguments: Sequence[str], console: Console, out: Console) -> int:
    parser = Parser("tools/bench http", DESCRIPTION, EPILOG, compiler=None, has_loop=False)
    parser.add_argument("--filter", default="", metavar="REGEX", help="only rows with a name that contains REGEX")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help=f"default: {ROUNDS}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to FILE as well")
    options = parser.parse_args(arguments)
    if options.rounds < 1:
        raise UsageError("--rounds must be at least 1")
    pattern = compiled(options.filter)
    rows = [row for row in every_row() if pattern.search(name_of(row))]
    if not rows:
        raise UsageError(unknown("row", options.filter, [name_of(row) for row in every_row()]))
    if options.json:
        check_writable(options.json)
    preset = PRESETS["clang"]
    build(preset, console, [TARGET])
    program = binary("clang", TARGET)
    certificates = binary_dir(preset) / "tests" / "certificates"
    return show(rows, program.parent, certificates, options.rounds, options.json, console, out)


def show(
    rows: Sequence[Row],
    programs: Path,
    certificates: Path,
    rounds: int,
    file: Path | None,
    console: Console,
    out: Console,
) -> int:
    place = Place(programs, Path("/"), certificates)
    there = [row for row in rows if is_there(row, place)]
    with Bar(console, "HTTP servers") as bar:
        results = measure(there, programs, certificates, rounds, bar)
    machine = f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}"
    out.print(f"\n{revision()}, {machine}: medians of {rounds}")
    for shown in tables(results, not out.is_terminal):
        out.print()
        out.print(shown)
    for name in dict.fromkeys(row[2] for row in rows if row not in there):
        out.print(f"note: {name}, or what it is measured with, is not installed: its rows are left out")
    if file:
        context = {"revision": revision(), "compiler": "clang"}
        write(file, json.dumps({"context": context, "benchmarks": results}, indent=2) + "\n")
    return 0
