"""Runs seeds with a program of simulations, and yields a record for each, even if the program crashes.

A record is the line that flow/sim/simulation_main.cpp prints for a seed. A seed that crashes or hangs the program, or
makes it print something else, gets a record of the same form, and another process runs the seeds after it. Workers of a
cluster get this module by value (cluster.py), so it needs only the standard library and millrace.common.process.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import select
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, TypeAlias

from millrace.common.process import ending, running, stop

Record: TypeAlias = dict[str, Any]

NO_END = "no end within the time limit"  # the signature of a seed that hangs
_LONGEST_LINE = 1 << 24  # bytes
_NO_RESULT = "a line that is no result; print to standard error"
_KEPT = 8000  # characters of the program's last output
_LOOK = 0.2  # seconds between two checks for a stop
# Patterns of the lines on stderr that describe a failure, the best first.
_TELLING = tuple(
    re.compile(pattern)
    for pattern in (
        r"^SUMMARY: (\w+Sanitizer: .*)",
        r"(assertion failed: .*)",
        r"(runtime error: .*)",
        r"(terminate called .*)",
        r"(.*\S.*)",
    )
)
_FOLDERS = re.compile(r"(?<![\w.])[\w.+-]*/(?:[\w.+-]+/)*")
# Hexadecimal ones as flow/sim/failure.cpp has them.
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|(?<![^\W_])(?=[a-fA-F]*\d)[0-9a-fA-F]{4,}(?![^\W_])|\d+")


class _Fault(Exception):
    """The reason to stop waiting for a process: a signature, and the text."""


class _Stopped(Exception):
    pass


class Batch:
    """`command` is all but the seeds; `seconds` are real ones, for each seed. `emit` gets a record, of which a later
    one of the same seed takes the place."""

    def __init__(
        self,
        command: Sequence[str],
        seconds: float,
        variables: dict[str, str],
        emit: Callable[[Record], None],
        stopped: Callable[[], bool],
    ) -> None:
        self._command = command
        self._seconds = seconds
        self._variables = variables
        self._emit = emit
        self._stopped = stopped

    def run(self, first: int, last: int) -> None:
        """Including `last`. An OSError says that the program cannot be started."""
        try:
            while first <= last:
                first = self._process(first, last)
        except _Stopped:
            pass

    def _process(self, first: int, last: int) -> int:
        """Returns the seed that comes after those that are done with."""
        seed, begun, failed = first, False, False
        with tempfile.TemporaryFile() as errors:
            command = [*self._command, "--seeds", f"{first}..{last}"]
            with running(command, Path.cwd(), self._variables, subprocess.PIPE, errors) as child:
                try:
                    for line in self._lines(child):
                        record = _parsed(line)
                        if record == {"begin": seed} and not begun and seed <= last:
                            begun = True
                        elif begun and _is_result(record, seed):
                            self._emit(record)
                            failed |= record["failure"] is not None
                            seed, begun = seed + 1, False
                        else:
                            text = line.decode(errors="replace")
                            raise _Fault(f"{_NO_RESULT}: {numberless(text)[:100]}", f"{_NO_RESULT}: {text[:_KEPT]}")
                    code = self._end(child)
                except _Fault as fault:
                    seed = min(seed, last)
                    self._emit(failure(seed, *fault.args))
                    return seed + 1
                finally:
                    stop(child)
            why = _why(code, _said(errors))
        if seed <= last:
            self._emit(failure(seed, *why))
            return seed + 1
        if code != int(failed):
            self._blame(first, last, why)
        return last + 1

    def _blame(self, first: int, last: int, why: tuple[str, str]) -> None:
        """Finds the seed of a failure that came after the last seed, such as a leak."""
        guilty: list[Record] = []

        def look(record: Record) -> None:
            if not record["digest"]:  # it crashed again, alone
                guilty.append(record)
            self._emit(record)

        if first < last:
            alone = Batch(self._command, self._seconds, self._variables, look, self._stopped)
            for seed in range(first, last + 1):
                alone._process(seed, seed)
        if not guilty:
            self._emit(failure(last, *why))

    def _lines(self, child: subprocess.Popen[str]) -> Iterator[bytes]:
        """Each must come within the seconds of a seed."""
        assert child.stdout is not None
        number = child.stdout.fileno()
        rest = b""
        deadline = time.monotonic() + self._seconds
        while True:
            self._check(deadline)
            if not select.select([number], [], [], max(0, min(_LOOK, deadline - time.monotonic())))[0]:
                continue
            data = os.read(number, 1 << 16)
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                yield line
                deadline = time.monotonic() + self._seconds
            if not data or len(rest) > _LONGEST_LINE:
                if rest and (data or _parsed(rest) is not None):
                    yield rest  # too long, or the end of it all
                return

    def _end(self, child: subprocess.Popen[str]) -> int:
        deadline = time.monotonic() + self._seconds
        while True:
            self._check(deadline)
            try:
                return child.wait(_LOOK)
            except subprocess.TimeoutExpired:
                continue

    def _check(self, deadline: float) -> None:
        if self._stopped():
            raise _Stopped
        if time.monotonic() > deadline:
            raise _Fault(NO_END, f"no end within {self._seconds:g} s of real time")


def failure(seed: int, signature: str, text: str) -> Record:
    found = {"signature": signature, "text": text}
    return {"seed": seed, "digest": "", "events": 0, "seconds": 0.0, "faults": {}, "probes": [], "failure": found}


def numberless(text: str) -> str:
    """The same for all texts that differ only in numbers."""
    return _NUMBER.sub("#", text)


def file_hash(program: str) -> str:
    with open(program, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _is_result(record: Any, seed: int) -> bool:
    kinds: dict[str, Any] = {"digest": str, "events": int, "seconds": int | float, "faults": dict, "probes": list}
    if not isinstance(record, dict) or record.get("seed") != seed:
        return False
    if not all(isinstance(record.get(name), kind) for name, kind in kinds.items()):
        return False
    if not all(isinstance(count, int) for count in record["faults"].values()):
        return False
    failed = record.get("failure", "")
    return failed is None or (
        isinstance(failed, dict) and all(isinstance(failed.get(name), str) for name in ("signature", "text"))
    )


def _said(errors: IO[bytes]) -> str:
    size = errors.seek(0, os.SEEK_END)
    errors.seek(max(0, size - 16 * _KEPT))
    return errors.read().decode(errors="replace")


def _why(code: int, said: str) -> tuple[str, str]:
    lines = said.splitlines()
    telling = next((found[1] for each in _TELLING for line in lines if (found := each.search(line))), "")
    how = ending(code)
    signature = f"{how}: {numberless(_FOLDERS.sub('', telling))}" if telling else how
    return signature, f"{how}\n{said[-_KEPT:].strip()}".strip()
