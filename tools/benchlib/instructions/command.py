"""The command tools/bench instructions: counts the instructions of an operation."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from benchlib.arguments import PRESETS, TARGET, Parser, binary, compilers
from benchlib.instructions.table import styles_table
from common.build import build
from common.tree import revision
from millrace.bench.callgrind import valgrind
from millrace.bench.count import count
from millrace.bench.plan import ITEMS, TIMES, USUAL_SIZE, countable, usual_sizes
from millrace.bench.results import collect, errors, merge
from millrace.bench.suite import available, choose, compiled, threaded
from millrace.bench.tables import library_table
from millrace.common.arguments import UsageError
from millrace.common.files import check_writable, write

DESCRIPTION = f"""\
Counts the instructions of one item (one of the N actors, numbers or calls; one wait of
DELAY, YIELD and timer_*) with valgrind: the difference of two runs, one of which makes
{TIMES} times the passes of the other. The number does not depend on what else the
machine does, and comes out the same each time. Of each benchmark that FILTER is found
in it takes the size nearest to {USUAL_SIZE}: write NET2/4096 for another."""

EPILOG = f"""\
A run makes some {ITEMS} items. bench/docs/comparing.md says how to read the table.

The JSON is like that of tools/bench, with instructions_per_item in the place of times.

Exit code: 0 success, 1 the build or a benchmark failed, 2 wrong arguments."""


def main(arguments: Sequence[str], console: Console, out: Console) -> int:
    parser = Parser("tools/bench instructions", DESCRIPTION, EPILOG)
    parser.add_argument("filter", nargs="?", default="", metavar="FILTER", help="a regular expression; default: all")
    parser.add_argument("--all-sizes", action="store_true", help="not only one size of each benchmark")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to FILE as well")
    options = parser.parse_args(arguments)
    compiled(options.filter)
    if options.json:
        check_writable(options.json)
    valgrind()
    documents: dict[str, dict[str, Any]] = {}
    good = True
    loop = options.loop or "sim"
    for compiler in compilers(options):
        build(PRESETS[compiler], console, [TARGET])
        program = binary(compiler)
        names, left_out = chosen(available(program, loop), threaded(program, loop), options.filter, options.all_sizes)
        document = count(program, names, loop, console, f"counting {compiler}")
        document["context"]["revision"] = revision()
        documents[compiler] = document
        try:
            good &= report(document, left_out, out)
        finally:
            if options.json:
                write(options.json, json.dumps(merge(documents), indent=2) + "\n")
    return 0 if good else 1


def chosen(
    names: Sequence[str], threads: Collection[str], pattern: str, all_sizes: bool
) -> tuple[list[str], dict[str, str]]:
    """The benchmarks to count, and the reasons why other matches are not counted."""
    found, left_out = countable(choose(names, pattern), threads)
    if not found:
        raise UsageError("; ".join(f"{row} is not counted: {why}" for row, why in left_out.items()))
    return (found if all_sizes else usual_sizes(found)), left_out


def report(document: dict[str, Any], left_out: Mapping[str, str], out: Console) -> bool:
    """Prints the tables; false if a benchmark failed."""
    plain = not out.is_terminal
    context, rows = document["context"], collect(document["benchmarks"])
    out.print(f"\n{context['compiler']}, {context['loop']} loop, {context['revision']}")
    uses = "the library: instructions per use"
    for shown in (styles_table(rows, plain), library_table(rows, uses, plain, "instructions", "instructions")):
        if shown.row_count:
            out.print()
            out.print(shown)
    for row, why in left_out.items():
        out.print(f"not counted: {row}: {why}")
    failed = errors(rows)
    for error in failed:
        out.print(f"error: {error}")
    return not failed
