"""Runs one process under valgrind's callgrind, and reads the instructions of its passes.

The runner of a program (flow/testing/detail/benchmark_clock.h) calls BenchmarkClock::open() and close() where the clock
starts and stops. At the end of open() and at the beginning of close(), callgrind writes a file and sets its counters to
0. The files of close() have what counts. So one process can run several benchmarks, and no number includes the start or
the set-up.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from millrace.bench.suite import RunError, exactly, read_results
from millrace.common.failure import Failure

START, STOP = (f"flow::testing::BenchmarkClock::{name}()" for name in ("open", "close"))

# glibc chooses memcpy, strlen, ... by the processor. With this setting it takes those that run on any x86-64, so that
# two machines count alike.
_FEATURES = (
    "AVX512F AVX2 AVX AVX_Fast_Unaligned_Load ERMS FSRM SSE4_2 SSE4_1 SSSE3 Fast_Unaligned_Load Fast_Unaligned_Copy"
)
PLAIN_PROCESSOR = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=" + ",".join(f"-{name}" for name in _FEATURES.split())}

_PART = re.compile(r"\.(\d+)$")


@dataclass(frozen=True, slots=True)
class Process:
    """Exactly so many passes of each of these benchmarks."""

    names: Sequence[str]
    passes: int
    folder: Path  # a folder of its own for its output

    def command(self, program: Path, loop: str) -> list[str]:
        return [
            valgrind(),
            "--tool=callgrind",
            f"--callgrind-out-file={self.folder / 'calls'}",
            "--dump-line=no",
            f"--dump-after={START}",
            f"--dump-before={STOP}",
            str(program),
            *exactly(self.names, loop, self.passes),
            f"--json={self.folder / 'out.json'}",
            "--verbose",  # if the program crashes, its log shows the benchmark
        ]

    def is_done(self) -> bool:
        return (self.folder / "out.json").exists()

    def read(self) -> tuple[dict[str, int], dict[str, Any]]:
        """The instructions of all passes of each benchmark, and the program's JSON."""
        document = read_results(self.folder / "out.json", [], 0)
        ran = document["benchmarks"]
        if sorted(result["name"] for result in ran) != sorted(self.names):
            found = ", ".join(result["name"] for result in ran) or "nothing"
            raise RunError(f"asked for {', '.join(self.names)}, what ran is {found}")
        counts = [count for trigger, count in map(read_part, self._parts()) if trigger.endswith(STOP)]
        wanted = sum(result.get("intervals", 0) for result in ran)
        if len(counts) != wanted:
            raise RunError(f"callgrind saw {STOP} called {len(counts)} times, and not {wanted}")
        instructions: dict[str, int] = {}
        for result in ran:
            intervals = result.get("intervals", 0)
            instructions[result["name"]] = sum(counts[:intervals])
            del counts[:intervals]
        return instructions, document

    def _parts(self) -> list[Path]:
        """In the order in which they were written; what follows the last call is in a file without a number."""
        numbered = [(int(found[1]), file) for file in self.folder.glob("calls.*") if (found := _PART.search(file.name))]
        return [file for _, file in sorted(numbered)]


def valgrind() -> str:
    found = shutil.which("valgrind")
    if found is None:
        raise Failure("valgrind is not installed: run tools/setup count, or apt-get install valgrind")
    return found


def valgrind_version() -> str:
    run = subprocess.run([valgrind(), "--version"], capture_output=True, text=True, check=False)
    return run.stdout.strip().removeprefix("valgrind-")


def read_part(file: Path) -> tuple[str, int]:
    """The reason why callgrind wrote this file, and the instructions since the file before."""
    trigger = ""
    with file.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.startswith("desc: Trigger: "):
                trigger = line.rstrip()
            elif line.startswith("summary: "):
                return trigger, int(line.split()[1])
    raise RunError(f"callgrind has written no summary into {file.name}")
