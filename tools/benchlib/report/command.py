"""The command tools/bench report: measures everything and writes it as one HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from benchlib.arguments import Parser, compilers
from benchlib.report.assemble import assemble
from benchlib.report.gather import FULL, QUICKLY, gather
from benchlib.report.model import Missing
from benchlib.report.page import render
from common.arguments import UsageError
from common.failure import Failure
from common.files import check_folder, check_result_file, default_file, write

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
    page = default_file("report.html")
    parser.add_argument("--out", type=Path, default=page, metavar="FILE", help="the page; default: build/report.html")
    parser.add_argument("--png", type=Path, metavar="DIR", help="write charts, drawings and tables there, too")
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
    check_result_file(options.out)
    if options.png:
        check_folder(options.png)
    found = gather(compilers(options), QUICKLY if options.quick else FULL, options.history, console)
    report = assemble(found)
    write(options.out, render(report))
    if options.png:
        # Matplotlib takes half a second to load.
        from benchlib.report.pictures import write_pictures
        from benchlib.report.shots import browser, write_shots

        written = write_pictures(report.charts(), options.png)
        if program := browser():
            try:
                written += write_shots(report, options.png, program)
            except Failure as error:
                report.problems.append(str(error))
        else:
            out.print("no pictures of drawings and tables: there is no Chromium (tools/setup tests installs it)")
        out.print(f"pictures: {len(written)} in {options.png}")
    for section in report.sections:
        for part in section.parts:
            if isinstance(part, Missing):
                out.print(f"missing in '{section.title}': {part.why}")
    for problem in report.problems:
        out.print(f"error: {problem}")
    out.print(f"page: {options.out}")
    return 1 if report.problems else 0
