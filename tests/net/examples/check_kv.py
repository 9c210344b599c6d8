"""Kills servers of the replicated store, and looks for all that was acknowledged: check_kv.py PROGRAM [SECONDS]."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))

from clusterlib.servers import Server, cluster
from common.ports import free_ports

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = Path(sys.argv[1]).absolute()
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 3.0  # of kills
SERVERS = 3
WRITERS = 3
PATIENCE = 60.0  # seconds for one reply
LARGE = 100  # values of LARGE_BYTES
LARGE_BYTES = 64 * 1024
MOST_MEMORY = 64  # MiB


class Client:
    """`kv ask` as a process."""

    def __init__(self, child: subprocess.Popen[str]) -> None:
        self._child = child

    def ask(self, request: str) -> str:
        assert self._child.stdin and self._child.stdout
        overdue = threading.Timer(PATIENCE, self._child.kill)
        overdue.start()
        self._child.stdin.write(f"{request}\n")
        self._child.stdin.flush()
        reply = self._child.stdout.readline().rstrip("\n")
        overdue.cancel()
        assert reply, f"no reply to '{request}'"
        return reply


@contextmanager
def client(addresses: str) -> Iterator[Client]:
    command = [str(PROGRAM), "ask", addresses]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        try:
            yield Client(child)
            assert child.stdin
            child.stdin.close()
            assert child.wait(PATIENCE) == 0
        finally:
            child.kill()


class Writer(threading.Thread):
    """Writes numbers, one after the other, each to a key of its own and to one that it replaces each time."""

    def __init__(self, number: int, addresses: str, over: threading.Event) -> None:
        super().__init__()
        self.number = number
        self.acknowledged = 0
        self.error: BaseException | None = None
        self._addresses = addresses
        self._over = over

    def run(self) -> None:
        try:
            with client(self._addresses) as store:
                assert store.ask(f"put last{self.number} 0") == "OK"
                while not self._over.is_set():
                    following = self.acknowledged + 1
                    assert store.ask(f"put key{self.number}.{following} value {following}") == "OK"
                    # Executed once, whatever happened to it: a second time would find another value.
                    reply = store.ask(f"replace last{self.number} {following - 1} {following}")
                    assert reply == "OK", f"{reply} to a replacement of {following - 1}"
                    self.acknowledged = following
        except BaseException as error:
            self.error = error


def questions_of_the_page() -> list[tuple[str, str]]:
    page = (ROOT / "net" / "docs" / "rpc.md").read_text(encoding="utf-8")
    lines = page.split("/kv ask ")[1].split("```")[0].splitlines()[1:]
    assert len(lines) == 4
    return list(zip(lines[::2], lines[1::2], strict=True))


def check_requests(addresses: str) -> None:
    with client(addresses) as store:
        assert store.ask("get colour") == "NONE"
        for asked, answer in questions_of_the_page():
            assert store.ask(asked) == answer
        assert store.ask("put size 3") == "OK"
        assert store.ask("replace size 4 5") == "DIFFERENT"
        assert store.ask("replace size 3 5") == "OK"
        assert store.ask("get size") == "VALUE 5"
        assert store.ask("remove size") == "OK"
        assert store.ask("get size") == "NONE"
        assert store.ask("pop size").startswith("ERROR ")
        assert store.ask(f"put large {'v' * (1 << 20)}").startswith("ERROR ")


def kill_some(servers: list[Server]) -> int:
    """One at a time, most often the leader, and sometimes all. Returns how many."""
    dice = random.Random(1)
    kills = 0
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        time.sleep(0.2 + 0.4 * dice.random())
        leaders = [each for each in servers if each.state == "leader"]
        chosen = servers if dice.random() < 0.15 else [dice.choice(leaders or servers)]
        if dice.random() < 0.3:
            chosen = [dice.choice(servers)]
        for server in chosen:
            server.kill()
        kills += len(chosen)
        time.sleep(0.2 * dice.random())
        for server in chosen:
            server.start()
        for server in chosen:
            server.await_start()
    return kills


def memory(server: Server) -> int:
    """The most that it has had, in MiB."""
    status = Path(f"/proc/{server.pid}/status").read_text(encoding="utf-8")
    return int(re.search(r"VmHWM:\s*(\d+)", status)[1]) // 1024  # type: ignore[index]


def check_stopped_follower(servers: list[Server], addresses: str) -> None:
    """What a server queues for one that reads nothing is bounded. Without that the leader would grow by 400 MiB, since
    it sends the last entries again with each new one."""
    with client(addresses) as store:
        leader = next(each for each in servers if each.state == "leader")
        stopped = next(each for each in servers if each is not leader)
        before = memory(leader)
        os.kill(stopped.pid or 0, signal.SIGSTOP)
        try:
            for number in range(LARGE):
                assert store.ask(f"put large {number}{'v' * LARGE_BYTES}") == "OK"
            grown = memory(leader) - before
        finally:
            os.kill(stopped.pid or 0, signal.SIGCONT)
        assert grown < MOST_MEMORY, f"the leader has grown by {grown} MiB"
        assert store.ask("get large") == f"VALUE {LARGE - 1}{'v' * LARGE_BYTES}"


def check_all(writers: list[Writer], addresses: str) -> None:
    with client(addresses) as store:
        for writer in writers:
            last = int(store.ask(f"get last{writer.number}").removeprefix("VALUE "))
            assert last in (writer.acknowledged, writer.acknowledged + 1), (last, writer.acknowledged)
            for number in range(1, writer.acknowledged + 1):
                reply = store.ask(f"get key{writer.number}.{number}")
                assert reply == f"VALUE value {number}", f"number {number} of writer {writer.number}: {reply}"


def check_arguments(directory: Path) -> None:
    at = "127.0.0.1:1"
    for wrong in ([], ["serve", "0", str(directory)], ["serve", "1", str(directory), at], ["ask", "nowhere"], ["sing"]):
        done = subprocess.run([PROGRAM, *wrong], capture_output=True, text=True, check=False, timeout=PATIENCE)
        assert done.returncode == 2, done
        assert done.stderr.count("\n") == 1, done


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        directory = Path(folder)
        check_arguments(directory)
        servers, addresses = stack.enter_context(cluster(PROGRAM, directory, free_ports(SERVERS)))
        check_requests(addresses)
        check_stopped_follower(servers, addresses)
        over = threading.Event()
        writers = [Writer(number, addresses, over) for number in range(WRITERS)]
        for writer in writers:
            writer.start()
        try:
            kills = kill_some(servers)
        finally:
            over.set()
            for writer in writers:
                writer.join()
        for writer in writers:
            if writer.error:
                raise writer.error
        for server in servers:
            server.kill()
        for server in servers:
            server.start()
        check_all(writers, addresses)
        for server in servers:
            assert server.stop() == 0, server.lines
        print(f"{sum(writer.acknowledged for writer in writers)} acknowledged writes are there after {kills} kills")


main()
