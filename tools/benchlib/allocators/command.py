"""The command tools/bench allocators: compares FastAllocator with malloc and its replacements."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from benchlib.arguments import Parser, binary, compilers
from benchlib.results import Row, collect
from benchlib.suite import Settings, available, run
from benchlib.tables import new_table, number, size_text
from common.arguments import UsageError, revision
from common.build import build
from common.table import Table

TARGET = "allocator_bench"
OURS = "FastAllocator"
MIN_TIME = 0.05  # of one repetition, in seconds
REPETITIONS = 9

DESCRIPTION = """\
Measures what a block costs that is taken and given back: nanoseconds, minimum of the
repetitions and, of other allocators, how many times FastAllocator's that is. Rows:
one block at a time of N bytes; N blocks given back newest or oldest first; a random
one of many replaced by one of another size; taken on one thread, given back on
another. mimalloc and tcmalloc have a column where they are installed."""


def main(arguments: Sequence[str], console: Console, out: Console) -> int:
    parser = Parser("tools/bench allocators", DESCRIPTION, "Takes about a minute for each compiler.", has_loop=False)
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, metavar="N", help=f"default: {REPETITIONS}")
    options = parser.parse_args(arguments)
    if options.repetitions < 1:
        raise UsageError("--repetitions must be at least 1")
    now = revision()
    for compiler in compilers(options):
        build(compiler, console, [TARGET])
        program = binary(compiler, TARGET)
        settings = Settings(compiler, "", options.repetitions, MIN_TIME, now)
        document = run(program, available(program, ""), settings, console)
        title = f"{document['context']['compiler']}, {now}: ns per block, minimum (times {OURS}'s)"
        out.print()
        out.print(allocators_table(collect(document["benchmarks"]), title, not out.is_terminal))
    return 0


def allocators_table(rows: list[Row], title: str, plain: bool) -> Table:
    """`plain` gives Markdown."""
    columns = list(dict.fromkeys(style for row in rows for style in row.cells))
    result = new_table(title, plain, ("N", *columns))
    for row in rows:
        result.add_row(row.benchmark, size_text(row), *(cell(row, column) for column in columns))
    return result


def cell(row: Row, column: str) -> str:
    minimum, ours = row.cell(column).minimum, row.cell(OURS).minimum
    if minimum is None or not ours or column == OURS:
        return number(minimum)
    return f"{number(minimum)} ({minimum / ours:.1f}x)"
