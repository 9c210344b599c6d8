"""Pages that the sources and the programs themselves give: the faults of simulations, and command lines."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable

from common.process import ROOT

# The programs, and how they are started without their scripts, which would install packages.
_ACTORC = ("actorc", "actorc check", "actorc lsp", "actorc migrate")
_TOOLS = {
    "bench": "bench.py", "certificates": "certificates.py", "cluster": "cluster.py", "console": "console.py",
    "docs": "docs.py", "ensemble": "ensemble.py", "fuzz": "fuzz.py", "port": "port.py", "profile": "profiler.py",
    "test": "test.py", "tidy.py": "tidy.py",
}  # fmt: skip
_FAULT = re.compile(r'^ +X\((\w+), "((?:per )?[^:"]+): ([^"]+)",\s*\\?\s*([0-9.]+)\)', re.MULTILINE)


def faults() -> list[tuple[str, str, str, str]]:
    """Name, unit, meaning, and the most that a swarm gives it."""
    return _FAULT.findall((ROOT / "flow" / "sim" / "faults.h").read_text(encoding="utf-8"))


def faults_page() -> str:
    rows = [f"| `{name}` | {unit} | {meaning} | {most} |" for name, unit, meaning, most in faults()]
    return "\n".join([
        "# Faults of simulations", "",
        "Each is a member of `flow::Faults`, a probability for its unit, and 0 by default:"
        " `faults.connectionReset = 0.001`. `Faults::swarm(seed)` leaves half of them out and draws the others,"
        " up to the last column. A simulation has them as `world.faults()`, and changes them by `world.setFaults()`;"
        " `--only NAME:NUMBER` repeats single ones ([Simulation](../flow/docs/simulation.md)).", "",
        "| member | probability | what happens | the most in a swarm |", "|---|---|---|---|", *rows, "",
    ])  # fmt: skip


def help_of(program: str) -> str:
    """What `--help` prints, in 80 columns."""
    name, *words = program.split()
    start = [str(ROOT / "actorc")] if name == "actorc" else [str(ROOT / "tools" / _TOOLS[name.removeprefix("tools/")])]
    command = [sys.executable, *start, *words, "--help"]
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=120).stdout


def commands() -> list[str]:
    return [*_ACTORC, *(f"tools/{name}" for name in _TOOLS)]


def commands_page() -> str:
    parts = ["# Command lines", "What each program prints for `--help`."]
    parts += [f"## {program}\n\n```text\n{help_of(program).strip()}\n```" for program in commands()]
    return "\n\n".join(parts) + "\n"


MADE: dict[str, Callable[[], str]] = {"reference/commands.md": commands_page, "reference/faults.md": faults_page}
