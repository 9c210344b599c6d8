"""check_mutants.py takes nothing for found but what the program says of a seed; plant.py knows the sources."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CHECK = Path(__file__).resolve().parents[1] / "sim" / "check_mutants.py"
PLANT = CHECK.with_name("plant.py")
PROGRAM = """#!/bin/sh
echo '{"begin":0}'
[ "$MILLRACE_MUTANT" = LostWakeUp ] && exec sleep 60
[ "$MILLRACE_MUTANT" = VoteTwice ] && exit 2
failure=null
[ "$MILLRACE_MUTANT" = LateTimer ] && failure='{"signature":"lost","text":"lost"}'
echo '{"seed":0,"digest":"d","events":1,"seconds":1,"faults":{},"probes":[],"failure":'$failure'}'
[ $failure = null ]
"""


def test_the_places_of_the_planted_faults_are_there() -> None:
    files = subprocess.run([sys.executable, PLANT, "--files"], capture_output=True, text=True, check=True).stdout
    script = "import sys, plant; [plant.copy_of(each) for each in sys.argv[1:]]"
    done = subprocess.run(
        [sys.executable, "-c", script, *files.strip().split(";")],
        cwd=PLANT.parent,
        env={"PYTHONPATH": f"{PLANT.parent}:{PLANT.parents[2] / 'tools'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "mutants"
    path.write_text(PROGRAM)
    path.chmod(0o755)
    return path


def check(program: Path, *options: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, CHECK, program, "--seeds", "1", *options]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)


def test_hung_and_died_are_not_found(program: Path) -> None:
    done = check(program, "--only", "LateTimer", "StaleRead", "VoteTwice", "--share", "34")
    assert done.returncode == 1, done.stderr
    assert done.stdout.endswith(
        "found 1 of 3, 33.3 %, within 1 seeds; missed: StaleRead; hung: none; died: VoteTwice; without: none\n"
    )
    assert check(program, "--only", "LateTimer", "StaleRead", "VoteTwice", "--share", "33").returncode == 0
    done = check(program, "--only", "LostWakeUp", "--timeout", "0.5")
    assert done.returncode == 1, done.stderr
    assert done.stdout.endswith(
        "found 0 of 1, 0.0 %, within 1 seeds; missed: none; hung: LostWakeUp; died: none; without: none\n"
    )


def test_a_seed_that_fails_without_the_fault_finds_nothing(program: Path) -> None:
    program.write_text(PROGRAM.replace("failure=null\n", """failure='{"signature":"lost","text":"lost"}'\n"""))
    done = check(program, "--only", "LateTimer", "--share", "1")
    assert done.returncode == 1, done.stderr
    assert done.stdout.endswith("missed: none; hung: none; died: none; without: LateTimer\n")


def test_an_unknown_mutant_is_refused(program: Path) -> None:
    done = check(program, "--only", "LateTime")
    assert done.returncode == 2
    assert "there is no mutant 'LateTime'; did you mean LateTimer" in done.stderr
