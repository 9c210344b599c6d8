"""The command tools/bench compiler: prints the cost of actorc in two tables."""

from __future__ import annotations

import argparse
import json
import platform
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from benchlib.arguments import Parser
from benchlib.compiler.cost import Many, Row, document, measure_file, measure_many
from millrace.common.arguments import UsageError
from millrace.common.files import check_writable, write
from millrace.common.progress import Bar
from millrace.common.table import Table

DESCRIPTION = """\
Measures actorc on the actors of bench/actors, repeated: CPU seconds of the whole
process, lines per second without the start, bytes of output for a byte of input, and
CPU seconds of clang 19 for the output; then many files, a process for each and all in
one."""

_COMPILED_UP_TO = 1_500  # lines


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = Parser("tools/bench compiler", DESCRIPTION, compiler=None, has_loop=False)
    sizes = [1_000, 10_000, 100_000]
    parser.add_argument("--lines", type=int, nargs="*", default=sizes, metavar="N", help="default: 1000 10000 100000")
    parser.add_argument("--files", type=int, default=50, metavar="N", help="many files of 700 lines; default: 50")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="of which the least counts; default: 3")
    parser.add_argument("--no-clang", action="store_true", help="do not compile the output")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to FILE as well")
    options = parser.parse_args(arguments)
    if min(options.lines, default=1) < 1:
        raise UsageError("--lines must be at least 1")
    if options.files < 0:
        raise UsageError("--files must be at least 0")
    if options.runs < 1:
        raise UsageError("--runs must be at least 1")
    return options


def main(arguments: Sequence[str], console: Console, out: Console) -> int:
    options = parse_arguments(arguments)
    if options.json:
        check_writable(options.json)
    rows: list[Row] = []
    many: list[Many] = []
    with tempfile.TemporaryDirectory() as name, Bar(console, "measuring actorc") as bar:
        folder = Path(name)
        steps = len(options.lines) + bool(options.files)
        for step, lines in enumerate(options.lines):
            bar.update(step, steps)
            compiled = lines <= _COMPILED_UP_TO and not options.no_clang
            rows += measure_file(folder, lines, options.runs, compile_output=compiled)
        if options.files:
            bar.update(steps - 1, steps)
            many += measure_many(folder, options.files, 700)
    plain = not out.is_terminal
    for table in (files_table(rows, plain), many_table(many, plain)):
        if table.row_count:
            out.print(table)
    if options.json:
        context = {"python": platform.python_version(), "machine": platform.machine()}
        write(options.json, json.dumps(document(rows, many, context), indent=1) + "\n")
    return 0


def files_table(rows: Sequence[Row], plain: bool) -> Table:
    titles = (
        "lines",
        "back end",
        "CPU s",
        "of it start",
        "lines/s",
        "output/input",
        "clang -fsyntax-only s",
        "clang -O2 s",
    )
    table = _table(titles, plain)
    for row in rows:
        table.add_row(
            f"{row.lines}",
            row.backend,
            f"{row.seconds:.3f}",
            f"{row.start:.3f}",
            f"{row.lines_per_second:.0f}",
            f"{row.ratio:.2f}",
            _optional(row.syntax),
            _optional(row.optimised),
        )
    return table


def many_table(many: Sequence[Many], plain: bool) -> Table:
    titles = ("files", "lines", "back end", "a process each, CPU s", "--batch, CPU s", "--batch, lines/s")
    table = _table(titles, plain)
    for each in many:
        rate = each.lines / each.batch
        table.add_row(
            f"{each.files}", f"{each.lines}", each.backend, f"{each.apart:.2f}", f"{each.batch:.2f}", f"{rate:.0f}"
        )
    return table


def _table(titles: Sequence[str], plain: bool) -> Table:
    table = Table("", plain)
    for title in titles:
        (table.texts if title == "back end" else table.numbers)(title)
    return table


def _optional(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:.2f}"
