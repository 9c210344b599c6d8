"""The command tools/bench postgres: our PostgreSQL client beside others, in the same run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.console import Console

from benchlib.arguments import PRESETS, Parser, binary
from benchlib.http.load import run
from benchlib.postgres.tables import OURS, table
from common.build import build
from common.tree import ROOT, revision
from millrace.bench.suite import compiled
from millrace.common.arguments import UsageError, unknown
from millrace.common.failure import Failure
from millrace.common.files import check_writable, write
from millrace.common.progress import Bar
from net.postgres.server import programs, running

TARGET = "postgres_bench"
ROUNDS = 7
SECONDS = 0.5

DESCRIPTION = """\
Measures PostgreSQL clients: ours, libpq's blocking calls, Boost.Asio with libpq,
Go's pgx, Rust's tokio-postgres and Python's asyncpg, each a process with one thread,
with a server of Debian's package in a temporary folder. Clients take turns, half a second
each. Whatever is not installed is left out."""

EPILOG = """\
Rows are postgres/WORK/TASKSxCONNECTIONS/CLIENT; works are row, queries-20, pipelined-20,
rows-1000, stream-1000 and insert. bench/docs/postgres.md says what each is. Takes some nine
minutes."""

# The works, and the queries of each.
WORKS = {"row": 1, "queries-20": 20, "pipelined-20": 20, "rows-1000": 1, "stream-1000": 1, "insert": 1}
SHAPES = ("1x1", "64x1", "64x8")  # tasks and connections
ALONE = "1x1"
BLOCKING = "libpq"
NOT_PIPELINED = "millrace-pool"
NO_PIPELINE = (NOT_PIPELINED, "asyncpg")
ASYNCPG = Path("bench/postgres/peers/ask_asyncpg.py")
CLIENTS = (OURS, NOT_PIPELINED, BLOCKING, "asio", "pgx", "tokio", "asyncpg")

_SCHEMA = """\
CREATE TABLE item (id int PRIMARY KEY, name text NOT NULL, price int NOT NULL);
INSERT INTO item SELECT each, 'the item with the number ' || each, 10 * each FROM generate_series(1, 1000) each;
CREATE UNLOGGED TABLE sale (item int NOT NULL, amount int NOT NULL);
ANALYZE;"""

Row = tuple[str, str, str]  # work, shape, client


def every_row() -> list[Row]:
    return [
        (work, shape, client)
        for work in WORKS
        for shape in SHAPES
        for client in CLIENTS
        if (client != BLOCKING or shape == ALONE) and (client not in NO_PIPELINE or work != "pipelined-20")
    ]


def name_of(row: Row) -> str:
    return "/".join(("postgres", *row))


def command(client: str, folder: Path) -> list[str]:
    """What starts a client; `folder` has the programs."""
    if client == "asyncpg":
        return [sys.executable, str(ROOT / ASYNCPG)]
    files = {OURS: TARGET, NOT_PIPELINED: TARGET, "tokio": "tokio/release/postgres_tokio"}
    return [str(folder / files.get(client, f"postgres_{client}"))]


def is_there(client: str, folder: Path) -> bool:
    return shutil.which(command(client, folder)[0]) is not None and (
        client != "asyncpg" or find_spec(client) is not None
    )


def ask(row: Row, folder: Path, url: str) -> dict[str, float]:
    """The counters of one round."""
    work, shape, client = row
    arguments = [work, *shape.split("x"), str(SECONDS), url, *(["pool"] if client == NOT_PIPELINED else [])]
    done, seconds, processor, p50, p99 = map(float, run([*command(client, folder), *arguments]).split())
    queries = done * WORKS[work]
    return {
        "queries_per_second": queries / seconds,
        "processor_us_per_query": processor * 1e6 / queries,
        "p50_us": p50,
        "p99_us": p99,
    }


def measure(rows: Sequence[Row], folder: Path, rounds: int, bar: Bar) -> list[dict[str, Any]]:
    """The results, as Google Benchmark writes them: one of each row and round."""
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="millrace-") as parent:
        Path(parent).chmod(0o755)  # the server has another user
        with running(Path(parent) / "postgres") as url:
            found = programs()
            assert found
            subprocess.run([found / "psql", url, "-q", "-v", "ON_ERROR_STOP=1", "-c", _SCHEMA], check=True)
            for work in dict.fromkeys(row[:2] for row in rows):
                for _ in range(rounds):
                    for row in rows:
                        if row[:2] == work:
                            name = name_of(row)
                            counters = ask(row, folder, url)
                            results.append({"name": name, "run_name": name, "run_type": "iteration", **counters})
                bar.update(len(results), len(rows) * rounds)
    return results


def main(arguments: Sequence[str], console: Console, out: Console) -> int:
    parser = Parser("tools/bench postgres", DESCRIPTION, EPILOG, compiler=None, has_loop=False)
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
    if not programs():
        raise Failure("PostgreSQL's server is not installed: tools/setup postgres installs it")
    build(PRESETS["clang"], console, [TARGET])
    folder = binary("clang", TARGET).parent
    there = [row for row in rows if is_there(row[2], folder)]
    with Bar(console, "PostgreSQL clients") as bar:
        results = measure(there, folder, options.rounds, bar)
    machine = f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}"
    out.print(f"\n{revision()}, {machine}: {options.rounds} rounds\n")
    out.print(table(results, not out.is_terminal))
    for name in dict.fromkeys(row[2] for row in rows if row not in there):
        out.print(f"note: {name} is not installed: its rows are left out")
    if options.json:
        context = {"revision": revision(), "compiler": "clang"}
        write(options.json, json.dumps({"context": context, "benchmarks": results}, indent=2) + "\n")
    return 0
