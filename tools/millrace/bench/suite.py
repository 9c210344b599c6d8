"""Chooses benchmarks of a program, and runs them with a progress bar."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from millrace.bench.results import LIBRARY, MIGRATED, OURS, STYLES, parse_name
from millrace.common.arguments import UsageError, unknown
from millrace.common.failure import Failure
from millrace.common.process import ending, stream
from millrace.common.progress import Bar

# With --verbose a program says this before it runs a benchmark once.
_RUNNING = re.compile(r"running (.+), (\d+) iterations$")


class RunError(Failure):
    """The benchmark program failed; the text is the end of its output."""


class Died(RunError):
    """The program ended in the middle of a benchmark."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name}: {why}")
        self.name = name
        self.why = why

    @property
    def result(self) -> dict[str, Any]:
        """The entry of a file of results for a benchmark that fails."""
        return {
            "name": self.name,
            "run_name": self.name,
            "run_type": "iteration",
            "error_occurred": True,
            "error_message": self.why,
        }


def death(code: int, lines: Sequence[str], names: Sequence[str]) -> RunError:
    """The benchmark during which a program with --verbose ended, by its log; None if it had not begun one."""
    starts = [(place, match[1]) for place, line in enumerate(lines) if (match := _RUNNING.search(line))]
    start, running = starts[-1] if starts else (0, "")
    said = [line for line in lines[start:] if line.strip() and not _RUNNING.search(line)]
    if running in names:
        return Died(running, f"{ending(code)}: {said[-1]}" if said else ending(code))
    return RunError("\n".join([*said[-20:], f"the benchmarks: {ending(code)}"]))


@dataclass(frozen=True, slots=True)
class Settings:
    compiler: str
    loop: str
    repetitions: int
    min_time: float
    revision: str


