"""Pages that sources and programs give: the faults of simulations, command lines, and diagnostics."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable

from common.tree import ROOT
from docslib.markdown import escaped
from millrace.completion.command import places

EXPLANATIONS = "actorc/actorc/report/explanations"  # a page for each diagnostic

# The programs, and how they are started without their scripts, which would install packages.
_PLACES = {"actorc": "actorc", "millrace": "tools/millrace"}
_ACTORC = ("actorc", "actorc check", "actorc lsp", "actorc migrate")
_MILLRACE = tuple(f"millrace {place.after}".strip() for place in places())
_TOOLS = {
    "bench": "bench.py", "certificates": "certificates.py", "cluster": "cluster.py", "cross": "cross",
    "docs": "docs.py", "fuzz": "fuzz.py", "mutants": "mutants.py", "setup": "setup",
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
    path = ROOT / _PLACES[name] if name in _PLACES else ROOT / "tools" / _TOOLS[name.removeprefix("tools/")]
    is_script = path.is_file() and not path.suffix  # of the shell
    command = [*([] if is_script else [sys.executable]), str(path), *words, "--help"]
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=120).stdout


def commands() -> list[str]:
    return [*_ACTORC, *_MILLRACE, *(f"tools/{name}" for name in _TOOLS)]


def commands_page() -> str:
    parts = ["# Command lines", "What each program prints for `--help`."]
    parts += [f"## {program}\n\n```text\n{help_of(program).strip()}\n```" for program in commands()]
    return "\n\n".join(parts) + "\n"


def diagnostics() -> list[tuple[str, str]]:
    """The code of each diagnostic of actorc that is in use, and its title."""
    command = [sys.executable, str(ROOT / "actorc"), "--explain", "all"]
    listing = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    return [(code, title) for code, _, title in (line.split(maxsplit=2) for line in listing.splitlines())]


def diagnostics_page() -> str:
    rows = [f"| [{code}](../{EXPLANATIONS}/{code}.md) | {escaped(title)} |" for code, title in diagnostics()]
    return "\n".join([
        "# Diagnostics", "",
        "What actorc says about a source, by code. `actorc --explain CODE` prints the page of a code.", "",
        "| code | title |", "|---|---|", *rows, "",
    ])  # fmt: skip


MADE: dict[str, Callable[[], str]] = {
    "reference/commands.md": commands_page,
    "reference/diagnostics.md": diagnostics_page,
    "reference/faults.md": faults_page,
}
