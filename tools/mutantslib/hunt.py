"""Tests a mutant with tools/test: first what is nearest to its file, and no further than the first step that fails.

What tools/test printed last with a mutant is in build/mutants/MUTANT.log."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from pathlib import Path

from common.tree import ROOT
from millrace.common.failure import Failure
from millrace.common.process import running, stop
from mutantslib.mutant import VARIABLE
from mutantslib.results import Outcome

_STEP = re.compile(r"^\[\d+/\d+\] (?P<name>.*): \d+ passed, (?P<failed>\d+) failed, ")
# What says which test has failed, the most telling first.
_FAILED = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^TEST CASE: +(?P<test>.*)",
        r"^(?:FAILED|ERROR) (?P<test>\S+)",
        r"^\s*\d+ - (?P<test>\S+) \((?:Failed|Timeout|SEGFAULT|Subprocess|\w*Exception|Child)",
        r"^FAILED: (?P<test>\S+)",
    )
)
_LEAST = 120  # seconds: a mutant may compile again what the run without it did not
_TIMES = 5  # as much time as without a mutant

Stage = tuple[str, ...]  # arguments of tools/test


def stages(file: str) -> list[Stage]:
    """Which tests are run, one after the other, until one fails."""
    every = tuple(sorted(each.name for each in (ROOT / "tests").iterdir() if each.is_dir() and each.name[0] != "_"))
    near = nearest(file)
    if file.startswith("actorc/"):
        return list(dict.fromkeys([("--fast", near), ("--fast", "actorc"), every]))
    if near.startswith("net/examples"):
        return [("net",), every]
    return list(dict.fromkeys([("--fast", near), ("--fast", "flow", "net"), every]))


def nearest(file: str) -> str:
    """The folder of tests/ that mirrors the folder of a source."""
    if file.startswith("actorc/"):
        package = Path(file).parts[1].removeprefix("actorc_")
        return f"actorc/{package}" if (ROOT / "tests" / "actorc" / package).is_dir() else "actorc"
    folder = Path(file).parent
    while not (ROOT / "tests" / folder).is_dir():
        folder = folder.parent
    return str(folder)


class Hunt:
    """In a copy of the project; `without` has how long the stages take without a mutant."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._without: dict[Stage, float] = {}

    def run(self, name: str, file: str) -> tuple[Outcome, str]:
        for stage in stages(file):
            limit = _LEAST + _TIMES * self._seconds_without(stage)
            outcome, by = self._run(stage, name, limit)
            if outcome != "survived":
                return outcome, by
        return "survived", ""

    def _seconds_without(self, stage: Stage) -> float:
        if stage not in self._without:
            began = time.monotonic()
            outcome, by = self._run(stage, "", None)
            if outcome != "survived":
                log = self._folder.parent / "none.log"
                raise Failure(f"without a mutant tools/test {' '.join(stage)} fails in the copy: {by} (see {log})")
            self._without[stage] = time.monotonic() - began
        return self._without[stage]

    def _run(self, stage: Stage, mutant: str, limit: float | None) -> tuple[Outcome, str]:
        variables = {
            VARIABLE: mutant,
            "PYTHONPATH": str(self._folder / "actorc"),  # before the project's own, which is installed
            "PYTEST_ADDOPTS": "-x",
        }
        output: list[str] = []
        failed = ""
        is_late = threading.Event()
        with running([sys.executable, "tools/test.py", *stage], self._folder, variables, subprocess.PIPE) as child:
            assert child.stdout is not None

            def end() -> None:
                is_late.set()
                stop(child)

            timer = threading.Timer(limit, end) if limit is not None else None
            if timer:
                timer.start()
            for line in child.stdout:
                output.append(line)
                step = _STEP.match(line)
                if step and int(step["failed"]):
                    failed = step["name"]
                    stop(child)
                    break
            code = child.wait()
            if timer:
                timer.cancel()
        text = "".join(output)
        (self._folder.parent / f"{mutant or 'none'}.log").write_text(text)
        if is_late.is_set():
            return "hung", f"no end after {limit:.0f} s: {' '.join(stage)}"
        if failed:
            test = _test(text)
            return "killed", f"{test} ({failed})" if test else failed
        if code:
            raise Failure(f"tools/test {' '.join(stage)} has ended with {code}:\n{text[-2000:]}")
        return "survived", ""


def _test(output: str) -> str:
    for pattern in _FAILED:
        if found := pattern.search(output):
            return found["test"].strip()
    return ""
