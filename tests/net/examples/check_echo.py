"""Tests an echo server as a client: check_echo.py PROGRAM [CERTIFICATES].

With a directory that tools/certificates has made, also over TLS.
"""

from __future__ import annotations

import pathlib
import signal
import socket
import struct
import subprocess
import sys
import time

from server import check_tls_errors, connect, connect_tls, identity, receive, running, s_client, start

PROGRAM = sys.argv[1]


def ask(client: socket.socket) -> None:
    for size in (1, 10, 1000, 100_000):
        message = bytes(range(256)) * (size // 256 + 1)
        client.sendall(message[:size])
        assert receive(client, size) == message[:size]


def check_round_trips(port: int) -> None:
    with connect(port) as client:
        ask(client)
        client.shutdown(socket.SHUT_WR)
        assert client.recv(1) == b""


def check_tls(certificates: pathlib.Path) -> None:
    with running(PROGRAM, "0", *identity(certificates)) as (_, port):
        for _ in range(3):
            with connect_tls(port, certificates) as client:
                ask(client)
                client.unwrap().close()  # both sides announce the end
        with connect(port) as silent, connect(port) as noisy:
            noisy.sendall(b"no TLS at all")
            command = [*s_client(port, certificates), "-no_ign_eof"]
            with subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            ) as openssl:
                assert openssl.stdin
                assert openssl.stdout
                for line in (b"hello\n", b"and again\n"):
                    openssl.stdin.write(line)
                    openssl.stdin.flush()
                    assert openssl.stdout.readline() == line
                openssl.stdin.close()
                assert openssl.wait(20) == 0
            silent.shutdown(socket.SHUT_WR)
    check_tls_errors(PROGRAM, ["0"], certificates)


def check_many(port: int) -> None:
    clients = [connect(port) for _ in range(200)]
    for number, client in enumerate(clients):
        client.sendall(str(number).encode())
    for number, client in enumerate(clients):
        assert receive(client, len(str(number))) == str(number).encode()
    for client in clients:
        client.close()


def check_rude(port: int) -> None:
    """A client that resets or never reads does not delay others, and costs bounded memory."""
    for _ in range(50):
        client = connect(port)
        client.sendall(b"x" * 1000)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
    with connect(port) as deaf:
        deaf.setblocking(False)
        sent = 0
        idle_since = time.monotonic()
        while time.monotonic() - idle_since < 0.5 and sent < 200_000_000:
            try:
                sent += deaf.send(b"y" * 65536)
                idle_since = time.monotonic()
            except BlockingIOError:
                time.sleep(0.01)
        assert sent < 100_000_000, f"the server has taken {sent} bytes from a client that reads nothing"
        check_round_trips(port)


def check_end(number: signal.Signals, idle: bool) -> None:
    server, port = start(PROGRAM, "0")
    client = connect(port) if idle else None
    if client:
        client.sendall(b"here")
        receive(client, 4)
    server.send_signal(number)
    assert server.wait(20) == 0, f"exit code {server.returncode} after {number.name}"
    if client:
        assert client.recv(1) == b""
        client.close()


def main() -> None:
    server, port = start(PROGRAM, "0")
    try:
        check_round_trips(port)
        check_many(port)
        check_rude(port)
        assert server.poll() is None, "the server has ended"
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(20)
    assert server.returncode == 0, f"exit code {server.returncode}"
    for number in (signal.SIGTERM, signal.SIGINT):
        for idle in (False, True):
            check_end(number, idle)
    if len(sys.argv) > 2:
        check_tls(pathlib.Path(sys.argv[2]))
    assert subprocess.run([PROGRAM, "70000"], stderr=subprocess.DEVNULL).returncode == 2


main()
