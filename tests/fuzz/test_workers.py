"""The fuzzers' processes end at a signal, whatever they are doing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from fuzzlib.workers import WorkerError, unordered

TOOLS = Path(__file__).resolve().parents[2] / "tools"

# A campaign with long work, and with processes that have children. Both hold the standard output, so
# that it has an end only when all are gone.
ENDLESS = f"""
import os, subprocess, sys
sys.path[:0] = [{str(TOOLS)!r}, {str(TOOLS.parent / "actorc")!r}, {str(TOOLS.parent / "tests")!r}]
from millrace.common.process import interrupt_on_terminate
from fuzzlib import campaign, programs_command

def work(task):
    os.write(1, b"working\\n")  # in one piece, or two lines mix: print() writes two where PYTHONUNBUFFERED is set
    subprocess.run(["sleep", "100"])

interrupt_on_terminate()
campaign._prepare = lambda name: None
campaign._work = work
sys.exit(programs_command.fuzz_programs(1, range(1000), 2, ["clang"], ("coroutine",)))
"""


def double(number: int) -> int:
    return 2 * number


def test_all_is_done() -> None:
    assert sorted(unordered(double, range(100), 3)) == [2 * number for number in range(100)]
    assert list(unordered(double, [], 3)) == []


def test_closing_ends_the_processes_and_what_they_started() -> None:
    ours, theirs = os.pipe()

    def work(number: int) -> int:
        child = subprocess.Popen(["sleep", "1000"], pass_fds=[theirs])
        return child.wait() if number else child.pid

    with closing(unordered(work, [0, 1, 2], 2)) as results:
        assert next(results) > 0
    os.close(theirs)
    assert os.read(ours, 1) == b""  # the end: no process holds the other end
    os.close(ours)


def test_a_process_that_dies_is_told_of() -> None:
    with pytest.raises(WorkerError, match="a process ended with exit code -9 in 7"):
        list(unordered(lambda _: os.kill(os.getpid(), signal.SIGKILL), [7], 1))


def test_an_exception_is_told_of() -> None:
    with pytest.raises(WorkerError, match=r"(?s)in 0\n.*ZeroDivisionError"):
        list(unordered(lambda number: 1 // number, [1, 0], 1))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_campaign(number: signal.Signals) -> None:
    command = [sys.executable, "-c", ENDLESS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as campaign:
        try:
            assert campaign.stdout is not None
            assert [campaign.stdout.readline() for _ in range(2)] == ["working\n"] * 2
            campaign.send_signal(number)
            out, err = campaign.communicate()
        finally:
            campaign.kill()
    assert (out, campaign.returncode) == ("", 130)
    assert err == "tools/fuzz: interrupted after 0 programs, 0 with a difference\n"
