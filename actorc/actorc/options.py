"""The command line as typed values.

A run has settings that hold for all of it (`Options`) and one or more `Job`s, each of which makes one file of another.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass
from typing import NoReturn

from actorc import __version__
from actorc.driver import BACKENDS

EXIT_USAGE = 100


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


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(EXIT_USAGE, f"actorc: {message}\n")


def parse(argv: list[str] | None = None) -> Options:
    """Reads the arguments; exits with EXIT_USAGE if they are wrong."""
    parser = _make_parser()
    arguments = parser.parse_args(argv)
    job = Job(arguments.input, arguments.output, arguments.depfile)
    if os.path.realpath(job.input) == os.path.realpath(job.output):
        parser.error("OUTPUT is the same file as INPUT")
    diagnosed = not arguments.disable_diagnostics
    return Options((job,), backend=arguments.backend, show_warnings=diagnosed, nodiscard=diagnosed)


def _make_parser() -> _Parser:
    parser = _Parser(prog="actorc", description="Compile an actor source to C++20.", allow_abbrev=False)
    parser.add_argument("input", metavar="INPUT", help="the .actor.cpp or .actor.h file")
    parser.add_argument("output", metavar="OUTPUT", help="the C++ file to write")
    parser.add_argument("--backend", choices=BACKENDS, default=BACKENDS[0], help="what actors become (%(default)s)")
    parser.add_argument("--depfile", metavar="FILE", help="write a make rule with everything OUTPUT depends on")
    parser.add_argument("--disable-diagnostics", action="store_true", help="print no warnings, emit no [[nodiscard]]")
    parser.add_argument("--version", action="version", version=f"actorc {__version__}")
    return parser
