"""Servers of net/examples/kv.cpp as processes, and what they print."""

from __future__ import annotations

import re
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from common.tree import ROOT
from millrace.common.failure import Failure
from millrace.common.process import ending, running, stop

_TERM = re.compile(r"\bterm (\d+)")
_COUNT = re.compile(r"(?:recovered|executed) (\d+) entries")
_SECONDS = 30.0  # for a server to begin to listen
_MOST_LINES = 20  # that are kept

OnLine = Callable[[int, str], None]


class Server:
    """One server, which may be started more than once. Each printed line goes to `on_line`, in another thread."""

    def __init__(self, number: int, command: Sequence[str], on_line: OnLine) -> None:
        self.number = number
        self.lives = 0
        self.state = "ended"
        self.term = 0
        self.entries = 0
        self.lines: list[str] = []
        self._command = command
        self._on_line = on_line
        self._listens = threading.Event()
        self._own = ExitStack()
        self._child: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None

    @property
    def pid(self) -> int | None:
        return self._child.pid if self._child else None

    def start(self) -> None:
        self.lives += 1
        self.state = "starts"
        self._listens.clear()
        try:
            child = self._own.enter_context(running(self._command, ROOT, None, subprocess.PIPE))
        except OSError as error:
            raise Failure(f"cannot run {self._command[0]}: {error.strerror}") from error
        self._child = child
        self._reader = threading.Thread(target=self._read, args=(child,), daemon=True)
        self._reader.start()

    def await_start(self) -> None:
        """Until it listens. Raises a Failure if it ends instead."""
        if not self._listens.wait(_SECONDS) or self.code() is not None:
            said = "\n".join(self.lines)
            code = self.code()
            how = "it does not listen" if code is None else ending(code)
            raise Failure(f"server {self.number}: {how}\n{said}".rstrip())

    def code(self) -> int | None:
        """None: it runs, or has never been started."""
        return self._child.poll() if self._child else None

    def kill(self) -> None:
        """With SIGKILL, at once."""
        if self._child:
            self._child.send_signal(signal.SIGKILL)
            self._end()

    def stop(self) -> int | None:
        """With SIGTERM. Returns its exit code."""
        if not self._child:
            return None
        stop(self._child)
        return self._end()

    def reap(self) -> int | None:
        """The exit code of a server that has ended by itself since it was started; else None."""
        return self._end() if self.code() is not None else None

    def _end(self) -> int:
        assert self._child and self._reader
        code = self._child.wait()
        self._reader.join()
        self._own.close()
        self._child = None
        self.state = "ended"
        return code

    def _read(self, child: subprocess.Popen[str]) -> None:
        assert child.stdout
        for line in child.stdout:
            self._note(line.rstrip("\n"))
        child.wait()  # what has closed its output may not have ended yet
        self._listens.set()  # its end is known: there is nothing to wait for

    def _note(self, line: str) -> None:
        self.lines = [*self.lines[1 - _MOST_LINES :], line]
        if found := _TERM.search(line):
            self.term = int(found[1])
        if found := _COUNT.match(line):
            self.entries = int(found[1])
        if line.startswith("leader of"):
            self.state = "leader"
        elif line.startswith("no leader") or (line.startswith("listening") and self.state == "starts"):
            self.state = "follower"
        if line.startswith("listening"):
            self._listens.set()
        self._on_line(self.number, line)


@contextmanager
def cluster(
    program: Path, directory: Path, ports: Sequence[int], on_line: OnLine = lambda _number, _line: None
) -> Iterator[tuple[list[Server], str]]:
    """Started servers, which listen, and their addresses as the program takes them. At the end they are stopped."""
    addresses = ",".join(f"127.0.0.1:{port}" for port in ports)
    servers = [
        Server(number, [str(program), "serve", str(number), str(directory / f"server{number}"), addresses], on_line)
        for number in range(len(ports))
    ]
    with ExitStack() as stack:
        for server in servers:
            stack.callback(server.stop)
            server.start()
        for server in servers:
            server.await_start()
        yield servers, addresses
