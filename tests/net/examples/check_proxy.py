"""Connects through the proxy as its users do: check_proxy.py PROGRAM."""

from __future__ import annotations

import contextlib
import errno
import socket
import struct
import subprocess
import sys
import threading

from server import connect, memory_of, receive, receive_all, running

PROGRAM = sys.argv[1]


def reset(client: socket.socket) -> None:
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


def check_both_ways(port: int, behind: socket.socket) -> None:
    client = connect(port)
    server = behind.accept()[0]
    data = bytes(range(256)) * 8000

    def send() -> None:
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)

    sender = threading.Thread(target=send)
    sender.start()
    assert receive_all(server) == data  # up to the end, which the proxy passes on
    sender.join()
    server.sendall(b"and back" * 10_000)  # while the other direction has ended
    assert receive(client, 80_000) == b"and back" * 10_000
    server.close()
    assert client.recv(1) == b""
    client.close()


def check_resets(port: int, behind: socket.socket) -> None:
    for rude, other in ((0, 1), (1, 0)):
        ends = [connect(port), behind.accept()[0]]
        ends[0].sendall(b"x")
        receive(ends[1], 1)
        reset(ends[rude])
        with contextlib.suppress(ConnectionResetError):
            assert ends[other].recv(1) == b"there is an error in place of this"
        ends[other].close()


def check_deaf(server: subprocess.Popen[str], port: int, behind: socket.socket) -> None:
    """The bytes that wait for a client that does not read are bounded."""
    with connect(port) as client, behind.accept()[0]:
        client.settimeout(1)
        before = memory_of(server)
        sent = 0
        try:
            while sent < 200_000_000:
                sent += client.send(b"y" * 65536)
        except TimeoutError:
            pass
        assert sent < 100_000_000, f"the proxy has taken {sent} bytes for a client that reads nothing"
        assert memory_of(server) - before < 4_000_000


def main() -> None:
    with socket.create_server(("127.0.0.1", 0)) as behind:
        behind.settimeout(20)
        target = f"localhost:{behind.getsockname()[1]}"
        with running(PROGRAM, "0", target) as (server, port):
            check_both_ways(port, behind)
            check_resets(port, behind)
            check_deaf(server, port, behind)
    with running(PROGRAM, "0", target) as (_, port):  # nothing listens there any more
        try:
            with connect(port) as client:
                assert client.recv(1) == b"there is an error in place of this"
        except OSError as error:
            assert error.errno == errno.ECONNRESET
    for wrong in (("0", "nowhere"), ("0", "[::1:80"), ("0", "127.0.0.1:0"), ("x", target), ("0",)):
        assert subprocess.run([PROGRAM, *wrong], stderr=subprocess.DEVNULL).returncode == 2


main()
