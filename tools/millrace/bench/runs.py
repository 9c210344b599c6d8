"""Runs two programs in turn on one processor: pair by pair, each pair in random order."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console

from millrace.bench.compared import text
from millrace.bench.program import Program
from millrace.bench.results import Name, per_item
from millrace.bench.suite import RunError, read_results
from millrace.common.process import ending, stream
from millrace.common.progress import Bar

REPETITIONS = 5  # repetitions of a benchmark in one run; their median is the result of the run
SECONDS = 0.004  # of one repetition
SEED = 1


@dataclass(slots=True)
class Samples:
    """The runs of one benchmark; each is the nanoseconds per item of its repetitions."""

    runs: list[list[list[float]]] = field(default_factory=lambda: [[], []])  # of A, of B
    error: str = ""


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs single benchmarks on one processor."""

    cpu: int
    folder: Path

    def run(self, program: Program, name: Name, *options: str) -> list[dict[str, Any]]:
        """The repetitions, as the program writes them."""
        out = self.folder / "out.json"
        out.unlink(missing_ok=True)
        pinned = [] if name in program.threaded else ["taskset", "--cpu-list", str(self.cpu)]
        plain = (f"--loop={program.loop}", f"--case={text(name)}", f"--json={out}")
        lines: list[str] = []
        code = stream([*pinned, program.path, *plain, *options], lines.append)
        if code not in (0, 1):
            raise RunError("\n".join([*lines[-20:], f"{program.side}: {text(name)}: {ending(code)}"]))
        results: list[dict[str, Any]] = read_results(out, lines, code)["benchmarks"]
        return results


def order(names: Sequence[Name], rounds: int, seed: int = SEED) -> Iterator[list[tuple[Name, int]]]:
    """The rounds: in each, every benchmark has one pair, and the first of a pair is A (0) in half of the rounds."""
    draw = random.Random(seed)
    firsts = {name: [i % 2 for i in range(rounds)] for name in names}
    for each in firsts.values():
        draw.shuffle(each)
    for i in range(rounds):
        shuffled = list(names)
        draw.shuffle(shuffled)
        yield [(name, firsts[name][i]) for name in shuffled]


def measure(
    sides: Sequence[Program], names: Sequence[Name], rounds: int, cpu: int, folder: Path, console: Console
) -> dict[Name, Samples]:
    """Both sides in turn, or one alone. A benchmark that fails has an error, and what it ran before."""
    samples = {name: Samples() for name in names}
    with TemporaryDirectory(dir=folder) as out, Bar(console, f"running, CPU {cpu}") as bar:
        runner = Runner(cpu, Path(out))
        options = {name: _options(runner, sides, name, samples[name]) for name in names}
        for done, pairs in enumerate(order(names, rounds), 1):
            started = time.monotonic()
            for i, (name, first) in enumerate(pairs, 1):
                _pair(runner, sides, name, first, options[name], samples[name])
                bar.update((done - 1) * len(names) + i, rounds * len(names))
            if done == 1:
                _announce(console, (time.monotonic() - started) * (rounds - 1))
    return samples


def _announce(console: Console, seconds: float) -> None:
    if seconds > 90:
        console.print(f"this takes some {seconds / 60:.0f} minutes")


def _options(runner: Runner, sides: Sequence[Program], name: Name, samples: Samples) -> list[str]:
    """The length of each run: the same number of passes for A and B. A first run of each measures it."""
    repetitions = f"--repetitions={REPETITIONS}"
    least = (f"--min-time={SECONDS}", "--repetitions=1")
    slowest = 1.0
    for side in sides:
        try:
            result = runner.run(side, name, *least)[0]
        except RunError as error:
            samples.error = samples.error or str(error)
            continue
        if result.get("error_occurred"):
            samples.error = samples.error or str(result.get("error_message", ""))
            continue
        scale = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}[result.get("time_unit", "ns")]
        slowest = max(slowest, scale * max(float(result["cpu_time"]), float(result["real_time"])))
    return [f"--iterations={max(1, round(SECONDS * 1e9 / slowest))}", repetitions]


def _pair(
    runner: Runner, sides: Sequence[Program], name: Name, first: int, options: Sequence[str], samples: Samples
) -> None:
    if samples.error:
        return
    results: list[list[float]] = [[], []]
    for i in (first, 1 - first) if len(sides) > 1 else (0,):
        try:
            repetitions = runner.run(sides[i], name, *options)
        except RunError as error:
            samples.error = str(error)
            return
        failed = next((result for result in repetitions if result.get("error_occurred")), None)
        if failed:
            samples.error = str(failed.get("error_message", ""))
            return
        results[i] = [per_item(result) for result in repetitions]
    for runs, values in zip(samples.runs, results, strict=True):
        runs.append(values)
