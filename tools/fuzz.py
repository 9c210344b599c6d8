"""Looks for faults with random inputs. Start it as tools/fuzz."""

from __future__ import annotations

import argparse
import sys

from benchlib.process import ROOT, interrupt_on_terminate

sys.path.insert(0, str(ROOT / "actorc"))

from fuzzlib import parser_command

DESCRIPTION = """\
--parser damages real actor files and gives them to actorc: no exception, an answer
within a second, a place inside the file for each error, and what is accepted is
emitted by both back ends. The same seed makes the same texts."""


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tools/fuzz", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--parser", action="store_true", help="fuzz the parser and both back ends with damaged texts")
    parser.add_argument("--executions", type=int, default=100_000, metavar="N", help="of --parser; default: 100,000")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="default: 1")
    parser.add_argument("--only", type=int, metavar="N", help="of --parser: print and run only the execution N")
    parser.add_argument("--jobs", type=int, default=parser_command.default_jobs(), metavar="J", help="processes")
    return parser.parse_args()


def main() -> int:
    interrupt_on_terminate()
    options = parse_arguments()
    if options.only is not None:
        return parser_command.only(options.seed, options.only)
    return parser_command.fuzz_parser(options.executions, options.seed, options.jobs)


if __name__ == "__main__":
    sys.exit(main())
