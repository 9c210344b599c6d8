"""Runs everything that the report shows. A failed part is missing in the report, with its reason; the other parts
run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from rich.console import Console

from benchlib.arguments import PRESETS, TARGET, binary
from benchlib.frames.gather import Frames, frames_of
from benchlib.growth.command import measure as measure_growth
from benchlib.overview.command import QUICK, QUICK_PEERS_SIZES, QUICK_SIZES
from benchlib.report import environment
from benchlib.report.history import Point, points
from benchlib.report.sections.flames import Profile
from benchlib.report.sections.growth import Growth
from common.build import build
from common.tree import revision
from millrace.bench.count import count
from millrace.bench.measure import profile
from millrace.bench.measure import rows as profiled
from millrace.bench.plan import countable, usual_sizes
from millrace.bench.results import STYLES, Row, collect, errors, noise, parse_name
from millrace.bench.suite import Settings, available, choose, of_sizes, run, threaded
from millrace.common.failure import Failure
from millrace.pages.model import Missing
from millrace.pages.page import moment
from millrace.profile.causes import Attribution
from millrace.profile.causes import read as read_causes
from millrace.profile.sampler import sampler

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Plan:
    """How much to measure. Seconds are those of the timed repetitions, of all compilers together; set-up takes twice as
    long."""

    repetitions: int  # of the suite
    suite_seconds: float
    pattern: str
    sizes: tuple[int, ...]  # none: all
    growth_seconds: float
    growth_sizes: tuple[int, ...]
    peers_seconds: float
    counted: str  # the filter for counted instructions
    profiled: str
    profile_seconds: float  # of each recording


FULL = Plan(9, 80.0, "", (), 40.0, (), 20.0, "", "^(DELAY|NET2|callback)/4096/", 2.0)
QUICKLY = Plan(5, 15.0, QUICK, QUICK_SIZES, 5.0, (1, 8, 64, 512, 4096, 65536), 8.0, QUICK, "^NET2/4096/", 1.0)
REPETITIONS = 5
GROWTH_REPETITIONS = 3  # each of a million actors takes seconds
GROWTH_SIZES = tuple(1 << power for power in range(21))
GROWTH_LINES = 10  # styles of all works, with the floors
SHORTEST, LONGEST = 0.005, 0.2  # seconds of one repetition: longer ones add no precision


NOTHING_BUILT = Missing("There is no build of the benchmarks to run.")


@dataclass(slots=True)
class Measured:
    """The results of one run, by compiler where that matters."""

    revision: str
    moment: str
    machine: dict[str, str]
    busy: str = ""  # the load of the machine at the start
    builds: dict[str, str] = field(default_factory=dict)  # compiler and flags
    noise: dict[str, str] = field(default_factory=dict)
    suite: dict[str, list[Row] | Missing] = field(default_factory=dict)
    growth: dict[str, Growth | Missing] = field(default_factory=dict)
    instructions: dict[str, list[Row] | Missing] = field(default_factory=dict)
    history: list[Point] = field(default_factory=list)
    frames: dict[str, Frames | Missing] = field(default_factory=dict)
    profile: Profile | Missing = NOTHING_BUILT
    peers: list[Row] | Missing = NOTHING_BUILT
    problems: list[str] = field(default_factory=list)


def gather(compilers: Sequence[str], plan: Plan, console: Console) -> Measured:
    found = Measured(revision(), moment(), environment.machine())
    before = environment.load()
    if environment.idle_share() < 1:
        found.busy = f"on a busy machine (load {before.partition(',')[0]})"
    built = []
    for compiler in compilers:
        made = attempt(f"The build with {compiler}", partial(build, PRESETS[compiler], console, [TARGET]), found)
        if isinstance(made, Missing):
            found.suite[compiler] = found.growth[compiler] = found.instructions[compiler] = made
            found.frames[compiler] = made
            continue
        built.append(compiler)
        run_one = Run(compiler, plan, len(compilers), found, console)
        found.suite[compiler] = attempt(f"The suite with {compiler}", run_one.suite, found)
        found.growth[compiler] = attempt(f"Growth with {compiler}", run_one.growth, found)
        found.frames[compiler] = attempt(f"Reading the frames of {compiler}", partial(frames_of, compiler), found)
        found.instructions[compiler] = attempt(f"Counting with {compiler}", run_one.instructions, found)
    if built:
        alone = Run(built[0], plan, 1, found, console)
        found.profile = attempt("The profile", alone.profile, found)
        found.peers = attempt("The comparison with other libraries", alone.peers, found)
    found.history = points(compilers)
    found.machine |= {"Load average before": before, "Load average after": environment.load()}
    return found


def attempt(what: str, work: Callable[[], T], found: Measured) -> T | Missing:
    try:
        return work()
    except Failure as error:
        first, _, rest = str(error).strip().partition("\n")
        reason = " ".join([first, *rest.splitlines()[:1]]) if first.endswith(":") else first
        found.problems.append(f"{what} failed: {reason}")
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
        settings = self._settings("sim", self.plan.suite_seconds, len(names), self.plan.repetitions)
        document = run(binary(self.compiler), names, settings, self.console)
        context, rows = document["context"], collect(document["benchmarks"])
        self.found.builds[self.compiler] = f"{context['compiler']}, {context['flags']}"
        self.found.noise[self.compiler] = noise(rows)
        self.found.problems += [f"{self.compiler}: {error}" for error in errors(rows)]
        return rows

    def growth(self) -> Growth:
        lines = (len(self.plan.growth_sizes) or len(GROWTH_SIZES)) * GROWTH_LINES
        settings = self._settings("sim", self.plan.growth_seconds, lines, GROWTH_REPETITIONS)
        series, floors, _, failed = measure_growth(self.compiler, settings, self.console, self.plan.growth_sizes)
        self.found.problems += [f"{self.compiler}, growth: {error}" for error in failed]
        return Growth(tuple(series), tuple(floors), doubles=not self.plan.growth_sizes)

    def instructions(self) -> list[Row]:
        program = binary(self.compiler)
        names, _ = countable(choose(available(program, "sim"), self.plan.counted), threaded(program, "sim"))
        names = [name for name in usual_sizes(names) if parse_name(name).style in STYLES]
        document = count(program, names, "sim", self.console, f"counting {self.compiler}")
        rows = collect(document["benchmarks"])
        self.found.problems += [f"{self.compiler}, counted: {error}" for error in errors(rows)]
        return rows

    def profile(self) -> Profile:
        tool = sampler(None)
        attribution = Attribution(read_causes())
        chosen = profiled(available(binary(self.compiler), "sim"), self.plan.profiled, STYLES[:2])
        settings = Settings(self.compiler, "sim", 3, self.plan.profile_seconds / 8, self.found.revision)
        seconds = self.plan.profile_seconds
        rows, failed = profile(binary(self.compiler), chosen, settings, tool, seconds, attribution, self.console)
        self.found.problems += [f"profile: {error}" for error in failed]
        return Profile(tool.how, attribution.order, tuple(rows))

    def peers(self) -> list[Row]:
        names = of_sizes(choose(available(binary(self.compiler), "real"), "", peers=True), QUICK_PEERS_SIZES)
        settings = self._settings("real", self.plan.peers_seconds, len(names))
        rows = collect(run(binary(self.compiler), names, settings, self.console)["benchmarks"])
        self.found.problems += [f"beside other libraries: {error}" for error in errors(rows)]
        return rows

    def _settings(self, loop: str, seconds: float, benchmarks: int, repetitions: int = REPETITIONS) -> Settings:
        """The time of each repetition, so that all together take the given seconds."""
        each = seconds * environment.idle_share() / self.compilers / (benchmarks * repetitions)
        return Settings(self.compiler, loop, repetitions, min(LONGEST, max(SHORTEST, each)), self.found.revision)
