"""Runs two programs in turn on one processor: pair by pair, each pair in random order."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console

from benchlib.compare.program import Program
from benchlib.compare.table import text
from benchlib.results import Name, per_item
from benchlib.suite import RunError, escape
from common.process import ending, stream
from common.progress import Bar

REPETITIONS = 5  # repetitions of a benchmark in one run; their median is the result of the run
SECONDS = 0.004  # of one repetition
SEED = 1
# What Google Benchmark adds to a name for settings of the benchmark; benchlib.results.parse_name() takes it off.
_SUFFIX = "(/((min_time|min_warmup_time|iterations|repeats|threads):[0-9.]+|(manual|process|real)_time))*"
_NEEDS_PROCESSORS = "/real_time"  # it measures what threads do at the same time


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
        """The repetitions, as Google Benchmark writes them."""
        full_name = program.names[name]
        out = self.folder / "out.json"
        pinned = [] if _NEEDS_PROCESSORS in full_name else ["taskset", "--cpu-list", str(self.cpu)]
        command: list[str | Path] = [
            *pinned,
            program.path,
            f"--loop={program.loop}",
            f"--benchmark_filter=^{escape(text(name))}{_SUFFIX}$",
            f"--benchmark_out={out}",
            "--benchmark_out_format=json",
            *options,
        ]
        lines: list[str] = []
        code = stream(command, lines.append)
        if code:
            raise RunError("\n".join([*lines[-20:], f"{program.side}: {full_name}: {ending(code)}"]))
        results: list[dict[str, Any]] = json.loads(out.read_text(encoding="utf-8"))["benchmarks"]
        return [result for result in results if result.get("run_type") != "aggregate"]


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
    repetitions = f"--benchmark_repetitions={REPETITIONS}"
    least = f"--benchmark_min_time={SECONDS}"
    slowest = 1.0
    for side in sides:
        try:
            result = runner.run(side, name, least)[0]
        except RunError as error:
            samples.error = samples.error or str(error)
            continue
        if result.get("error_occurred"):
            samples.error = samples.error or str(result.get("error_message", ""))
            continue
        scale = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}[result.get("time_unit", "ns")]
        slowest = max(slowest, scale * max(float(result["cpu_time"]), float(result["real_time"])))
    return [f"--passes={max(1, round(SECONDS * 1e9 / slowest))}", repetitions]


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
