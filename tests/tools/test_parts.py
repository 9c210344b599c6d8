"""Which tests tools/test runs when it is asked for some parts or folders, and the times that it tells."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from common.counts import Counts
from millrace.common.console import plain
from testlib import times
from testlib.parts import OTHERS, PARTS, USUAL, Execution, Run, Step, steps_of
from testlib.runs import MARKS, Outcome, belongs_to
from testlib.selection import Selection

ROOT = Path(__file__).resolve().parents[2]


def tool(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "tools" / "test.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "there is no folder tests/nothing"),
        (["flow", "../flow"], "there is no folder tests/../flow"),
        (["--fast", "programs"], "nothing runs of tests/programs with these options"),
        (["--only", "gcc,gc"], f"there is no part 'gc'; there are {', '.join(PARTS)}"),
    ],
)
def test_what_is_not_there(arguments: list[str], message: str) -> None:
    done = tool(*arguments)
    assert done.returncode == 2
    assert done.stderr.rstrip().endswith(message)


def test_a_folder_that_has_python_tests_only(tmp_path: Path) -> None:
    done = tool("--only", "pages", "tools/common", "--filter", "named_nowhere", "--times", str(tmp_path / "times"))
    assert "Python tests pages: 0 passed, 0 failed" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 2
    assert done.stderr == "tools/test: no test matches 'named_nowhere'\n"
    assert re.search(r"^[0-9.]+\tPython tests pages\t$", (tmp_path / "times").read_text(), re.MULTILINE)


def test_help_lists_each_part() -> None:
    shown = tool("--help").stdout
    for name, part in PARTS.items():
        assert re.search(rf"^  {name} +{part.minutes}  {re.escape(part.what)}$", shown, re.MULTILINE)


def names(*parts: str, folders: tuple[str, ...] = ()) -> list[str]:
    return [step.name for step in steps_of(Selection(parts, folders=folders))]


def test_a_preset_is_built_once_before_its_first_run_with_all_that_is_needed() -> None:
    steps = steps_of(Selection(tuple(part.name for part in USUAL)))
    (build,) = (step for step in steps if step.run is None)
    assert build.targets == ("flow_tests", "millrace_libraries", "test_programs")
    found = [step.name for step in steps]
    assert found.index("build tests") < found.index("unit tests tests") < found.index("Python tests")
    assert names("gcc", "tsan", folders=("net",))[:2] == ["build gcc-checked", "unit tests gcc-checked"]
    assert names("gcc", folders=("flow/combine",)) == ["build gcc-checked", "unit tests gcc-checked"]
    assert names("programs", "sources", folders=("flow/combine",)) == []


def test_every_python_test_belongs_to_one_part() -> None:
    """The marks in the order of MARKS: a test belongs to the first that it has."""
    everything = Selection(tuple(PARTS))
    assert belongs_to("", everything) == " and ".join(f"not {mark}" for mark in MARKS)
    assert [belongs_to(mark, everything) for mark in MARKS[:2]] == [MARKS[0], f"{MARKS[1]} and not {MARKS[0]}"]
    ran = {run.name for part in (*USUAL, *OTHERS) for run in part.runs}
    assert {"Python tests", *(f"Python tests {mark}" for mark in MARKS)} <= ran
    assert belongs_to("", Selection(("python",), folders=("install",), is_fast=True)) == "not long and not slow"


def test_nothing_is_run_after_a_build_that_failed(tmp_path: Path) -> None:
    run = Run("some tests", lambda _: Outcome(Counts(3, 0)), lambda _: True, (("no-preset", "all"),))
    execution = Execution(Selection(()), plain())
    assert execution.outcome(Step("some tests", run)).counts == Counts(3, 0)
    assert execution.outcome(Step("build", preset="no-preset", targets=("all",))).counts == Counts(0, 1)
    assert execution.outcome(Step("some tests", run)).counts == Counts(0, 1)


def test_times_are_kept_for_what_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(times, "LAST", tmp_path / "build" / "times.json")
    nothing = "1 step; never run with these arguments, so the time is not known"
    assert times.expectation(["pytest"], "unit") == nothing
    times.note_time("pytest", "unit flow", 120)
    assert times.expectation(["pytest"], "unit") == nothing
    times.note_time("pytest", "unit", 540)
    assert times.expectation(["pytest"], "unit") == "1 step; 1 of them took 9.0 min when they were last run"
    assert times.expectation(["build", "pytest"], "unit flow") == (
        "2 steps; 1 of them took 2.0 min when they were last run"
    )


def test_the_time_of_a_step_is_shared_out(tmp_path: Path) -> None:
    made = ["0\t9000\t100e9\told.o\t1", "0\t1000\t500e9\ta.o\t1", "500\t3500\t600e9\tb.o\t1"]
    text = "\n".join(["# ninja log v5", *made]).replace("e9", 9 * "0")
    (tmp_path / ".ninja_log").write_text(text, encoding="utf-8")
    shares = times.of_build(tmp_path, 400.0)
    assert shares == {"a.o": 1.0, "b.o": 3.0}
    assert times.table({"build": (2.0, shares), "tests": (7.0, {})}) == (
        "2.0\tbuild\t\n7.0\ttests\t\n1.5\tbuild\tb.o\n0.5\tbuild\ta.o\n"
    )
