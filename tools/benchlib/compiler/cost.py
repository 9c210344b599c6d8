"""Measures the cost of actorc: CPU time, size of its output, and the time of a C++ compiler for that output.

Every time is the CPU time, user and system, of a whole process, and the least of several runs, so other processes have
little effect. The back ends alternate.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchlib.compiler.actor_files import actor_file
from common.tree import ROOT
from millrace.common.failure import Failure

BACKENDS = ("state-machine", "coroutine")
CLANG = ("clang++-19", "-std=c++20", "-DMILLRACE_BACKEND_NAMESPACE=actors", "-I", str(ROOT))
_TINY = "ACTOR Future<Void> a(Future<Void> f) { wait(f); return Void(); }\n"


class MeasureError(Failure):
    """A command failed; the text says which and what it printed."""


def cpu_seconds(command: Sequence[str | Path], runs: int) -> float:
    """The least CPU time of a command and its children."""
    times = []
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            raise MeasureError(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr[-2000:]}")
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def actorc(backend: str, *arguments: str | Path) -> list[str | Path]:
    """The command of add_actor_sources: actorc needs no site-packages."""
    return [sys.executable, "-S", ROOT / "actorc", "--disable-diagnostics", "--backend", backend, *arguments]


@dataclass(frozen=True, slots=True)
class Row:
    """One file with one back end. Times in seconds; None where it was not measured."""

    backend: str
    lines: int
    seconds: float
    start: float  # the part of `seconds` that a file of one line takes
    ratio: float  # bytes of output for a byte of input
    syntax: float | None = None  # clang -O0 -fsyntax-only
    optimised: float | None = None  # clang -O2 -c

    @property
    def lines_per_second(self) -> float:
        return self.lines / max(self.seconds - self.start, 1e-9)


@dataclass(frozen=True, slots=True)
class Many:
    """Many files with one back end: CPU seconds for all of them."""

    backend: str
    files: int
    lines: int
    apart: float  # a process for each
    batch: float  # actorc --batch


def measure_file(folder: Path, lines: int, runs: int, *, compile_output: bool) -> list[Row]:
    source = folder / f"{lines}.actor.cpp"
    source.write_text(actor_file(lines), encoding="utf-8")
    tiny = folder / "tiny.actor.cpp"
    tiny.write_text(_TINY, encoding="utf-8")
    rows = []
    for backend in BACKENDS:
        output = folder / f"{lines}.{backend}.g.cpp"
        start = cpu_seconds(actorc(backend, tiny, folder / "tiny.g.cpp"), runs)
        seconds = cpu_seconds(actorc(backend, source, output), runs)
        text = source.read_bytes()
        ratio = output.stat().st_size / len(text)
        syntax = optimised = None
        if compile_output:
            syntax = cpu_seconds([*CLANG, "-O0", "-fsyntax-only", output], 1)
            optimised = cpu_seconds([*CLANG, "-O2", "-c", output, "-o", folder / "out.o"], 1)
        rows.append(Row(backend, text.count(b"\n"), seconds, start, ratio, syntax, optimised))
    return rows


def measure_many(folder: Path, files: int, lines: int) -> list[Many]:
    """`files` files of `lines` lines each."""
    pairs: list[list[str | Path]] = []
    text = actor_file(lines)
    for number in range(files):
        source = folder / f"many{number}.actor.cpp"
        source.write_text(text, encoding="utf-8")
        pairs.append([source, folder / f"many{number}.g.cpp"])
    found = []
    for backend in BACKENDS:
        apart = sum(cpu_seconds(actorc(backend, *pair), 1) for pair in pairs)
        batch = cpu_seconds(actorc(backend, "--batch", *(path for pair in pairs for path in pair)), 1)
        found.append(Many(backend, files, files * text.count("\n"), apart, batch))
    return found


def document(rows: Sequence[Row], many: Sequence[Many], context: dict[str, Any]) -> dict[str, Any]:
    """What --json writes."""
    return {
        "context": context,
        "files": [{**asdict(row), "lines_per_second": row.lines_per_second} for row in rows],
        "many": [asdict(each) for each in many],
    }
