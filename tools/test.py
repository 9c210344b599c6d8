"""Checks the sources, builds, and runs all tests or those of some folders. Start it as tools/test."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from common.build import BuildError, binary_dir, build
from common.console import plain
from common.counts import Counts, doctest, junit
from common.process import ROOT, interrupt_on_terminate, side_by_side, stream
from common.sanitizer import SANITIZER

if TYPE_CHECKING:
    from rich.console import Console

FAST = "clang-checked"
# What is run of a preset: the unit tests; those of the network with the other poller, or with that alone; the programs
# that ctest starts.
FLOW_TESTS, WITH_URING, EACH_ONCE, PROGRAMS = "flow_tests", "flow_tests-uring", "flow_tests once", "programs"
ALL = (FLOW_TESTS, WITH_URING, PROGRAMS)
# The folders of tests/ that have programs which ctest starts; those are labelled with its name.
WITH_PROGRAMS = ("compat", "debugging", "examples", "flow", "net", "programs", "sim", "tools")
# Optimised code is tested by some of the programs alone, and each poller with one preset.
USUAL = {FAST: (PROGRAMS,), "gcc-checked": (EACH_ONCE,), "asan": (FLOW_TESTS,)}
# The programs have one thread: none for tsan to watch.
LONG = dict.fromkeys(USUAL, ALL) | {"tsan": (FLOW_TESTS, WITH_URING)}
RELEASE = ("bench", "gcc-bench")
URING = {**SANITIZER, "FLOW_POLLER": "uring"}
# Several processes, since some test cases take long.
PARTS_PER_PROCESS = 4
CHECKED_PYTHON = ("actorc", "tools", "tests")
TESTS = ROOT / "tests"
# Seconds that each step took when it last passed, by the arguments of tools/test, then by its name.
TIMES = ROOT / "build" / "test_times.json"

DESCRIPTION = """\
Checks the sources, builds, and runs the unit tests with gcc and with clang's
AddressSanitizer, and the programs with clang. It begins with the time that the
steps took when they were last run with the same arguments. The last line is
"N passed, M failed", and before it stand the names of the steps that failed; the
exit code is 1 if anything did.

