"""The command tools/bench check: fails if an operation takes more than bench/baseline.json says."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from benchlib.arguments import PRESETS, TARGET, Parser, binary, compilers
from common.build import build
from common.tree import ROOT
from millrace.bench.baseline import read
from millrace.bench.callgrind import valgrind
from millrace.bench.check import check, write_baseline
from millrace.bench.comparison import LIMIT, SLACK
from millrace.bench.suite import compiled
from millrace.common.files import check_writable

UPDATE = "tools/bench check --update"
FILE = ROOT / "bench" / "baseline.json"

DESCRIPTION = f"""\
Counts instructions, allocations and frame bytes of one item of each benchmark, as
tools/bench instructions does, and fails if one of them is more than {LIMIT:.0%} (and more
than {SLACK["instructions"]:g} instruction) above what bench/baseline.json says, or if a benchmark is in only
one of the two. With --update it writes the file instead: commit it with what made the
numbers change, and say in the message why that is worth it."""

EPILOG = """\
Exit code: 0 nothing grew, 1 something did (or the build or a benchmark failed),
2 wrong arguments."""


def main(arguments: Sequence[str], console: Console, out: Console) -> int:
    parser = Parser("tools/bench check", DESCRIPTION, EPILOG, compiler="both", has_loop=False)
    parser.add_argument("filter", nargs="?", default="", metavar="FILTER", help="a regular expression; default: all")
    parser.add_argument("--update", action="store_true", help="write what is counted into the file")
    options = parser.parse_args(arguments)
    compiled(options.filter)
    valgrind()
    if options.update:
        check_writable(FILE)
    if not options.update or FILE.exists():
        read(FILE, UPDATE)  # before a build of minutes
    good = True
    for compiler in compilers(options):
        build(PRESETS[compiler], console, [TARGET])
        if options.update:
            write_baseline(binary(compiler), FILE, options.filter, UPDATE, console, out)
        else:
            update = f"{UPDATE} --compiler {compiler}"
            good &= check(binary(compiler), FILE, options.filter, update, console, out)
    return 0 if good else 1
