"""The parts of tools/test: those that it always runs, and those that `--all` adds."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from common.build import BuildError, binary_dir, build
from common.counts import Counts
from testlib.runs import (
    Outcome,
    Run,
    programs,
    python,
    python_tests,
    source_checks,
    unit_tests,
    unit_tests_with_uring,
)
from testlib.selection import Selection
from testlib.times import of_build

if TYPE_CHECKING:
    from rich.console import Console

TESTS = "tests"  # the preset of the usual build
LIBRARIES = (TESTS, "millrace_libraries")
OF_RELEASE = ("flow", "net", "millrace_bench", "net_bench", "messages_bench")
RELEASE = tuple((preset, target) for preset in ("bench", "gcc-bench") for target in OF_RELEASE)


@dataclass(frozen=True, slots=True)
class Part:
    """`minutes`: of a processor, from nothing."""

    name: str
    minutes: int
    what: str
    runs: tuple[Run, ...]


USUAL = (
    Part("sources", 1, "ruff, mypy, clang-format, tools/tidy.py", source_checks()),
    Part("unit", 8, "the unit tests", (unit_tests(TESTS),)),
    Part("programs", 8, "the programs, in each form of their actors", (programs(TESTS),)),
    Part("python", 8, "the Python tests that belong to no other part", (python_tests("", LIBRARIES),)),
)
OTHERS = (
    Part("headers", 5, "each header compiles alone", (python("headers", "tools/tidy.py", "--headers"),)),
    Part("no-pch", 10, "each source compiles without precompiled headers", (python("no-pch", "tools/no_pch.py"),)),
    Part("uring", 1, "unit tests of the network, with io_uring", (unit_tests_with_uring(TESTS),)),
    Part(
        "asan",
        20,
        "unit tests, with each poller, under AddressSanitizer and UBSan",
        (unit_tests("asan"), unit_tests_with_uring("asan")),
    ),
    Part(
        "asan-programs",
        20,
        "programs under AddressSanitizer and UBSan",
        (programs("asan"), programs("asan", "levels"), programs("asan", "migrated")),
    ),
    Part(
        "tsan",
        20,
        "unit tests, with each poller, under ThreadSanitizer",
        (unit_tests("tsan"), unit_tests_with_uring("tsan")),
    ),
    Part(
        "gcc",
        20,
        "unit tests, with each poller, compiled by gcc",
        (unit_tests("gcc-checked"), unit_tests_with_uring("gcc-checked")),
    ),
    Part(
        "gcc-programs",
        20,
        "programs compiled by gcc, and Python tests of what gcc says",
        (
            programs("gcc-checked"),
            programs("gcc-checked", "levels"),
            programs("gcc-checked", "migrated"),
            programs("gcc-checked", "mutants"),
            python_tests("gcc", LIBRARIES),
        ),
    ),
    Part(
        "optimised",
        30,
        "unit tests, with each poller, and programs as clang optimises them",
        (
            unit_tests("clang-checked"),
            unit_tests_with_uring("clang-checked"),
            programs("clang-checked"),
            programs("clang-checked", "levels"),
        ),
    ),
    Part("migrated", 5, "the programs, as actorc migrate writes them", (programs(TESTS, "migrated"),)),
    Part("mutants", 5, "faults planted in the simulated stores are found", (programs("clang-checked", "mutants"),)),
    Part("h2spec", 2, "the cases of h2spec against the HTTP/2 server", (programs(TESTS, "h2spec"),)),
    Part("http-peers", 2, "HTTP beside Go's net/http, and restarts under ab and wrk", (programs(TESTS, "http-peers"),)),
    Part("postgres", 1, "net/postgres/ with a PostgreSQL server", (programs(TESTS, "postgres"),)),
    Part("soak", 10, "the example webhooks for ten minutes, with TLS, under load", (programs(TESTS, "soak"),)),
    Part("install", 10, "what is installed, and the packages", (python_tests("install", LIBRARIES),)),
    Part("pages", 3, "what the pages show", (python_tests("pages", LIBRARIES),)),
    Part("long", 30, "Python tests that take long: thousands of random programs", (python_tests("long", LIBRARIES),)),
    Part(
        "release",
        40,
        "builds by both compilers as users make them; instructions against bench/baseline.json",
        (python("instructions", "tools/bench.py", "check", needs=RELEASE),),
    ),
)
PARTS = {part.name: part for part in (*USUAL, *OTHERS)}
FAST = ("sources", "unit", "python")


@dataclass(frozen=True, slots=True)
class Step:
    """A build if it has a `preset`, otherwise `run`."""

    name: str
    run: Run | None = None
    preset: str = ""
    targets: tuple[str, ...] = ()


def steps_of(selection: Selection) -> list[Step]:
    """Each preset is built once, before the first run that needs it."""
    runs = [run for name in selection.parts for run in PARTS[name].runs if run.fits(selection)]
    needed: dict[str, set[str]] = {}
    for run in runs:
        for preset, target in run.needs:
            needed.setdefault(preset, set()).add(target)
    steps = []
    for run in runs:
        for preset in dict.fromkeys(preset for preset, _ in run.needs):
            if targets := needed.pop(preset, None):
                steps.append(Step(f"build {preset}", None, preset, tuple(sorted(targets))))
        steps.append(Step(run.name, run))
    return steps


class Execution:
    """Runs steps; after a build that failed, none that needs it."""

    def __init__(self, selection: Selection, console: Console) -> None:
        self._selection = selection
        self._console = console
        self._failed: set[str] = set()

    def outcome(self, step: Step) -> Outcome:
        if step.run is None:
            return self._build(step.preset, step.targets)
        # Remains of an earlier build say nothing about the current sources.
        if any(preset in self._failed for preset, _ in step.run.needs):
            return Outcome(Counts(0, 1), "not run, because the build failed")
        return step.run.call(self._selection)

    def _build(self, preset: str, targets: Sequence[str]) -> Outcome:
        start = time.time()
        try:
            build(preset, self._console, targets)
        except BuildError as error:
            self._failed.add(preset)
            return Outcome(Counts(0, 1), str(error))
        # With a filter a build is no test: it would hide that none matches.
        counts = Counts() if self._selection.text else Counts(1, 0)
        return Outcome(counts, shares=of_build(binary_dir(preset), start))
