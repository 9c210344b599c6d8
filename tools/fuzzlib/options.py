"""The command line of tools/fuzz."""

from __future__ import annotations

import argparse

from actorc_migrate.settings import TARGETS
from fuzzlib import programs_command

DESCRIPTION = """\
--programs makes random actor programs and runs each, with several inputs, by the
model of the language and as both back ends compile it, or, with --migrate, as
`actorc migrate` writes it in exact style. All must give the same trace, event for
event. A program for which they do not is made as small as it goes and printed,
with the command that runs it again.

--parser damages real actor files and gives them to actorc: no exception, an answer
within a second, a place inside the file for each error, and what is accepted is
emitted by both back ends.

The same seed makes the same programs and texts. The exit code is 1 if there is a fault."""


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise ValueError
    return count


def _number(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError
    return number


_count.__name__ = "count"  # as argparse names it in a message
_number.__name__ = "number"


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tools/fuzz", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--programs", type=_count, metavar="N", help="run N random programs")
    mode.add_argument("--program", type=_number, metavar="I", help="run the random program I alone")
    mode.add_argument("--parser", action="store_true", help="fuzz the parser and both back ends with damaged texts")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="default: 1")
    parser.add_argument("--jobs", type=_count, metavar="J", help="processes; default: as many as cores")
    parser.add_argument("--first", type=_number, metavar="I", help="of --programs: the first one's number")
    compilers = programs_command.COMPILERS
    parser.add_argument(
        "--compiler", action="append", choices=compilers, help="of --programs; may be repeated; default: all there are"
    )
    parser.add_argument(
        "--migrate",
        action="append",
        choices=TARGETS,
        help="of --programs: instead of by the back ends, run what migrating for this library makes; may be repeated",
    )
    parser.add_argument("--executions", type=_count, metavar="N", help="of --parser; default: 100,000")
    parser.add_argument("--only", type=_number, metavar="N", help="of --parser: print and run only the execution N")
    options = parser.parse_args(argv)
    _refuse_idle(parser, options)
    return options


def _refuse_idle(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Rejects an option that would have no effect."""
    mode = "--parser" if options.parser else "--programs" if options.programs is not None else "--program"
    one = options.only is not None
    used = {
        "--parser": {"only"} if one else {"executions", "jobs"},
        "--programs": {"first", "jobs", "compiler", "migrate"},
        "--program": {"compiler", "migrate"},
    }[mode]
    for name in ("first", "compiler", "migrate", "executions", "only", "jobs"):
        if getattr(options, name) is not None and name not in used:
            parser.error(f"--{name} does nothing with {'--only' if one and options.parser else mode}")
