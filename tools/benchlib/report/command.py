"""The command tools/bench report: measures everything and writes it as one HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from benchlib.arguments import Parser, compilers
from benchlib.report.assemble import assemble
from benchlib.report.gather import FULL, QUICKLY, gather
from benchlib.report.shots import browser, write_shots
from common.tree import check_result_file, default_file
from millrace.common.failure import Failure
from millrace.common.files import check_folder, write
from millrace.pages.model import Missing
from millrace.pages.page import render

DESCRIPTION = """\
Measures everything that tools/bench can measure and writes one HTML page that needs no
network: what a wait costs in each style, in time and in instructions, the cost of an
actor among few and many, what the time goes for, the same beside other libraries, how
instructions changed over revisions, and what it was measured on. What cannot be had
stands in the page with its reason."""

EPILOG = """\
Takes less than 10 minutes, with --quick less than 2, when everything has been built.

The history is that of bench/baseline.json in git.

Exit code: 0 success, 1 the page is written but something failed, 2 wrong arguments."""


def main(arguments: Sequence[str], console: Console, out: Console) -> int:
    parser = Parser("tools/bench report", DESCRIPTION, EPILOG, has_loop=False)
    page = default_file("report.html")
    parser.add_argument("--out", type=Path, default=page, metavar="FILE", help="the page; default: build/report.html")
    parser.add_argument("--png", type=Path, metavar="DIR", help="write a picture of each chart and table there, too")
    parser.add_argument("--quick", action="store_true", help="fewer works and sizes, less than 2 minutes")
    options = parser.parse_args(arguments)
    check_result_file(options.out)
    if options.png:
        check_folder(options.png)
    program = browser() if options.png else None
    found = gather(compilers(options), QUICKLY if options.quick else FULL, console)
    report = assemble(found)
    write(options.out, render(report))
    if program:
        try:
            written = write_shots(report, options.png, program)
            out.print(f"pictures: {len(written)} in {options.png}")
        except Failure as error:
            report.problems.append(str(error))
    for section in report.sections:
        for part in section.parts:
            if isinstance(part, Missing):
                out.print(f"missing in '{section.title}': {part.why}")
    for problem in report.problems:
        out.print(f"error: {problem}")
    out.print(f"page: {options.out}")
    return 1 if report.problems else 0
