"""The command tools/bench profile: divides the time of a benchmark among causes, in each style."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from benchlib.arguments import PRESETS, TARGET, Parser, binary, compilers
from benchlib.profile.causes import UNMAPPED, Attribution, read
from benchlib.profile.flames import flames
from benchlib.profile.measure import Row, profile, rows
from benchlib.profile.sampler import NAMES, Sampler, sampler
from benchlib.profile.table import causes_table, lines_table, summary
from benchlib.report.model import Report, Section
from benchlib.report.page import render
from benchlib.results import LIBRARY, OURS, STYLES, TITLES
from benchlib.suite import Settings, available, compiled
from common.arguments import UsageError, revision, unknown
from common.build import build
from common.files import check_folder, check_writable, write

DEFAULT = "^NET2/4096/"
DEFAULT_STYLES = (*STYLES[:2], LIBRARY)
SECONDS = 2.0  # of each recording; less where there are many
ALL_SECONDS = 10.0
LEAST_SECONDS = 0.5
MOST_UNMAPPED = 0.05

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
tools/benchlib/profile/causes.toml says which function counts for what.

--flame DIR writes for each benchmark a page <name>.html with a flame graph of each style
and one of their difference, where red is what the coroutine takes more.

Exit code: 0 success, 1 the build, a benchmark or the profiler failed, 2 wrong arguments."""


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = Parser("tools/bench profile", DESCRIPTION, EPILOG)
    parser.add_argument("filter", nargs="?", default=DEFAULT, metavar="FILTER", help="which benchmarks")
    parser.add_argument(
        "--styles", default=",".join(DEFAULT_STYLES), metavar="A,B", help=f"default: {','.join(DEFAULT_STYLES)}"
    )
    parser.add_argument("--with", dest="profiler", choices=NAMES, help="default: perf, where it works")
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
        good, bad = profile(chosen, settings, tool, seconds, attribution, console)
        found += good
        failed += bad
    try:
        report(found, tool, now, options, attribution, out)
    finally:
        if options.json:
            write(options.json, json.dumps(document(found, tool.name, now, options), indent=2) + "\n")
    if options.flame:
        for row in found:
            name = re.sub(r"[^\w.-]+", "-", row.label) + (f"-{row.compiler}" if len(work) > 1 else "")
            section = Section("flames", "Flame graphs", tool.how, list(flames(row, attribution.order)))
            page = Report(f"{row.label}, {row.compiler}", now, [], [section])
            write(options.flame / f"{name}.html", render(page))
    for error in failed:
        out.print(f"error: {error}")
    return 1 if failed else 0


def report(
    found: Sequence[Row], tool: Sampler, now: str, options: argparse.Namespace, attribution: Attribution, out: Console
) -> None:
    plain = not out.is_terminal
    out.print(f"\n{options.loop} loop, {now}; {tool.how}", soft_wrap=True)
    for row in found:
        title = f"{row.label}, {row.compiler}: ns per item"
        out.print()
        out.print(causes_table(title, row.spent, attribution.order, plain))
        if text := summary(row.spent):
            out.print(text)
        out.print(remark(row))
        if options.lines:
            for style, one in row.spent.items():
                out.print()
                out.print(lines_table(f"{row.label}, {TITLES.get(style, style)}: lines", one, options.lines, plain))


def remark(row: Row) -> str:
    """The basis of the numbers."""
    parts = []
    for style, one in row.spent.items():
        outside = f", and {one.outside:.1%} more outside of the passes" if one.outside >= 0.001 else ""
        lacking = " (causes.toml lacks a rule)" if one.share(UNMAPPED) > MOST_UNMAPPED else ""
        found = f"{one.samples:.0f} samples{outside}, {one.share(UNMAPPED):.1%} unmapped{lacking}"
        parts.append(f"{TITLES.get(style, style)} {found}")
    return "; ".join(parts)


def document(found: Sequence[Row], tool: str, now: str, options: argparse.Namespace) -> dict[str, Any]:
    """The document of --json."""
    profiles = [
        {
            "benchmark": row.label,
            "compiler": row.compiler,
            "style": style,
            "per_item": one.total,
            "samples": one.samples,
            "outside": one.outside,
            "causes": {
                cause: {
                    "per_item": amount,
                    "share": one.share(cause),
                    "functions": {name: part for (of, name), part in one.functions.items() if of == cause},
                }
                for cause, amount in one.causes.items()
            },
        }
        for row in found
        for style, one in row.spent.items()
    ]
    return {"context": {"profiler": tool, "loop": options.loop, "revision": now}, "profiles": profiles}
