"""The command tools/bench profile: divides the time of a benchmark among causes, in each style."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from benchlib.arguments import PRESETS, TARGET, Parser, binary, compilers
from common.build import build
from common.tree import revision
from millrace.bench.measure import Row, profile, rows
from millrace.bench.profiles import document, report, write_flames
from millrace.bench.results import LIBRARY, OURS, STYLES
from millrace.bench.suite import Settings, available, compiled
from millrace.common.arguments import UsageError, unknown
from millrace.common.files import check_folder, check_writable, write
from millrace.profile.arguments import SAMPLERS
from millrace.profile.causes import Attribution, read
from millrace.profile.sampler import sampler

DEFAULT = "^NET2/4096/"
DEFAULT_STYLES = (*STYLES[:2], LIBRARY)
SECONDS = 2.0  # of each recording; less where there are many
ALL_SECONDS = 10.0
LEAST_SECONDS = 0.5

DESCRIPTION = """\
Runs benchmarks under a profiler and says what their time goes for: nanoseconds per item
and share of each cause, the functions that take most of it, and how much more or less
the coroutine takes than the ACTOR. Functions that were inlined count for themselves:
the allocator within an actor is "allocate", what a co_await is compiled to "await glue".
The time of an item is measured without the profiler. FILTER is a regular expression that
is looked for in the names of benchmarks; default: NET2 with 4096 actors."""

EPILOG = """\
perf takes samples by the clock (cpu-clock), 4999 a second: it needs no counters of the
processor. Where there is no perf, or the kernel forbids it, the program samples itself,
250 to 1000 times a second. A difference in brackets may be chance: it is smaller than the
sampling error. tools/bench instructions counts exactly.
tools/millrace/profile/causes.toml says which function counts for what.

--flame DIR writes for each benchmark a page <name>.html with a flame graph of each style
and one of their difference, where red is what the coroutine takes more.

Exit code: 0 success, 1 the build, a benchmark or the profiler failed, 2 wrong arguments."""


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = Parser("tools/bench profile", DESCRIPTION, EPILOG)
    parser.add_argument("filter", nargs="?", default=DEFAULT, metavar="FILTER", help="which benchmarks")
    parser.add_argument(
        "--styles", default=",".join(DEFAULT_STYLES), metavar="A,B", help=f"default: {','.join(DEFAULT_STYLES)}"
    )
    parser.add_argument("--with", dest="profiler", choices=SAMPLERS, help="default: perf, where it works")
    parser.add_argument("--seconds", type=float, metavar="S", help="of each recording; default: 2, less if many")
    parser.add_argument("--lines", type=int, default=0, metavar="N", help="show the N costliest source lines as well")
    parser.add_argument("--flame", type=Path, metavar="DIR", help="write flame graphs to DIR")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers to FILE as well")
    options = parser.parse_args(arguments)
    options.loop = options.loop or "sim"
    options.styles = options.styles.split(",")
    return options


def check(options: argparse.Namespace) -> None:
    """Checks the arguments before a build of minutes."""
    compiled(options.filter)
    for style in options.styles:
        if style not in OURS:
            raise UsageError(unknown("style", style, OURS))
    if options.seconds is not None and not 0 < options.seconds <= 600:
        raise UsageError("--seconds must be more than 0, and at most 600")
    if options.lines < 0:
        raise UsageError("--lines must be at least 0")
    if options.json:
        check_writable(options.json)
    if options.flame:
        check_folder(options.flame)


def main(arguments: Sequence[str], console: Console, out: Console) -> int:
    options = parse_arguments(arguments)
    check(options)
    tool = sampler(options.profiler)
    now = revision()
    attribution = Attribution(read())
    work: dict[str, list[list[str]]] = {}
    for compiler in compilers(options):
        build(PRESETS[compiler], console, [TARGET])
        work[compiler] = rows(available(binary(compiler), options.loop), options.filter, options.styles)
    recordings = sum(len(row) for each in work.values() for row in each)
    seconds = options.seconds or min(SECONDS, max(LEAST_SECONDS, ALL_SECONDS / recordings))
    found: list[Row] = []
    failed: list[str] = []
    for compiler, chosen in work.items():
        settings = Settings(compiler, options.loop, 3, min(0.1, seconds / 4), now)
        good, bad = profile(binary(compiler), chosen, settings, tool, seconds, attribution, console)
        found += good
        failed += bad
    try:
        report(found, f"{options.loop} loop, {now}; {tool.how}", options.lines, attribution, out)
    finally:
        if options.json:
            context = {"profiler": tool.name, "loop": options.loop, "revision": now}
            write(options.json, json.dumps(document(found, context), indent=2) + "\n")
    if options.flame:
        write_flames(found, options.flame, now, tool.how, attribution)
    for error in failed:
        out.print(f"error: {error}")
    return 1 if failed else 0
