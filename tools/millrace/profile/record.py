"""Records a program with perf: its instruction and its frames, many times a second.

Cloud machines hide the counters of the processor, so the clock interrupts: the samples show time, not cache misses.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from millrace.common.failure import Failure
from millrace.common.process import stream
from millrace.profile.samples import Place, Profile

EVENT = "cpu-clock"
FREQUENCY = 4999  # samples a second; no multiple of a frequency that a benchmark may have
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")

_FRAME = re.compile(r"\s+([0-9a-f]+) (.*?)(?:\+0x[0-9a-f]+)? \(([^()]*)\)$")
_PART = re.compile(r"\s+LOAD\s+(0x\w+)\s+(0x\w+)\s+0x\w+\s+(0x\w+)")


def why_not() -> str | None:
    """Why perf cannot be used here, and what to do about it; None if it can."""
    if not shutil.which("perf"):
        return "there is no perf: Debian has it as linux-perf"
    probe = ["perf", "record", "-q", "-e", EVENT, "--call-graph", "fp", "-o", "/dev/null", "--", "true"]
    done = subprocess.run(probe, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    text = (done.stdout + done.stderr).lower()
    if "perf_event_paranoid" in text or "permission" in text or "not permitted" in text:
        level = PARANOID.read_text(encoding="ascii").strip() if PARANOID.exists() else "unknown"
        return (
            f"the kernel forbids perf (kernel.perf_event_paranoid is {level}): "
            "sudo sysctl kernel.perf_event_paranoid=1 allows it, unless a container does not"
        )
    said = (done.stderr or done.stdout).strip().splitlines()
    return f"perf does not work here: {said[-1] if said else f'exit code {done.returncode}'}"


def record(
    what: Sequence[str | Path],
    on_line: Callable[[str], None],
    variables: dict[str, str] | None = None,
    cwd: Path | None = None,
) -> tuple[int, Profile]:
    """Records what perf's arguments say, a command or processes, and gives perf's exit code as well. Removes
    perf's files afterwards."""
    with tempfile.TemporaryDirectory(prefix="millrace-profile-") as folder:
        data = Path(folder) / "perf.data"
        options = ["-q", "-e", EVENT, "-F", str(FREQUENCY), "--call-graph", "fp", "-o", str(data)]
        recorded = stream(["perf", "record", *options, *what], on_line, cwd, variables)
        if not data.exists():
            return recorded or 1, Profile()
        lines: list[str] = []
        code = stream(["perf", "script", "-i", data, "--no-inline", "-F", "ip,sym,symoff,dso"], lines.append)
        if code and not recorded:
            raise Failure("\n".join([*lines[-20:], f"perf script: exit code {code}"]))
    return recorded, parse(lines, Parts())


class Parts:
    """Where the parts of object files are: perf counts from the beginning of the file, symbol tables do not."""

    def __init__(self) -> None:
        self._known: dict[str, list[tuple[int, int, int]]] = {}

    def set(self, file: str, program_headers: str) -> None:
        """As `readelf -lW` prints them."""
        found = (_PART.match(line) for line in program_headers.splitlines())
        self._known[file] = [(int(m[1], 16), int(m[2], 16), int(m[3], 16)) for m in found if m]

    def address(self, file: str, offset: int) -> int | None:
        if not file.startswith("/"):
            return None  # the kernel, or its vdso
        if file not in self._known:
            done = subprocess.run(["readelf", "-lW", file], capture_output=True, text=True, check=False)
            self.set(file, done.stdout)
        for start, address, size in self._known[file]:
            if start <= offset < start + size:
                return offset - start + address
        return None


def parse(lines: Iterable[str], parts: Parts) -> Profile:
    """Reads what `perf script -F ip,sym,symoff,dso` prints: a paragraph for each sample, innermost frame first."""
    result = Profile()
    stack: list[Place] = []
    known: dict[tuple[str, bool], Place | None] = {}  # the same lines come thousands of times

    def finish() -> None:
        result.add(tuple(reversed(stack)), 1)
        stack.clear()

    for line in lines:
        if not line.strip():
            finish()
            continue
        key = (line, bool(stack))
        if key not in known:
            known[key] = _place(line, parts, is_caller=bool(stack))
        if place := known[key]:
            stack.append(place)
    finish()
    return result


def _place(line: str, parts: Parts, *, is_caller: bool) -> Place | None:
    match = _FRAME.match(line)
    if not match:
        return None
    offset, name, file = int(match[1], 16), match[2], match[3]
    if name == "[unknown]":
        name = ""
    if not name and file == "[unknown]":
        return None  # garbage on the stack from code without frame pointers
    # A return address is after the call, perhaps on another line: the byte before it belongs to the call.
    return Place(file, parts.address(file, offset - 1 if is_caller else offset), name)
