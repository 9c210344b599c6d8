"""What the checks of the programs that serve have in common."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def running(*command: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """The server, and the port that it has chosen. It must end well on SIGTERM."""
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout
        line = server.stdout.readline()
        assert line.startswith("listening at 127.0.0.1:"), line
        yield server, int(line.rsplit(":", 1)[1])
        assert server.poll() is None, f"the server has ended with {server.returncode}"
    finally:
        server.send_signal(signal.SIGTERM)
        code = server.wait(20)
    assert code == 0, f"exit code {code}"


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=20)


def receive(client: socket.socket, count: int) -> bytes:
    received = b""
    while len(received) < count:
        piece = client.recv(min(count - len(received), 65536))
        assert piece, f"the server has ended the connection after {received[-200:]!r}"
        received += piece
    return received


def receive_all(client: socket.socket) -> bytes:
    received = b""
    while piece := client.recv(65536):
        received += piece
    return received


def await_that(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def memory_of(process: subprocess.Popen[str]) -> int:
    """Bytes that the process has in memory."""
    with open(f"/proc/{process.pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096
