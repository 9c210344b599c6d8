"""The arguments of millrace trace."""

from __future__ import annotations

from pathlib import Path

from millrace.common.arguments import CommandParser

DESCRIPTION = """\
Writes one HTML page of a trace, which a browser opens without a network: the steps of
each loop, or of each actor, with what made them ready. The trace is a file of a
trace::Recorder (flow/trace/recorder.h), or of `millrace console --trace`. The same file
opens in ui.perfetto.dev."""


def parser() -> CommandParser:
    result = CommandParser("millrace trace", DESCRIPTION)
    result.add_argument("file", type=Path, metavar="FILE", help="the trace")
    result.add_argument("--html", type=Path, metavar="PAGE", help="the page; default: FILE with the ending .html")
    return result
