"""Runs everything that the report shows; what fails is missing there, with its reason, and stops nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from rich.console import Console

from common.build import build
from common.failure import Failure
from perf.arguments import TARGET, binary, revision
from perf.growth.command import measure as measure_growth
from perf.overview.command import QUICK, QUICK_PEERS_SIZES, QUICK_SIZES
from perf.report import environment
from perf.report.model import Missing
from perf.report.sections.growth import Growth
from perf.results import Row, collect, errors, noise
from perf.suite import Settings, available, choose, of_sizes, run

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Plan:
    """How much to measure. Seconds are those of the timed repetitions, of all compilers together: to find out how often
    to repeat, and to set up, takes twice as long."""

    suite_seconds: float
    pattern: str
    sizes: tuple[int, ...]  # none: all
    growth_seconds: float
    growth_sizes: tuple[int, ...]
    peers_seconds: float


FULL = Plan(110.0, "", (), 60.0, (), 30.0)
QUICKLY = Plan(15.0, QUICK, QUICK_SIZES, 5.0, (1, 8, 64, 512, 4096, 32768, 131072), 8.0)
REPETITIONS = 5
GROWTH_SIZES = tuple(1 << power for power in range(21))
GROWTH_LINES = 10  # styles of all works, with the floors
LONGEST = 0.2  # seconds of one repetition: more tells nothing more


@dataclass(slots=True)
class Measured:
    """What one run found, by compiler where it depends on that."""

    revision: str
    moment: str
    machine: dict[str, str]
    builds: dict[str, str] = field(default_factory=dict)  # compiler and flags
    noise: dict[str, str] = field(default_factory=dict)
    suite: dict[str, list[Row] | Missing] = field(default_factory=dict)
    growth: dict[str, Growth | Missing] = field(default_factory=dict)
    peers: list[Row] | Missing = field(default_factory=lambda: Missing("Nothing was measured."))
    problems: list[str] = field(default_factory=list)


def gather(compilers: Sequence[str], plan: Plan, console: Console) -> Measured:
    found = Measured(revision(), environment.moment(), environment.machine())
    before = environment.load()
    built = []
    for compiler in compilers:
        made = attempt(f"The build with {compiler}", partial(build, compiler, console, [TARGET]), found)
        if isinstance(made, Missing):
            found.suite[compiler] = found.growth[compiler] = made
            continue
        built.append(compiler)
        run_one = Run(compiler, plan, len(compilers), found, console)
        found.suite[compiler] = attempt(f"The suite with {compiler}", run_one.suite, found)
        found.growth[compiler] = attempt(f"Growth with {compiler}", run_one.growth, found)
    if built:
        alone = Run(built[0], plan, 1, found, console)
        found.peers = attempt("The comparison with other libraries", alone.peers, found)
    else:
        found.peers = Missing("Without a build there is nothing to compare with others.")
    found.machine |= {"Load average before": before, "Load average after": environment.load()}
    return found


def attempt(what: str, work: Callable[[], T], found: Measured) -> T | Missing:
    try:
        return work()
    except Failure as error:
        first, _, rest = str(error).strip().partition("\n")
        found.problems.append(f"{what} failed: {first}")
        return Missing(f"{what} failed.", f"{first}\n{rest}".strip())


@dataclass(frozen=True, slots=True)
class Run:
    """Measures with one compiler, of several that share the time."""

    compiler: str
    plan: Plan
    compilers: int
    found: Measured
    console: Console

    def suite(self) -> list[Row]:
        names = choose(available(binary(self.compiler), "sim"), self.plan.pattern)
        names = of_sizes(names, self.plan.sizes) if self.plan.sizes else names
        settings = self._settings("sim", self.plan.suite_seconds, len(names))
        document = run(binary(self.compiler), names, settings, self.console)
        context, rows = document["context"], collect(document["benchmarks"])
        self.found.builds[self.compiler] = f"{context['compiler']}, {context['flags']}"
        self.found.noise[self.compiler] = noise(rows)
        self.found.problems += [f"{self.compiler}: {error}" for error in errors(rows)]
        return rows

    def growth(self) -> Growth:
        lines = (len(self.plan.growth_sizes) or len(GROWTH_SIZES)) * GROWTH_LINES
        settings = self._settings("sim", self.plan.growth_seconds, lines)
        series, floors, _ = measure_growth(self.compiler, settings, self.console, self.plan.growth_sizes)
        return Growth(tuple(series), tuple(floors))

    def peers(self) -> list[Row]:
        names = of_sizes(choose(available(binary(self.compiler), "real"), "", peers=True), QUICK_PEERS_SIZES)
        settings = self._settings("real", self.plan.peers_seconds, len(names))
        rows = collect(run(binary(self.compiler), names, settings, self.console)["benchmarks"])
        self.found.problems += [f"beside other libraries: {error}" for error in errors(rows)]
        return rows

    def _settings(self, loop: str, seconds: float, benchmarks: int) -> Settings:
        """So much time for each repetition that all together take the seconds that there are."""
        each = min(LONGEST, seconds / self.compilers / (benchmarks * REPETITIONS))
        return Settings(self.compiler, loop, REPETITIONS, each, self.found.revision)
