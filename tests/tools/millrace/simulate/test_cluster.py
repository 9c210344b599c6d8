"""Seeds over a Dask cluster: a scheduler and two workers on this machine."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]
DASK = Path(sys.executable).with_name("dask")


class Cluster:
    """Each in a session of its own, ended by its id."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self._stack = stack
        self._folder = folder
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}"
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
        self._until("scheduler", "Scheduler at:")
        self.first = self.worker("one")

    def worker(self, name: str) -> subprocess.Popen[bytes]:
        """Has no access to the project."""
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--name", name, "--host", "127.0.0.1")
        child = self._start("worker", self.address, *options, log=name)
        self._until(name, "Registered to:")
        return child

    def _start(self, *arguments: str, log: str = "") -> subprocess.Popen[bytes]:
        with (self._folder / f"{log or arguments[0]}.log").open("wb") as output:
            child = subprocess.Popen(
                [DASK, *arguments], cwd=self._folder, stdout=output, stderr=output, start_new_session=True
            )
        self._stack.callback(_end, child)
        return child

    def _until(self, log: str, text: str) -> None:
        deadline = time.monotonic() + 120
        while text not in (said := (self._folder / f"{log}.log").read_text()):
            assert time.monotonic() < deadline, said
            time.sleep(0.05)


def _end(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with ExitStack() as stack:
        yield Cluster(stack, tmp_path_factory.mktemp("cluster"))


def kept(tmp_path: Path) -> list[int]:
    with sqlite3.connect(tmp_path / "ledger.sqlite") as ledger:
        return [seed for (seed,) in ledger.execute("SELECT seed FROM seed ORDER BY seed")]


def test_misbehaviour_on_a_worker(cluster: Cluster, simulate: Command) -> None:
    done = simulate("run", "mixed", "--seeds", "6..29", "--scheduler", cluster.address)
    assert done.returncode == 1, done.stderr
    assert "1 seed: balance is #\n" in done.stdout
    assert "24 seeds of mixed: 5 failed of 5 signatures" in done.stdout


def test_a_worker_that_is_killed_loses_no_seed(cluster: Cluster, simulate: Command, tmp_path: Path) -> None:
    victim = cluster.worker("two")
    line = ["run", "slow", "--seeds", "0..299", "--scheduler", cluster.address]
    with ExitStack() as stack:
        running = stack.enter_context(ThreadPoolExecutor(1)).submit(simulate, *line)
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and not _children(victim.pid):
            time.sleep(0.02)
        assert _children(victim.pid), "it had work"
        os.killpg(victim.pid, signal.SIGKILL)
        done = running.result()
    assert done.returncode == 0, done.stderr
    assert kept(tmp_path) == list(range(300))


def _children(pid: int) -> str:
    found = ""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        found += (thread / "children").read_text()
    return found


def test_the_end_of_a_run_ends_what_workers_do(cluster: Cluster, simulate: Command) -> None:
    """Seed 3 fails, and 5, which would hang for a minute, is in the next batch."""
    done = simulate("run", "mixed", "--seeds", "3..10", "--max-failures", "1", "--scheduler", cluster.address)
    assert done.returncode == 1, done.stderr
    assert "1 seed: killed by SIGABRT: assertion failed" in done.stdout
    deadline = time.monotonic() + 20
    while _children(cluster.first.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _children(cluster.first.pid)


def test_a_program_that_the_worker_cannot_run(cluster: Cluster, simulate: Command, fake: Path) -> None:
    """It runs here, with a path that is reported to lead elsewhere."""
    here = fake.with_name("here")
    here.write_text(f'#!/bin/sh\nif [ "$1" = --list ]; then {fake} --list; rm {here}; fi\n')
    here.chmod(0o755)
    done = simulate("run", "good", "--seeds", "0..9", "--scheduler", cluster.address, program=here)
    assert done.returncode != 0
    assert f"cannot run {here}: No such file or directory" in done.stderr


def test_nobody_there(simulate: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    began = time.monotonic()
    done = simulate("run", "good", "--seeds", "0..9", "--scheduler", f"tcp://127.0.0.1:{port}")
    assert done.returncode == 2
    assert done.stderr.startswith(f"cannot reach a scheduler at tcp://127.0.0.1:{port}: ")
    assert time.monotonic() - began < 120


def test_a_scheduler_that_dies(simulate: Command, tmp_path: Path) -> None:
    """What was found by then is printed, and kept."""
    simulate("run", "good", "--seeds", "0")  # so that there is a ledger
    with ExitStack() as stack:
        cluster = Cluster(stack, tmp_path)
        line = ["run", "slowly-bad", "--seeds", "0..9999", "--keep-going", "--scheduler", cluster.address]
        running = stack.enter_context(ThreadPoolExecutor(1)).submit(simulate, *line)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and len(kept(tmp_path)) < 2:
            time.sleep(0.1)
        _end(cluster.scheduler)
        done = running.result()
    assert done.returncode == 2, done.stderr
    assert "seeds: lost # records\n" in done.stdout
    *progress, last = done.stderr.splitlines()  # a line each ten seconds, if it takes that long
    assert last == f"millrace simulate: the connection to the scheduler at {cluster.address} is lost"
    assert all(line.startswith("seeds of slowly-bad: ") for line in progress)
