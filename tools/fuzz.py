"""Looks for faults with random inputs. Start it as tools/fuzz."""

from __future__ import annotations

import argparse
import os
import sys

from benchlib.process import ROOT, interrupt_on_terminate

sys.path.insert(0, str(ROOT / "actorc"))

from fuzzlib import parser_command, programs_command

DESCRIPTION = """\
--programs makes random actor programs and runs each, with several inputs, by the
model of the language and as both back ends compile it. All must give the same
trace, event for event. A program for which they do not is made as small as it
goes and printed, with the command that runs it again.

--parser damages real actor files and gives them to actorc: no exception, an answer
within a second, a place inside the file for each error, and what is accepted is
emitted by both back ends.

The same seed makes the same programs and texts. The exit code is 1 if there is a fault."""


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tools/fuzz", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--programs", type=int, metavar="N", help="run N random programs")
    mode.add_argument("--program", type=int, metavar="I", help="run the random program I alone")
    mode.add_argument("--parser", action="store_true", help="fuzz the parser and both back ends with damaged texts")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="default: 1")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="J", help="processes")
    parser.add_argument("--first", type=int, default=0, metavar="I", help="of --programs: the first one's number")
    compilers = programs_command.COMPILERS
    parser.add_argument(
        "--compiler", action="append", choices=compilers, help="of --programs; may be repeated; default: all there are"
    )
    parser.add_argument("--executions", type=int, default=100_000, metavar="N", help="of --parser; default: 100,000")
    parser.add_argument("--only", type=int, metavar="N", help="of --parser: print and run only the execution N")
    return parser.parse_args()


def main() -> int:
    interrupt_on_terminate()
    options = parse_arguments()
    if options.parser:
        if options.only is not None:
            return parser_command.only(options.seed, options.only)
        return parser_command.fuzz_parser(options.executions, options.seed, options.jobs)
    indices = range(options.first, options.first + (options.programs or 0))
    if options.program is not None:
        indices = range(options.program, options.program + 1)
    return programs_command.fuzz_programs(options.seed, indices, options.jobs, options.compiler)


if __name__ == "__main__":
    sys.exit(main())
