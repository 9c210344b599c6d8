"""Chooses benchmarks and runs them with Google Benchmark, with a progress bar."""

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

from benchlib.results import LIBRARY, MIGRATED, OURS, STYLES, parse_name
from common.arguments import UsageError, unknown
from common.failure import Failure
from common.process import ending, stream
from common.progress import Bar

# With --v=2 Google Benchmark says this before it runs a benchmark once.
_RUNNING = re.compile(r"Running (.+) for (\d+)$")


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
        """The entry of Google Benchmark for a benchmark that fails."""
        return {
            "name": self.name,
            "run_name": self.name,
            "run_type": "iteration",
            "error_occurred": True,
            "error_message": self.why,
        }


def death(code: int, lines: Sequence[str], names: Sequence[str]) -> RunError:
    """The benchmark during which a program with --v=2 ended, by its log; None if it had not begun one."""
    starts = [(place, match[1]) for place, line in enumerate(lines) if (match := _RUNNING.search(line))]
    start, running = starts[-1] if starts else (0, "")
    # Google Benchmark prints warnings at any time.
    said = [line for line in lines[start:] if line.strip() and not line.startswith(("-- LOG", "***WARNING***"))]
    name = next((name for name in names if running == name or parse_name(running) == parse_name(name)), None)
    if name:
        return Died(name, f"{ending(code)}: {said[-1]}" if said else ending(code))
    return RunError("\n".join([*said[-20:], f"the benchmarks: {ending(code)}"]))


@dataclass(frozen=True, slots=True)
class Settings:
    compiler: str
    loop: str
    repetitions: int
    min_time: float
    revision: str


def available(binary: Path, loop: str, more: Sequence[str] = ()) -> list[str]:
    """The names of all benchmarks, in the order in which the program registers them; `more` options decide which."""
    command = [str(binary), f"--loop={loop}", *more, "--benchmark_list_tests=true"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        raise RunError(run.stdout + run.stderr)
    return run.stdout.split()


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
    own = [name for name in names if parse_name(name).style in (*OURS, *more)]
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
    """The names by row; those of the library are one."""
    rows: dict[tuple[str, int | None], list[str]] = {}
    for name in names:
        parsed = parse_name(name)
        key = (LIBRARY, None) if parsed.style == LIBRARY else (parsed.benchmark, parsed.size)
        rows.setdefault(key, []).append(name)
    return list(rows.values())


def run(
    binary: Path, names: Sequence[str], settings: Settings, console: Console, more: Sequence[str] = ()
) -> dict[str, Any]:
    """Runs exactly `names`, each row in a process of its own; returns Google Benchmark's JSON in the order of `names`.

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
            f"--benchmark_filter=^({'|'.join(map(escape, names))})$",
            f"--benchmark_repetitions={settings.repetitions}",
            f"--benchmark_min_time={settings.min_time:.4f}",
            # Slow and fast phases of a shared machine then affect all styles alike.
            "--benchmark_enable_random_interleaving=true",
            f"--benchmark_context=revision={settings.revision}",
            f"--benchmark_out={out}",
            "--benchmark_out_format=json",
            # The console would list the results in random order, at the end. The log is what shows progress.
            "--v=2",
        ]
        lines: list[str] = []

        def on_line(line: str) -> None:
            lines.append(line)
            progress.line(line)

        code = stream(command, on_line)
        if code:
            raise death(code, lines, names)
        document: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    # The program names its compiler and flags; without them contexts could not be distinguished.
    for key, value in {"compiler": settings.compiler, "flags": "unknown", "loop": settings.loop}.items():
        document["context"].setdefault(key, value)
    return document


def escape(name: str) -> str:
    """Escapes for extended regular expressions of POSIX; re.escape() is for Python's."""
    return re.sub(r"([.^$*+?()\[\]{}|\\])", r"\\\1", name)


class Progress:
    """Counts repetitions by the program's log.

    The first repetition of a benchmark tries growing numbers of iterations; all others use the last of them. So the
    repetitions of a benchmark are the lines with the largest number seen for it.
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
            self._seen[name] = (iterations, 1)
            self._done += 1 - times
        else:
            self._seen[name] = (largest, times + 1)
            self._done += 1
        self._bar.update(min(self._done, self._total), self._total)
