"""The processor that has least to do."""

from __future__ import annotations

import os
import time
from pathlib import Path

_SECONDS = 0.2


def least_busy() -> int:
    """Of those that we may use, by what they do in the next fifth of a second."""
    file = Path("/proc/stat")
    before = idle(file.read_text(encoding="ascii"))
    time.sleep(_SECONDS)
    after = idle(file.read_text(encoding="ascii"))
    return max(sorted(os.sched_getaffinity(0)), key=lambda cpu: after.get(cpu, 0) - before.get(cpu, 0))


def idle(stat: str) -> dict[int, int]:
    """How long each processor had nothing to do, by /proc/stat."""
    lines = [line.split() for line in stat.splitlines()]
    # cpu3 user nice system idle iowait ...; the line "cpu" is all of them together.
    return {int(line[0][3:]): int(line[4]) + int(line[5]) for line in lines if line[0][:3] == "cpu" and line[0][3:]}
