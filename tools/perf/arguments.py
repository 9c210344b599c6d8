"""What the commands of tools/bench have in common: their arguments, and which program they run."""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import NoReturn

from common.build import binary_dir
from common.process import ROOT

TARGET = "millrace_bench"
MANY = 16  # names in one message
COMPILERS = ("clang", "gcc")  # also the names of the presets


class UsageError(Exception):
    """A mistake in the arguments, said in one line."""


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """Says that there is no `name`, and which of those that there are comes near, whatever the case of its letters."""
    folded = {word.lower(): word for word in reversed(list(known))}
    near = [folded[word] for word in get_close_matches(name.lower(), folded, n=3, cutoff=0.5)]
    if near:
        return f"there is no {kind} '{name}'; did you mean {' or '.join(near)}?"
    words = list(reversed(folded.values()))
    if not words:
        return f"there is no {kind} '{name}'"
    some = ", ".join(words[:MANY])
    return f"there is no {kind} '{name}'; try {some}" + (", ..." if len(words) > MANY else "")


class Parser(argparse.ArgumentParser):
    """Has the arguments that most commands take."""

    def __init__(
        self, prog: str, description: str, epilog: str = "", *, compiler: str | None = "clang", has_loop: bool = True
    ) -> None:
        """`compiler`: the one without --compiler; None if there is no such option."""
        form = argparse.RawDescriptionHelpFormatter
        super().__init__(prog=prog, description=description, epilog=epilog, formatter_class=form)
        if compiler:
            some = (*COMPILERS, "both")
            self.add_argument("--compiler", default=compiler, choices=some, help=f"default: {compiler}")
        if has_loop:
            self.add_argument("--loop", choices=("sim", "real"), help="the loop to run on; default: sim")

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")


def compilers(options: argparse.Namespace) -> list[str]:
    return list(COMPILERS) if options.compiler == "both" else [options.compiler]


def binary(compiler: str, target: str = TARGET) -> Path:
    return binary_dir(compiler) / "bench" / target


def revision() -> str:
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return run.stdout.strip() or "unknown"
