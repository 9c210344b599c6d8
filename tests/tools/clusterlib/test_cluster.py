"""tools/cluster, with a server that is played by a few lines. The real one: tests/net/examples/check_kv.py."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from clusterlib import kv_command
from clusterlib.servers import cluster
from millrace.common.arguments import UsageError
from millrace.common.console import plain
from millrace.common.failure import Failure

SERVER = """#!/bin/sh
echo "recovered 3 entries, term 7"
[ -e "$0.broken" ] && echo "the port is taken" && exec >&- 2>&- && sleep 0.2 && exit 1
[ $2 = 1 ] && echo "leader of term 8" && echo "executed 1200 entries"
echo "listening at there"
trap 'exit 0' TERM
while :; do sleep 0.05; done
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "kv"
    path.write_text(SERVER)
    path.chmod(0o755)
    return path


def await_line(lines: list[str], line: str) -> None:
    deadline = time.monotonic() + 20
    while line not in lines:
        assert time.monotonic() < deadline, lines
        time.sleep(0.01)


def test_servers_are_started_watched_and_stopped(program: Path, tmp_path: Path) -> None:
    said: list[str] = []
    with cluster(program, tmp_path, [4500, 4501], lambda number, line: said.append(f"{number}: {line}")) as (
        servers,
        addresses,
    ):
        assert addresses == "127.0.0.1:4500,127.0.0.1:4501"
        await_line(said, "1: executed 1200 entries")
        assert [(each.state, each.term, each.entries) for each in servers] == [("follower", 7, 3), ("leader", 8, 1200)]
        out = plain(width=200, no_color=True)
        with out.capture() as text:
            out.print(kv_command.table(servers, [4500, 4501], plain=True))
        assert "1,200" in text.get() and "leader" in text.get()
        pids = [each.pid for each in servers]
        servers[0].kill()
        assert servers[0].state == "ended" and servers[0].pid is None
        assert servers[1].pid
        os.kill(servers[1].pid, signal.SIGKILL)
        while servers[1].code() is None:
            time.sleep(0.01)
        assert servers[1].reap() == -signal.SIGKILL
        servers[1].start()
        servers[1].await_start()
        assert servers[1].lives == 2
        pids.append(servers[1].pid)
    for pid in pids:
        assert pid
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_a_server_that_cannot_start_is_a_failure(program: Path, tmp_path: Path) -> None:
    program.with_suffix(".broken").touch()
    with (
        pytest.raises(Failure, match=r"server 0: exit code 1\n(.*\n)*the port is taken"),
        cluster(program, tmp_path, [4500]),
    ):
        pass


def test_the_command_prints_what_servers_say(program: Path, tmp_path: Path) -> None:
    out = plain(width=200, no_color=True)
    with out.capture() as text:
        arguments = ["--program", str(program), "--processes", "2", "--port", "4500", "--seconds", "0.3"]
        assert kv_command.main([*arguments, "--directory", str(tmp_path / "data")], plain(stderr=True), out) == 0
    assert "1: leader of term 8" in text.get()
    assert f"{program} ask 127.0.0.1:4500,127.0.0.1:4501" in text.get()


@pytest.mark.parametrize("wrong", [["--processes", "0"], ["--port", "65535"], ["--seconds", "-1"], ["more"]])
def test_wrong_arguments(wrong: list[str]) -> None:
    with pytest.raises(UsageError):
        kv_command.main(wrong, plain(stderr=True), plain())
