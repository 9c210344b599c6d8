"""The command line of `actorc check` as typed values."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from actorc.options import COLOUR_CHOICES, FORMATS, Parser, process_count
from actorc.records import dataclass

EXIT_USAGE = 2


@dataclass(frozen=True, slots=True)
class Arguments:
    files: tuple[str, ...]
    flags: tuple[str, ...] | None  # of the C++ compiler; None: those of a compile_commands.json
    format: str
    colour: str
    jobs: int
    differences: bool  # from Flow
    gcc: bool  # report also what a gcc translates wrongly


class _Parser(Parser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(EXIT_USAGE, f"{self.prog}: {message}\n")


def read(argv: Sequence[str]) -> Arguments:
    """Reads the arguments; exits with EXIT_USAGE if they are wrong."""
    words, flags = list(argv), None
    if "--" in words:
        end = words.index("--")
        words, flags = words[:end], tuple(words[end + 1 :])
    found = _make_parser().parse_args(words)
    return Arguments(tuple(found.files), flags, found.format, found.color, found.jobs, found.differences, found.gcc)


def _make_parser() -> Parser:
    parser = _Parser(
        prog="actorc check",
        usage="actorc check [options] FILE [FILE ...] [-- FLAGS OF THE C++ COMPILER]",
        description="Find the traps of coroutines in C++ sources, and what is wrong in actor sources.",
        epilog="Exit status: 0 nothing was found; 1 something was found; 2 wrong arguments, or a file cannot be "
        "checked; 3 a fault of actorc. Without `--` the flags are those of a compile_commands.json.",
        allow_abbrev=False,
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="C++ sources, headers and actor files")
    parser.add_argument(
        "--format", choices=FORMATS, default=FORMATS[0], help="text on standard error, json or sarif on standard output"
    )
    parser.add_argument("--json", dest="format", action="store_const", const="json", help="the same as --format=json")
    parser.add_argument("--color", choices=COLOUR_CHOICES, default=COLOUR_CHOICES[0], help="of text (%(default)s)")
    parser.add_argument(
        "--jobs", type=process_count, metavar="N", default=os.cpu_count() or 1, help="files that are read at a time"
    )
    parser.add_argument("--differences", action="store_true", help="report also names that differ from Flow's")
    parser.add_argument(
        "--gcc",
        action="store_true",
        help="report also what any gcc translates wrongly; the default: what the gcc of a compile_commands.json does",
    )
    return parser
