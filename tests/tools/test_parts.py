"""Which tests tools/test runs when it is asked for some folders, and the time that it expects."""

import importlib.util
import itertools
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "test.py"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "there is no folder tests/nothing"),
        (["flow", "../flow"], "there is no folder tests/../flow"),
        (["--fast", "programs"], "programs has no tests that run with these options"),
    ],
)
def test_parts_without_tests(arguments: list[str], message: str) -> None:
    done = subprocess.run([sys.executable, TOOL, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.rstrip().endswith(message)


def test_a_part_that_has_python_tests_only() -> None:
    arguments = ["tools/common", "--filter", "named_nowhere"]
    done = subprocess.run([sys.executable, TOOL, *arguments], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("1 step"), done.stdout + done.stderr
    assert "[1/1] pytest: 0 passed, 0 failed" in done.stdout
    assert done.returncode == 2
    assert done.stderr == "tools/test: no test matches 'named_nowhere'\n"


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """tools/test.py, which has the name of a package of Python's."""
    specification = importlib.util.spec_from_file_location("tools_test", TOOL)
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    monkeypatch.setitem(sys.modules, "tools_test", module)
    specification.loader.exec_module(module)
    module.TIMES = tmp_path / "build" / "times.json"
    return module


def test_a_part_says_nothing_of_the_time_that_all_take(tool: ModuleType) -> None:
    some, everything = tool.Selection(parts=("tools",), is_fast=True), tool.Selection(is_fast=True)
    good = tool.Step("pytest", lambda: tool.Outcome(tool.Counts(1, 0)))
    bad = tool.Step("build", lambda: tool.Outcome(tool.Counts(0, 1)))

    def run(selection: object, minutes: int) -> None:
        clock = itertools.count(0, 60 * minutes)
        tool.time = SimpleNamespace(monotonic=lambda: next(clock))
        tool.run_steps([good, bad], selection)

    nothing = "1 step; never run with these arguments, so the time is not known"
    assert tool.expectation([good], everything) == nothing
    run(some, 2)
    assert tool.expectation([good], everything) == nothing
    run(everything, 9)
    run(some, 3)
    assert tool.expectation([good], everything) == "1 step; 1 of them took 9.0 min when they were last run"
    assert tool.expectation([good, bad], some) == "2 steps; 1 of them took 3.0 min when they were last run"
