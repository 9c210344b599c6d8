"""Checks the sources, builds every preset, and runs all tests. Start it as tools/test."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from common.build import BuildError, binary_dir, build
from common.console import plain
from common.counts import Counts, doctest, junit
from common.process import ROOT, interrupt_on_terminate, side_by_side, stream
from common.sanitizer import SANITIZER

QUICK = "clang-checked"
# What is run of a preset: the unit tests; those of the network with the other poller; the programs that ctest starts.
FLOW_TESTS, WITH_URING, PROGRAMS = "flow_tests", "flow_tests-uring", "programs"
ALL = (FLOW_TESTS, WITH_URING, PROGRAMS)
# Optimised code is tested by the programs alone.
USUAL = {QUICK: (PROGRAMS,), "gcc-checked": (FLOW_TESTS,), "asan": (FLOW_TESTS, WITH_URING)}
# The programs have one thread: none for tsan to watch.
LONG = dict.fromkeys(USUAL, ALL) | {"tsan": (FLOW_TESTS, WITH_URING)}
RELEASE = ("clang", "gcc")
# Several processes, since some test cases take long.
PARTS_PER_PROCESS = 4
CHECKED_PYTHON = ("actorc", "tools", "tests")

DESCRIPTION = """\
Checks the sources, builds, and runs the unit tests with gcc and with clang's
AddressSanitizer, and the programs with clang. With --long it takes three times as
long: everything runs with each of them, the unit tests also under
ThreadSanitizer, and counted instructions are compared with bench/baseline.json.
The last line is "N passed, M failed", and before it stand the names of the steps
that failed; the exit code is 1 if anything did."""


@dataclass(frozen=True, slots=True)
class Outcome:
    counts: Counts
    output: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    name: str
    run: Callable[[], Outcome]


def command(*arguments: str | Path) -> Outcome:
    """A check that is one command: it passes if the exit code is 0."""
    lines: list[str] = []
    code = stream(arguments, lines.append)
    return Outcome(Counts(0, 1) if code else Counts(1, 0), "\n".join(lines))


def python(*arguments: str) -> Outcome:
    return command(sys.executable, *arguments)


def clang_format() -> Outcome:
    # Actor files are not C++ to clang-format.
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.h", "*.cpp"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    files = [name for name in names if ".actor." not in name and (ROOT / name).exists()]
    return command("clang-format-19", "--dry-run", "-Werror", *files) if files else Outcome(Counts())


def run_pytest(text: str, is_long: bool) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        lines: list[str] = []
        # A file's tests stay together, since they share what the first of them builds.
        parallel = [f"--numprocesses={os.cpu_count() or 1}", "--dist=loadfile"]
        arguments = ["-m", "pytest", "-q", "tests", *parallel, f"--junit-xml={report}", *(["-k", text] if text else [])]
        arguments += ["--long"] if is_long else []
        code = stream([sys.executable, *arguments], lines.append)
        nothing_chosen = code == 5
        counts = Counts() if nothing_chosen else junit(report).with_exit_code(code)
    return Outcome(counts, "\n".join(lines))


def run_build(preset: str, targets: tuple[str, ...], console: Console) -> Outcome:
    try:
        build(preset, console, targets)
    except BuildError as error:
        return Outcome(Counts(0, 1), str(error))
    return Outcome(Counts(1, 0))


def run_doctest(preset: str, text: str) -> Outcome:
    """In several processes at a time, each with a part of the test cases."""
    program = binary_dir(preset) / "tests" / "flow_tests"
    chosen = [f"--test-case=*{text.replace(',', '?')}*"] if text else []
    command: list[str | Path] = [program, "--no-colors=true", *chosen]
    listing = subprocess.run([*command, "--count"], capture_output=True, text=True, check=False)
    if (found := re.search(r"passing the current filters: (\d+)", listing.stdout)) is None:
        return Outcome(Counts(0, 1), listing.stdout + listing.stderr)
    total, processes = int(found[1]), os.cpu_count() or 1
    size = max(1, -(-total // (processes * PARTS_PER_PROCESS)))
    starts = range(1, total + 1, size)
    commands = [["timeout", "600", *command, f"--first={start}", f"--last={start + size - 1}"] for start in starts]
    outcomes: list[Outcome] = []

    def note(index: int, code: int, output: str) -> None:
        counts = doctest(output)
        if counts.passed:  # doctest counts those as passed that are in other parts
            counts = Counts(min(size, total - index * size) - counts.failed, counts.failed)
        outcomes.append(Outcome(counts.with_exit_code(code), output if code else ""))

    side_by_side(commands, processes, note, SANITIZER)
    return Outcome(sum((each.counts for each in outcomes), Counts()), "\n".join(each.output for each in outcomes))


def run_ctest(preset: str, *selection: str) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        lines: list[str] = []
        arguments = ["--test-dir", str(binary_dir(preset)), "--output-on-failure", "--output-junit", str(report)]
        arguments += ["--parallel", str(os.cpu_count() or 1), *selection]
        code = stream(["ctest", *arguments], lines.append, variables=SANITIZER)
        counts = junit(report).with_exit_code(code)
    return Outcome(counts, "\n".join(lines))


def run_programs(preset: str, text: str) -> Outcome:
    return run_ctest(preset, "--exclude-regex", "^flow_tests", *(["--tests-regex", re.escape(text)] if text else []))


def run_with_uring(preset: str, text: str) -> Outcome:
    return run_ctest(preset, "--tests-regex", "^flow_tests-uring$") if text in WITH_URING else Outcome(Counts())


RUN = {FLOW_TESTS: run_doctest, WITH_URING: run_with_uring, PROGRAMS: run_programs}


def source_checks() -> list[Step]:
    """Seconds in all."""
    return [
        Step("ruff", lambda: python("-m", "ruff", "check", *CHECKED_PYTHON)),
        Step("ruff format", lambda: python("-m", "ruff", "format", "--check", *CHECKED_PYTHON)),
        Step("mypy", lambda: python("-m", "mypy")),
        Step("clang-format", clang_format),
        Step("tidy", lambda: python("tools/tidy.py")),
    ]


def preset_steps(preset: str, parts: tuple[str, ...], text: str, console: Console) -> list[Step]:
    built: list[bool] = []
    targets = () if set(parts) == set(ALL) else ("test_programs",) if parts == (PROGRAMS,) else ("flow_tests",)

    def build_it() -> Outcome:
        outcome = run_build(preset, targets, console)
        built.append(not outcome.counts.failed)
        # With a filter the build does not count as a test: it would hide that no test matches.
        return Outcome(Counts()) if text and built[-1] else outcome

    def after_build(run: Callable[[str, str], Outcome]) -> Outcome:
        # Remains of an earlier build say nothing about the current sources.
        return run(preset, text) if built[-1] else Outcome(Counts(0, 1), "not run, because the build failed")

    def step(part: str) -> Step:
        return Step(f"{part} {preset}", lambda: after_build(RUN[part]))

    return [Step(f"build {preset}", build_it), *map(step, parts)]


def release_step(preset: str, console: Console) -> Step:
    return Step(f"build {preset}", lambda: run_build(preset, ("flow", "net", "millrace_bench", "simulations"), console))


def all_steps(quick: bool, is_long: bool, text: str, console: Console) -> list[Step]:
    checks = source_checks()
    if not quick:
        checks.append(Step("headers compile alone", lambda: python("tools/tidy.py", "--headers")))
    steps = [step for step in checks if text in step.name]
    steps.append(Step("pytest", lambda: run_pytest(text, is_long)))
    presets = {QUICK: ALL} if quick else LONG if is_long else USUAL
    for preset, parts in presets.items():
        steps += preset_steps(preset, parts, text, console)
    if is_long and not text:
        steps += [release_step(preset, console) for preset in RELEASE]
        steps.append(Step("instructions against bench/baseline.json", lambda: python("tools/bench.py", "check")))
    return steps


def run_steps(steps: list[Step]) -> Counts:
    total = Counts()
    failed: list[str] = []
    for number, step in enumerate(steps, 1):
        head = f"[{number}/{len(steps)}] {step.name}"
        print(f"{head} ...", flush=True)
        started = time.monotonic()
        try:
            outcome = step.run()
        except (OSError, subprocess.SubprocessError) as error:
            outcome = Outcome(Counts(0, 1), str(error))
        counts, elapsed = outcome.counts, time.monotonic() - started
        if counts.failed:
            print(outcome.output)
            failed.append(step.name)
        print(f"{head}: {counts.passed} passed, {counts.failed} failed, {elapsed:.1f} s", flush=True)
        total += counts
    if failed:
        print(f"failed: {', '.join(failed)}")
    return total


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tools/test", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help=f"only quick checks, pytest and the tests of {QUICK}")
    size.add_argument("--long", action="store_true", help="everything, as before a release")
    parser.add_argument("--filter", default="", metavar="TEXT", help="only tests and checks with TEXT in the name")
    return parser.parse_args()


def main() -> int:
    interrupt_on_terminate()
    options = parse_arguments()
    console = plain()
    try:
        counts = run_steps(all_steps(options.quick, options.long, options.filter, console))
    except KeyboardInterrupt:
        print("tools/test: interrupted", file=sys.stderr)
        return 130
    print(f"{counts.passed} passed, {counts.failed} failed")
    if options.filter and counts == Counts():
        print(f"tools/test: no test matches '{options.filter}'", file=sys.stderr)
        return 2
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
