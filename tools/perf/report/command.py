"""The command tools/bench report: measures everything and writes it as one HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from common.process import ROOT
from perf.arguments import Parser, UsageError, check_writable, compilers
from perf.report.assemble import assemble
from perf.report.gather import FULL, QUICKLY, gather
from perf.report.model import Missing
from perf.report.page import render

DESCRIPTION = """\
Measures everything that tools/bench can measure and writes one HTML page that needs no
network: what a wait costs in each style, in time and in instructions, the cost of an
actor among few and many, what the time goes for, the same beside other libraries, how
instructions changed over revisions, and what it was measured on. What cannot be had
stands in the page with its reason."""

EPILOG = """\
Takes less than 10 minutes, with --quick less than 2, when everything has been built.

Each report of sources as committed keeps what it counted in build/history, and shows all
that is there, with what bench/baseline.json of earlier revisions says. --history builds
revisions spread over those that changed flow/ or what actorc emits: minutes for each.

Exit code: 0 success, 1 the page is written but something failed, 2 wrong arguments."""


def main(arguments: Sequence[str], console: Console, out: Console) -> int:
    parser = Parser("tools/bench report", DESCRIPTION, EPILOG, has_loop=False)
    page = ROOT / "build" / "report.html"
    parser.add_argument("--out", type=Path, default=page, metavar="FILE", help="the page; default: build/report.html")
    parser.add_argument("--png", type=Path, metavar="DIR", help="write the charts there as pictures, too")
    parser.add_argument("--quick", action="store_true", help="fewer works and sizes, less than 2 minutes")
    parser.add_argument(
        "--history",
        type=int,
        default=0,
        metavar="N",
        help="build N earlier revisions, too, and count their instructions",
    )
    options = parser.parse_args(arguments)
    if options.history < 0:
        raise UsageError("--history must be at least 0")
    if options.out == page:
        page.parent.mkdir(exist_ok=True)
    check_writable(options.out)
    if options.png:
        check_folder(options.png)
    found = gather(compilers(options), QUICKLY if options.quick else FULL, options.history, console)
    report = assemble(found)
    options.out.write_text(render(report), encoding="utf-8")
    if options.png:
        # Matplotlib takes half a second to load.
        from perf.report.pictures import write_pictures

        written = write_pictures(report.charts(), options.png)
        out.print(f"pictures: {len(written)} in {options.png}", markup=False)
    for section in report.sections:
        for part in section.parts:
            if isinstance(part, Missing):
                out.print(f"missing in '{section.title}': {part.why}", markup=False)
    for problem in report.problems:
        out.print(f"error: {problem}", markup=False)
    out.print(f"page: {options.out}", markup=False)
    return 1 if report.problems else 0


def check_folder(folder: Path) -> None:
    """Makes it where there is none."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror}") from error
    check_writable(folder / "styles-clang.png")