def available(binary: Path, loop: str, more: Sequence[str] = (), *, has_threads: bool = True) -> list[str]:
    """The names of all benchmarks, in the order in which the program registers them; `more` options decide which.
    `has_threads`: also those that measure what several threads do."""
    command = [str(binary), f"--loop={loop}", *more, "--list"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        raise RunError(run.stdout + run.stderr)
    named = [line.partition("\t") for line in run.stdout.splitlines()]
    if not named:
        raise UsageError(f"{binary} is no program of benchmarks of Millrace: its --list names none")
    return [name for name, _, remark in named if has_threads or not remark]


def compiled(pattern: str) -> re.Pattern[str]:
    """The FILTER of a command, checked before a build of minutes: a UsageError if it is no regular expression."""
    try:
        return re.compile(pattern)
    except (re.error, OverflowError) as error:
        raise UsageError(f"'{pattern}' is no regular expression: {error}") from error
    except RecursionError as error:
        raise UsageError("the regular expression has too many brackets within brackets") from error


def choose(names: Sequence[str], pattern: str, peers: bool = False, more: Sequence[str] = ()) -> list[str]:
    """The benchmarks that match the pattern: in our styles and `more`, or with those of peers. A UsageError if there is
    none."""
    own = [name for name in names if parse_name(name).style in ("", *OURS, *more)]
    if peers:
        compared = {parse_name(name).benchmark for name in set(names).difference(own)}
        left_out = (*STYLES[2:], MIGRATED)
        own = [name for name in names if parse_name(name).benchmark in compared]
        own = [name for name in own if parse_name(name).style not in left_out]
    wanted = compiled(pattern)
    found = [name for name in own if wanted.search(name)]
    if not found:
        raise UsageError(unknown("benchmark", pattern, _words(own)))
    return found


def _words(names: Sequence[str]) -> list[str]:
    """What one might write to choose among the names: benchmarks, with a size, with a style."""
    rows = [parse_name(name) for name in names]
    return list(dict.fromkeys([*(row.benchmark for row in rows), *(row.label for row in rows), *names]))


def of_sizes(names: Sequence[str], sizes: Sequence[int]) -> list[str]:
    """Those of these sizes, if they have one."""
    return [name for name in names if parse_name(name).size in (None, *sizes)]


def rows_of(names: Sequence[str]) -> list[list[str]]:
    """The names by row; those of the library that no other style has are one."""
    compared = {parsed.benchmark for parsed in map(parse_name, names) if parsed.style != LIBRARY}
    rows: dict[tuple[str, int | None], list[str]] = {}
    for name in names:
        parsed = parse_name(name)
        key = (parsed.benchmark, parsed.size) if parsed.benchmark in compared else (LIBRARY, None)
        rows.setdefault(key, []).append(name)
    return list(rows.values())


def run(
    binary: Path, names: Sequence[str], settings: Settings, console: Console, more: Sequence[str] = ()
) -> dict[str, Any]:
    """Runs exactly `names`, each row in a process of its own; returns its JSON in the order of `names`.

    Styles that are compared take turns in one process. Other rows have other processes, since for example a million
    timers leave free memory in an order that slows down some allocators. If the program crashes in a benchmark, that
    one has an error.
    """
    documents = []
    deaths: list[Died] = []
    with Bar(console, f"running {settings.compiler}") as bar:
        progress = Progress(len(names) * settings.repetitions, bar)
        for row in rows_of(names):
            alive = list(row)
            while alive:
                try:
                    documents.append(_run(binary, alive, settings, progress, more))
                    break
                except Died as one:  # the others of its row run again, without it
                    deaths.append(one)
                    alive.remove(one.name)
    if not documents:
        raise deaths[0]
    document = documents[0]
    results = [result for each in documents for result in each["benchmarks"]]
    document["benchmarks"] = _in_order([*results, *(one.result for one in deaths)], names)
    return document


def _in_order(results: Sequence[dict[str, Any]], names: Sequence[str]) -> list[dict[str, Any]]:
    place = {name: index for index, name in enumerate(names)}
    return sorted(results, key=lambda result: place[result["run_name"]])


def _run(
    binary: Path, names: Sequence[str], settings: Settings, progress: Progress, more: Sequence[str]
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        command: list[str | Path] = [
            binary,
            f"--loop={settings.loop}",
            *more,
            *(f"--case={name}" for name in names),
            f"--repetitions={settings.repetitions}",
            f"--min-time={settings.min_time:.4f}",
            f"--json={out}",
            "--verbose",  # shows progress
        ]
        lines: list[str] = []

        def on_line(line: str) -> None:
            lines.append(line)
            progress.line(line)

        code = stream(command, on_line)
        if code not in (0, 1):  # 1: a benchmark has failed, and the file says which
            raise death(code, lines, names)
        document = read_results(out, lines, code)
    if settings.revision:
        document["context"]["revision"] = settings.revision
    document["context"].setdefault("flags", "unknown")
    return document


def threaded(binary: Path, loop: str) -> set[str]:
    """The benchmarks that measure what several threads do."""
    return set(available(binary, loop)).difference(available(binary, loop, has_threads=False))


def once(binary: Path, names: Sequence[str], loop: str, iterations: int, more: Sequence[str] = ()) -> dict[str, Any]:
    """The results of exactly so many iterations of each."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        lines: list[str] = []
        code = stream([binary, *more, *exactly(names, loop, iterations), f"--json={out}", "--verbose"], lines.append)
        if code not in (0, 1):
            raise death(code, lines, names)
        return read_results(out, lines, code)


def exactly(names: Sequence[str], loop: str, iterations: int) -> list[str]:
    """The options that run each of the names so often, once."""
    return [f"--loop={loop}", *(f"--case={name}" for name in names), f"--iterations={iterations}", "--repetitions=1"]


def read_results(out: Path, lines: Sequence[str], code: int) -> dict[str, Any]:
    """The file of --json; a RunError if the program ended without one."""
    try:
        document: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise RunError("\n".join([*lines[-20:], f"the benchmarks: {ending(code)}"])) from None
    return document


class Progress:
    """Counts repetitions by the program's log.

    Before its repetitions, a benchmark is tried with growing numbers of iterations. So the lines with the largest
    number seen for it are the repetitions, and one more.
    """

    def __init__(self, total: int, bar: Bar) -> None:
        self._total = total
        self._bar = bar
        self._seen: dict[str, tuple[int, int]] = {}
        self._done = 0

    def line(self, line: str) -> None:
        match = _RUNNING.search(line)
        if not match:
            return
        name, iterations = match[1], int(match[2])
        largest, times = self._seen.get(name, (0, 0))
        if iterations > largest:
            self._seen[name] = (iterations, 0)
            self._done -= times
        else:
            self._seen[name] = (largest, times + 1)
            self._done += 1
        self._bar.update(min(self._done, self._total), self._total)
