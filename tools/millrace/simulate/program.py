"""Asks the program of simulations, and lists its simulations."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from millrace.common.arguments import UsageError, unknown
from millrace.common.failure import Failure
from millrace.common.process import ending
from millrace.simulate.batch import file_hash

_SECONDS = 30  # for --list


@dataclass(frozen=True, slots=True)
class Program:
    path: Path
    hash: str
    tests: list[str]
    faults: list[str]
    probes: list[str]

    def require(self, test: str) -> None:
        if test not in self.tests:
            raise UsageError(unknown("simulation", test, self.tests))

    def command(self, test: str, options: Sequence[str] = ()) -> list[str]:
        return [str(self.path), "--run", test, *options]

    def again(self, test: str, seed: int, options: Sequence[str] = ()) -> str:
        """The command that runs a seed again."""
        path = os.path.relpath(self.path) if self.path.is_relative_to(Path.cwd()) else str(self.path)
        path = path if "/" in path else f"./{path}"
        return shlex.join([path, "--run", test, "--seeds", str(seed), *options])


def program(path: Path) -> Program:
    path = path.absolute()
    try:
        done = subprocess.run(
            [str(path), "--list"], capture_output=True, text=True, errors="replace", timeout=_SECONDS, check=False
        )
        found = Program(path, file_hash(str(path)), [], [], [])
    except subprocess.TimeoutExpired:
        raise Failure(f"{path} --list: no end within {_SECONDS} s") from None
    except OSError as error:
        raise UsageError(f"cannot run {path}: {error.strerror}") from error
    if done.returncode:
        raise Failure(f"{path} --list: {ending(done.returncode)}\n{done.stderr[-4000:]}".rstrip())
    lists = {"name": found.tests, "fault": found.faults, "probe": found.probes}
    try:
        for line in done.stdout.splitlines():
            entry = json.loads(line)
            for kind, names in lists.items():
                if kind in entry:
                    names.append(str(entry[kind]))
    except (ValueError, TypeError):
        raise Failure(f"{path} --list: this is no line of a program of simulations: {line[:200]}") from None
    if not found.tests:
        raise UsageError(f"{path} is no program of simulations of Millrace: its --list names none")
    return found