tools/test --fast              while you work: no programs, no slow Python tests
tools/test --fast flow/lib net the tests of these folders of tests/
tools/test --filter delay      tests and checks with that in their names"""


@dataclass(frozen=True, slots=True)
class Outcome:
    counts: Counts
    output: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    name: str
    run: Callable[[], Outcome]


@dataclass(frozen=True, slots=True)
class Selection:
    """Which tests to run: of `parts`, which are folders in tests/, or of all; with `text` in their names."""

    text: str = ""
    parts: tuple[str, ...] = ()
    is_fast: bool = False
    is_long: bool = False

    def arguments(self) -> str:
        size = ["--fast"] if self.is_fast else ["--long"] if self.is_long else []
        return " ".join([*size, *(["--filter", self.text] if self.text else []), *sorted(self.parts)])

    def unit_tests(self) -> list[str]:
        return [part for part in self.parts if part.split("/")[0] in ("flow", "net")]

    def python_tests(self) -> list[str]:
        return [part for part in self.parts if any((TESTS / part).rglob("test_*.py"))]

    def with_programs(self) -> list[str]:
        return [part for part in self.parts if part in WITH_PROGRAMS]

    def has(self, what: str) -> bool:
        if not self.parts:
            return True
        if what == PROGRAMS:
            return bool(self.with_programs())
        return "net" in self.parts if what == WITH_URING else bool(self.unit_tests())


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


def run_pytest(selection: Selection) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        lines: list[str] = []
        # A file's tests stay together, since they share what the first of them builds. tests/conftest.py orders files.
        parallel = [f"--numprocesses={os.cpu_count() or 1}", "--dist=loadfile", "--no-loadscope-reorder"]
        arguments = [*parallel, f"--junit-xml={report}"]
        arguments += ["-k", selection.text] if selection.text else []
        arguments += ["-m", "not slow"] if selection.is_fast else ["--long"] if selection.is_long else []
        folders = [str(TESTS / part) for part in selection.python_tests() or [""]]
        code = stream([sys.executable, "-m", "pytest", "-q", *folders, *arguments], lines.append)
        nothing_chosen = code == 5
        counts = Counts() if nothing_chosen else junit(report).with_exit_code(code)
    return Outcome(counts, "\n".join(lines))


def run_build(preset: str, targets: tuple[str, ...], console: Console) -> Outcome:
    try:
        build(preset, console, targets)
    except BuildError as error:
        return Outcome(Counts(0, 1), str(error))
    return Outcome(Counts(1, 0))


def run_unit_tests(preset: str, selection: Selection) -> Outcome:
    return run_doctest(preset, selection, selection.unit_tests(), SANITIZER)


def has_uring(preset: str) -> bool:
    """Whether the kernel lets a program have it."""
    return "MILLRACE_HAS_URING:INTERNAL=1" in (binary_dir(preset) / "CMakeCache.txt").read_text(encoding="utf-8")


def run_with_uring(preset: str, selection: Selection) -> Outcome:
    if not has_uring(preset):
        return Outcome(Counts(), "this kernel does not let a program use io_uring")
    return run_doctest(preset, selection, ["net"], URING)


def run_each_once(preset: str, selection: Selection) -> Outcome:
    """Those of the network with io_uring, if the kernel lets a program have it."""
    if not has_uring(preset):
        return run_unit_tests(preset, selection)
    parts = selection.unit_tests() or ["flow", "net"]
    net = [part for part in parts if part.split("/")[0] == "net"]
    others = [part for part in parts if part not in net]
    runs = [(others, SANITIZER), (net, URING)]
    outcomes = [run_doctest(preset, selection, some, variables) for some, variables in runs if some]
    return Outcome(sum((each.counts for each in outcomes), Counts()), "\n".join(each.output for each in outcomes))


def run_doctest(preset: str, selection: Selection, parts: list[str], variables: dict[str, str]) -> Outcome:
    """In several processes at a time, each with a part of the test cases."""
    program = binary_dir(preset) / "tests" / "flow_tests"
    chosen = [f"--test-case=*{selection.text.replace(',', '?')}*"] if selection.text else []
    if parts:
        chosen.append("--source-file=" + ",".join(f"*/tests/{part}/*" for part in parts))
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

    side_by_side(commands, processes, note, variables)
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


def run_programs(preset: str, selection: Selection) -> Outcome:
    chosen = ["--tests-regex", re.escape(selection.text)] if selection.text else []
    if not selection.is_long:
        chosen += ["--label-exclude", "^long$"]
    if selection.parts:
        chosen += ["--label-regex", f"^({'|'.join(selection.with_programs())})$"]
    return run_ctest(preset, "--exclude-regex", "^flow_tests", *chosen)


RUN = {
    FLOW_TESTS: run_unit_tests,
    WITH_URING: run_with_uring,
    EACH_ONCE: run_each_once,
    PROGRAMS: run_programs,
}


def source_checks() -> list[Step]:
    """Seconds in all."""
    return [
        Step("ruff", lambda: python("-m", "ruff", "check", "--no-cache", *CHECKED_PYTHON)),
        Step("ruff format", lambda: python("-m", "ruff", "format", "--check", *CHECKED_PYTHON)),
        Step("mypy", lambda: python("-m", "mypy")),
        Step("clang-format", clang_format),
        Step("tidy", lambda: python("tools/tidy.py")),
    ]


def preset_steps(preset: str, usual: tuple[str, ...], selection: Selection, console: Console) -> list[Step]:
    built: list[bool] = []
    runs = [what for what in usual if selection.has(what)]
    if not runs:
        return []
    targets = {"long_test_programs" if selection.is_long else "test_programs"} if PROGRAMS in runs else set()
    targets |= {"flow_tests"} if set(runs) != {PROGRAMS} else set()

    def build_it() -> Outcome:
        outcome = run_build(preset, tuple(sorted(targets)), console)
        built.append(not outcome.counts.failed)
        # With a filter the build does not count as a test: it would hide that no test matches.
        return Outcome(Counts()) if selection.text and built[-1] else outcome

    def after_build(run: Callable[[str, Selection], Outcome]) -> Outcome:
        # Remains of an earlier build say nothing about the current sources.
        return run(preset, selection) if built[-1] else Outcome(Counts(0, 1), "not run, because the build failed")

    def step(what: str) -> Step:
        return Step(f"{what} {preset}", lambda: after_build(RUN[what]))

    return [Step(f"build {preset}", build_it), *map(step, runs)]


def release_step(preset: str, console: Console) -> Step:
    targets = ("flow", "net", "millrace_bench", "net_bench", "messages_bench")
    return Step(f"build {preset}", lambda: run_build(preset, targets, console))


def all_steps(selection: Selection, console: Console) -> list[Step]:
    steps = []
    if not selection.parts:
        steps = source_checks()
        steps.append(Step("headers compile alone", lambda: python("tools/tidy.py", "--headers")))
        steps = [step for step in steps if selection.text in step.name]
    presets = {FAST: (FLOW_TESTS,)} if selection.is_fast else LONG if selection.is_long else USUAL
    for preset, usual in presets.items():
        steps += preset_steps(preset, usual, selection, console)
    # After the builds: it uses their libraries.
    if not selection.parts or selection.python_tests():
        steps.append(Step("pytest", lambda: run_pytest(selection)))
    if selection.is_long and not selection.text and not selection.parts:
        steps += [release_step(preset, console) for preset in RELEASE]
        steps.append(Step("instructions against bench/baseline.json", lambda: python("tools/bench.py", "check")))
    return steps


def last_times() -> dict[str, dict[str, float]]:
    try:
        found = json.loads(TIMES.read_text()).items()
    except (OSError, ValueError, AttributeError):
        return {}
    return {arguments: times for arguments, times in found if isinstance(times, dict)}


def expectation(steps: list[Step], selection: Selection) -> str:
    times = last_times().get(selection.arguments(), {})
    known = [times[step.name] for step in steps if step.name in times]
    words = "1 step" if len(steps) == 1 else f"{len(steps)} steps"
    if not known:
        return f"{words}; never run with these arguments, so the time is not known"
    return f"{words}; {len(known)} of them took {sum(known) / 60:.1f} min when they were last run"


def note_time(step: Step, selection: Selection, seconds: float) -> None:
    times = last_times()
    times.setdefault(selection.arguments(), {})[step.name] = round(seconds, 1)
    TIMES.parent.mkdir(exist_ok=True)
    TIMES.write_text(json.dumps(times))


def run_steps(steps: list[Step], selection: Selection) -> Counts:
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
        else:
            note_time(step, selection, elapsed)
        print(f"{head}: {counts.passed} passed, {counts.failed} failed, {elapsed:.1f} s", flush=True)
        total += counts
    if failed:
        print(f"failed: {', '.join(failed)}")
    return total


def parse_arguments() -> Selection:
    parser = argparse.ArgumentParser(
        prog="tools/test", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--fast", action="store_true", help=f"only quick checks and the unit tests of {FAST}")
    size.add_argument(
        "--long",
        action="store_true",
        help="all tests with each compiler and sanitizer, and instructions against bench/baseline.json",
    )
    parser.add_argument("--filter", default="", metavar="TEXT", help="only tests and checks with TEXT in the name")
    parser.add_argument("parts", nargs="*", metavar="PART", help="a folder of tests/, such as flow, net/sim or actorc")
    options = parser.parse_args()
    parts = tuple(part.removeprefix("tests/").rstrip("/") for part in options.parts)
    for part in parts:
        if not part or ".." in part or not (TESTS / part).is_dir():
            parser.error(f"there is no folder tests/{part}")
    return Selection(options.filter, parts, options.fast, options.long)


def main() -> int:
    interrupt_on_terminate()
    selection = parse_arguments()
    steps = all_steps(selection, plain())
    if not steps:
        print(f"tools/test: {', '.join(selection.parts)} has no tests that run with these options", file=sys.stderr)
        return 2
    print(expectation(steps, selection), flush=True)
    try:
        counts = run_steps(steps, selection)
    except KeyboardInterrupt:
        print("tools/test: interrupted", file=sys.stderr)
        return 130
    print(f"{counts.passed} passed, {counts.failed} failed")
    if selection.text and counts == Counts():
        print(f"tools/test: no test matches '{selection.text}'", file=sys.stderr)
        return 2
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
