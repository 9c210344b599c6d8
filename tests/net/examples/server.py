"""What the checks of the programs that serve have in common."""

from __future__ import annotations

import contextlib
import pathlib
import signal
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator


def start(*command: str, folder: pathlib.Path | None = None) -> tuple[subprocess.Popen[str], int]:
    """The server, started in that folder, and the port that it has chosen."""
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder)
    assert server.stdout
    line = server.stdout.readline()
    assert line.startswith("listening at 127.0.0.1:"), line
    return server, int(line.rsplit(":", 1)[1])


@contextlib.contextmanager
def running(*command: str, folder: pathlib.Path | None = None) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """start(), of a server that must end well on SIGTERM."""
    server, port = start(*command, folder=folder)
    try:
        yield server, port
        assert server.poll() is None, f"the server has ended with {server.returncode}"
    finally:
        server.send_signal(signal.SIGTERM)
        code = server.wait(20)
    assert code == 0, f"exit code {code}"


def identity(certificates: pathlib.Path, name: str = "server") -> list[str]:
    """The options that make a program serve over TLS."""
    return ["--cert", str(certificates / f"{name}.pem"), "--key", str(certificates / f"{name}.key")]


def connect_tls(port: int, certificates: pathlib.Path) -> ssl.SSLSocket:
    context = ssl.create_default_context(cafile=str(certificates / "ca.pem"))
    return context.wrap_socket(connect(port), server_hostname="localhost", suppress_ragged_eofs=False)


def s_client(port: int, certificates: pathlib.Path) -> list[str]:
    """OpenSSL's client, which checks the certificate, and prints what the server sends, up to its end."""
    check = ["-CAfile", str(certificates / "ca.pem"), "-verify_return_error", "-verify_hostname", "localhost"]
    return ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-servername", "localhost", "-quiet", *check]


def check_tls_errors(program: str, arguments: list[str], certificates: pathlib.Path) -> None:
    """What a program says of files that it cannot use."""
    own = identity(certificates)
    for options, words in (
        (own[:2], "TLS needs both --cert and --key"),
        (own[2:], "TLS needs both --cert and --key"),
        (own[:3], "a value is expected behind --key"),
        (["--cert", "/nowhere", *own[2:]], "/nowhere"),
        ([*own[:3], str(certificates / "other.key")], "the key does not belong to the certificate"),
        (["--port", "1"], "there is no such option: --port"),
    ):
        done = subprocess.run([program, *arguments, *options], capture_output=True, text=True, timeout=20, check=False)
        assert done.returncode == 2, (options, done)
        assert words in done.stderr, (options, done)


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
