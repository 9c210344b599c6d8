"""Which tests tools/test runs when it is asked for some folders."""

import subprocess
import sys
from pathlib import Path

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
