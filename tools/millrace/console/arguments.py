"""The arguments of millrace console."""

from __future__ import annotations

from pathlib import Path

from millrace.common.arguments import CommandParser

DESCRIPTION = """\
Shows what a running program does: how busy its loop is, what is ready and pending,
which steps run long. The program has called console::listen() (net/console.h), and is
this user's. PROGRAM is the path of its socket, or the number of its process.
Ctrl-C ends it."""

EPILOG = """\
Exit code: 0 success, 1 the program gave no answer, 2 wrong arguments."""


def parser() -> CommandParser:
    result = CommandParser("millrace console", DESCRIPTION, EPILOG)
    result.add_argument("program", metavar="PROGRAM", help="PATH or PID")
    result.add_argument("--once", action="store_true", help="print one page and end")
    result.add_argument("--seconds", type=float, default=1.0, metavar="S", help="between two pages; default: 1")
    result.add_argument("--pending", action="store_true", help="print all that is pending, and end")
    text = "print the step that each loop runs, since when and where, and end; works while a loop is busy"
    result.add_argument("--running", action="store_true", help=text)
    text = "record S seconds for `millrace trace` and ui.perfetto.dev, and end"
    result.add_argument("--trace", type=Path, metavar="FILE", help=text)
    return result
