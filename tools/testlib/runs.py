"""The kinds of tests: checks of sources, unit tests, programs that ctest starts, Python tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from common.build import binary_dir
from common.counts import Counts, doctest, junit
from common.tree import ROOT
from millrace.common.process import side_by_side, stream
from millrace.common.sanitizer import SANITIZER
from testlib.selection import TESTS, Selection
from testlib.times import of_tests

URING = {**SANITIZER, "FLOW_POLLER": "uring"}
# Several processes, since some test cases take long.
PROCESSES = (os.cpu_count() or 1) + 1  # one more than processors, since tests also wait
PARTS_PER_PROCESS = 4
# Labels of the programs that are no part of the one named `programs`.
APART = ("levels", "migrated", "mutants", "h2spec", "http-peers", "postgres", "soak")
CHECKED_PYTHON = ("actorc", "tools", "tests")
# The marks of Python tests that other parts run than the one named `python`. A test belongs to the first that it has.
MARKS = ("long", "gcc", "pages", "install")


# A preset, and a target that is built with it.
Need = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Outcome:
    """`shares`: of its processor time, by the names of files."""

    counts: Counts
    output: str = ""
    shares: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Run:
    """`needs`: what is built first. `fits`: whether it has tests of a selection."""

    name: str
    call: Callable[[Selection], Outcome]
    fits: Callable[[Selection], bool]
    needs: tuple[Need, ...] = ()


# -------------------------------------------------------------------------------------------------------------------
# Checks of sources


def command(*arguments: str | Path) -> Outcome:
    """A check that is one command: it passes if the exit code is 0."""
    lines: list[str] = []
    code = stream(arguments, lines.append, cwd=ROOT)
    return Outcome(Counts(0, 1) if code else Counts(1, 0), "\n".join(lines))


def check(name: str, call: Callable[[], Outcome], *needs: Need) -> Run:
    return Run(name, lambda _: call(), lambda selection: not selection.folders and selection.text in name, needs)


def python(name: str, *arguments: str, needs: Sequence[Need] = ()) -> Run:
    return check(name, lambda: command(sys.executable, *arguments), *needs)


def clang_format() -> Outcome:
    # Actor files are not C++ to clang-format.
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.h", "*.cpp"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    files = [name for name in names if ".actor." not in name and (ROOT / name).exists()]
    return command("clang-format-19", "--dry-run", "-Werror", *files) if files else Outcome(Counts())


def source_checks() -> tuple[Run, ...]:
    """Seconds in all."""
    return (
        python("ruff", "-m", "ruff", "check", "--no-cache", *CHECKED_PYTHON),
        python("ruff format", "-m", "ruff", "format", "--check", *CHECKED_PYTHON),
        python("mypy", "-m", "mypy"),
        check("clang-format", clang_format),
        python("tidy", "tools/tidy.py"),
    )


# -------------------------------------------------------------------------------------------------------------------
# Unit tests


def unit_tests(preset: str) -> Run:
    return Run(
        f"unit tests {preset}",
        lambda selection: run_doctest(preset, selection, selection.unit_tests(), SANITIZER),
        lambda selection: not selection.folders or bool(selection.unit_tests()),
        ((preset, "flow_tests"),),
    )


def unit_tests_with_uring(preset: str) -> Run:
    """Those of the network, with the other poller."""
    return Run(
        f"unit tests {preset} with io_uring",
        partial(run_with_uring, preset),
        lambda selection: not selection.folders or bool(selection.of_network()),
        ((preset, "flow_tests"),),
    )


def run_with_uring(preset: str, selection: Selection) -> Outcome:
    cache = (binary_dir(preset) / "CMakeCache.txt").read_text(encoding="utf-8")
    if "MILLRACE_HAS_URING:INTERNAL=1" not in cache:
        return Outcome(Counts(), "this kernel does not let a program use io_uring")
    return run_doctest(preset, selection, selection.of_network() or ["net"], URING)


def run_doctest(preset: str, selection: Selection, folders: Sequence[str], variables: dict[str, str]) -> Outcome:
    """In several processes at a time, each with a part of the test cases."""
    program = binary_dir(preset) / "tests" / "flow_tests"
    chosen = [f"--test-case=*{selection.text.replace(',', '?')}*"] if selection.text else []
    if folders:
        chosen.append("--source-file=" + ",".join(f"*/tests/{each}/*" for each in folders))
    command: list[str | Path] = [program, "--no-colors=true", *chosen]
    listing = subprocess.run([*command, "--count"], capture_output=True, text=True, check=False)
    if (found := re.search(r"passing the current filters: (\d+)", listing.stdout)) is None:
        return Outcome(Counts(0, 1), listing.stdout + listing.stderr)
    total = int(found[1])
    size = max(1, -(-total // (PROCESSES * PARTS_PER_PROCESS)))
    starts = range(1, total + 1, size)
    commands = [["timeout", "600", *command, f"--first={start}", f"--last={start + size - 1}"] for start in starts]
    outcomes: list[Outcome] = []

    def note(index: int, code: int, output: str) -> None:
        counts = doctest(output)
        if counts.passed:  # doctest counts those as passed that are in other parts
            counts = Counts(min(size, total - index * size) - counts.failed, counts.failed)
        outcomes.append(Outcome(counts.with_exit_code(code), output if code else ""))

    side_by_side(commands, PROCESSES, note, variables, ROOT)
    return Outcome(sum((each.counts for each in outcomes), Counts()), "\n".join(each.output for each in outcomes))


# -------------------------------------------------------------------------------------------------------------------
# Programs


def programs(preset: str, label: str = "") -> Run:
    """Those with the label, or those with none of APART."""
    return Run(
        f"{label or 'programs'} {preset}",
        partial(run_programs, preset, label),
        lambda selection: not selection.folders or bool(selection.with_programs()),
        ((preset, f"{label}_programs" if label else "test_programs"),),
    )


def run_programs(preset: str, label: str, selection: Selection) -> Outcome:
    chosen = ["--tests-regex", re.escape(selection.text)] if selection.text else []
    chosen += ["--label-regex", f"^{label}$"] if label else ["--label-exclude", f"^({'|'.join(APART)})$"]
    if selection.folders:
        chosen += ["--label-regex", f"^({'|'.join(selection.with_programs())})$"]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        lines: list[str] = []
        arguments = ["--test-dir", str(binary_dir(preset)), "--output-on-failure", "--output-junit", str(report)]
        arguments += ["--parallel", str(PROCESSES), "--exclude-regex", "^flow_tests", *chosen]
        code = stream(["ctest", *arguments], lines.append, ROOT, SANITIZER)
        counts = junit(report).with_exit_code(code)
    return Outcome(counts, "\n".join(lines))


# -------------------------------------------------------------------------------------------------------------------
# Python tests


def python_tests(mark: str = "", *needs: Need) -> Run:
    """Those that belong to this mark, or to none."""
    return Run(
        f"Python tests {mark}".rstrip(),
        partial(run_pytest, mark),
        lambda selection: not selection.folders or bool(selection.python_tests()),
        needs,
    )


def belongs_to(mark: str, selection: Selection) -> str:
    """An expression of pytest's. Who asks for tests by folder or name means them all, but those that take long."""
    if not mark and not selection.is_everything():
        words = ["not long"]
    else:
        before = MARKS[: MARKS.index(mark)] if mark else MARKS
        words = [*([mark] if mark else []), *(f"not {each}" for each in before)]
    return " and ".join([*words, *(["not slow"] if selection.is_fast else [])])


def run_pytest(mark: str, selection: Selection) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        report, times = Path(folder) / "report.xml", Path(folder) / "times"
        lines: list[str] = []
        # A file's tests stay together, since they share what the first of them builds. tests/conftest.py orders files.
        parallel = [f"--numprocesses={PROCESSES}", "--dist=loadfile", "--no-loadscope-reorder"]
        arguments = [*parallel, f"--junit-xml={report}", f"--times={times}", "-m", belongs_to(mark, selection)]
        arguments += ["-k", selection.text] if selection.text else []
        folders = [str(TESTS / each) for each in selection.python_tests() or [""]]
        code = stream([sys.executable, "-m", "pytest", "-q", *folders, *arguments], lines.append, ROOT)
        nothing_chosen = code == 5
        counts = Counts() if nothing_chosen else junit(report).with_exit_code(code)
        return Outcome(counts, "\n".join(lines), of_tests(times))
