"""Runs one process under valgrind's callgrind, and reads the instructions of its passes.

At each call of Run::isWarmUp() and Run::stop() of bench/run.h, callgrind writes a file and sets its counters to 0. The
file of a stop() has the passes that count. So one process can run several benchmarks, and no number includes the start
or the set-up.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchlib.suite import RunError, escape
from common.failure import Failure

START, STOP = "bench::Run::isWarmUp()", "bench::Run::stop()"

# glibc chooses memcpy, strlen, ... by the processor. With this setting it takes those that run on any x86-64, so that
# two machines count alike.
_FEATURES = (
    "AVX512F AVX2 AVX AVX_Fast_Unaligned_Load ERMS FSRM SSE4_2 SSE4_1 SSSE3 Fast_Unaligned_Load Fast_Unaligned_Copy"
)
PLAIN_PROCESSOR = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=" + ",".join(f"-{name}" for name in _FEATURES.split())}

_PART = re.compile(r"\.(\d+)$")
_ITERATIONS = re.compile(r"/iterations:\d+")


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
            f"--dump-before={START}",
            f"--dump-before={STOP}",
            str(program),
            *options(self.names, self.passes, loop),
            f"--benchmark_out={self.folder / 'out.json'}",
            "--benchmark_out_format=json",
            "--v=2",  # if the program crashes, its log shows the benchmark
        ]

    def read(self) -> tuple[dict[str, int], dict[str, Any]]:
        """The instructions of all passes of each benchmark, and Google Benchmark's JSON."""
        document: dict[str, Any] = json.loads((self.folder / "out.json").read_text(encoding="utf-8"))
        ran = [plain_name(result) for result in document["benchmarks"]]
        if sorted(ran) != sorted(self.names):
            raise RunError(f"asked for {', '.join(self.names)}, what ran is {', '.join(ran) or 'nothing'}")
        counts = [count for trigger, count in map(read_part, self._parts()) if trigger.endswith(STOP)]
        if len(counts) != len(ran):
            raise RunError(
                f"callgrind saw {STOP} called {len(counts)} times for {len(ran)} benchmarks; it must be a function of "
                "the program that is not inlined, and be called at the end of the passes"
            )
        return dict(zip(ran, counts, strict=True)), document

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


def options(names: Sequence[str], passes: int, loop: str) -> list[str]:
    """Those of a benchmark program."""
    # Google Benchmark adds the number of iterations to the names if it was given one.
    pattern = f"^({'|'.join(map(escape, names))})(/iterations:{passes})?$"
    return [f"--loop={loop}", f"--passes={passes}", f"--benchmark_filter={pattern}"]


def plain_name(result: dict[str, Any]) -> str:
    return _ITERATIONS.sub("", str(result["name"]))


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
