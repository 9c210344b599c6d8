"""Shared by the commands of tools/bench: their arguments, and the program that they run."""

from __future__ import annotations

import argparse
from pathlib import Path

from common.build import binary_dir
from millrace.common.arguments import CommandParser

TARGET = "millrace_bench"
PRESETS = {"clang": "bench", "gcc": "gcc-bench"}
COMPILERS = tuple(PRESETS)


class Parser(CommandParser):
    """A parser with the arguments that most commands take."""

    def __init__(
        self, prog: str, description: str, epilog: str = "", *, compiler: str | None = "clang", has_loop: bool = True
    ) -> None:
        """`compiler`: the one without --compiler; None if there is no such option."""
        super().__init__(prog, description, epilog)
        if compiler:
            some = (*COMPILERS, "both")
            self.add_argument("--compiler", default=compiler, choices=some, help=f"default: {compiler}")
        if has_loop:
            self.add_argument("--loop", choices=("sim", "real"), help="the loop to run on; default: sim")


def compilers(options: argparse.Namespace) -> list[str]:
    return list(COMPILERS) if options.compiler == "both" else [options.compiler]


def binary(compiler: str, target: str = TARGET) -> Path:
    return binary_dir(PRESETS[compiler]) / "bench" / target
