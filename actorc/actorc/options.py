"""The command line as typed values.

A run has settings that hold for all of it (`Options`) and one or more `Job`s, each of which makes one file of another.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from actorc import __version__
from actorc.driver import BACKENDS
from actorc.records import dataclass

TYPE_CHECKING = False  # see records.py
if TYPE_CHECKING:
    from typing import Any, NoReturn

EXIT_USAGE = 100
FORMATS = ("text", "json", "sarif")
COLOUR_CHOICES = ("auto", "always", "never")


@dataclass(frozen=True, slots=True)
class Job:
    input: str
    output: str
    depfile: str | None


@dataclass(frozen=True, slots=True)
class Options:
    jobs: tuple[Job, ...]
    backend: str
    show_warnings: bool
    nodiscard: bool  # calls whose future is thrown away are to be warned of by the C++ compiler
    format: str = FORMATS[0]
    colour: str = COLOUR_CHOICES[0]


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(EXIT_USAGE, f"actorc: {message}\n")


class _Explain(argparse.Action):
    """`--explain [CODE]`: prints and exits, whatever else the command line says."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        from actorc import explain  # late: the table of faults is not needed to read a command line

        code = values if isinstance(values, str) else "all"
        text = explain.listing() if code.lower() == "all" else explain.explanation(code)
        if text is None:
            print(f"actorc: there is no code `{code}`; the codes are\n\n{explain.listing()}", file=sys.stderr, end="")
            parser.exit(EXIT_USAGE)
        print(text, end="")
        parser.exit()


def parse(argv: list[str] | None = None) -> Options:
    """Reads the arguments; exits with EXIT_USAGE if they are wrong."""
    parser = _make_parser()
    arguments = parser.parse_args(argv)
    job = Job(arguments.input, arguments.output, arguments.depfile)
    if os.path.realpath(job.input) == os.path.realpath(job.output):
        parser.error("OUTPUT is the same file as INPUT")
    diagnosed = not arguments.disable_diagnostics
    return Options(
        (job,),
        backend=arguments.backend,
        show_warnings=diagnosed,
        nodiscard=diagnosed,
        format=arguments.format,
        colour=arguments.color,
    )


def _make_parser() -> _Parser:
    parser = _Parser(prog="actorc", description="Compile an actor source to C++20.", allow_abbrev=False)
    parser.add_argument("input", metavar="INPUT", help="the .actor.cpp or .actor.h file")
    parser.add_argument("output", metavar="OUTPUT", help="the C++ file to write")
    parser.add_argument("--backend", choices=BACKENDS, default=BACKENDS[0], help="what actors become (%(default)s)")
    parser.add_argument("--depfile", metavar="FILE", help="write a make rule with everything OUTPUT depends on")
    parser.add_argument("--disable-diagnostics", action="store_true", help="print no warnings, emit no [[nodiscard]]")
    parser.add_argument(
        "--format", choices=FORMATS, default=FORMATS[0], help="text on standard error, json or sarif on standard output"
    )
    parser.add_argument("--color", choices=COLOUR_CHOICES, default=COLOUR_CHOICES[0], help="of text (%(default)s)")
    parser.add_argument(
        "--explain",
        metavar="CODE",
        nargs="?",
        action=_Explain,
        help="print the page about a code such as A0401, or list all",
    )
    parser.add_argument("--version", action="version", version=f"actorc {__version__}")
    return parser
