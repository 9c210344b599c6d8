"""Our WebSockets and those of the Python package websockets, both ways: check_websocket.py PROGRAM."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time
from collections.abc import Callable

from server import running
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.sync.server import ServerConnection, serve
from websockets.typing import Subprotocol

PROGRAM = sys.argv[1]
ECHO = Subprotocol("echo.v1")


def open_client(port: int) -> ClientConnection:
    return connect(f"ws://127.0.0.1:{port}/", subprotocols=[Subprotocol("other"), ECHO], max_size=None)


def end_of(client: ClientConnection) -> tuple[int, str]:
    try:
        while True:
            client.recv(timeout=20)
    except ConnectionClosed as closed:
        assert closed.rcvd, closed
        return closed.rcvd.code, closed.rcvd.reason


def check_server(port: int) -> None:
    with open_client(port) as client:
        assert client.subprotocol == ECHO
        for message in ("", "hällo", b"", b"\xff", "x" * 125, "x" * 126, b"y" * 65535, b"y" * 65536, "z" * (1 << 20)):
            client.send(message)
            assert client.recv(timeout=20) == message
        client.send(["fr", "ag", "", "ments"])
        assert client.recv(timeout=20) == "fragments"
        assert client.ping(b"are you there?").wait(20)
        time.sleep(0.5)  # it answers our pings
        client.send("still")
        assert client.recv(timeout=20) == "still"
    assert client.protocol.close_code == 1000

    with open_client(port) as client:
        client.send("close")
        assert end_of(client) == (4001, "as you like")
    with open_client(port) as client:
        client.send("x" * ((1 << 20) + 1))
        assert end_of(client) == (1009, "a message above the limit")
    with open_client(port) as client:
        client.send(b"\xff\xfe", text=True)
        assert end_of(client) == (1007, "a text that is not UTF-8")


def check_end() -> None:
    """A server that ends says so."""
    with contextlib.ExitStack() as stack:
        with running(PROGRAM, "serve") as (_, port):
            client = stack.enter_context(open_client(port))
            client.send("x")
            assert client.recv(timeout=20) == "x"
        assert end_of(client)[0] == 1001


def ask(handler: Callable[[ServerConnection], None]) -> list[str]:
    """Returns the lines that our client prints when the handler serves it."""
    with serve(handler, "127.0.0.1", 0, subprotocols=[ECHO], compression="deflate") as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.socket.getsockname()[1]
        done = subprocess.run(
            [PROGRAM, "ask", f"ws://127.0.0.1:{port}/"], capture_output=True, text=True, timeout=30, check=False
        )
    assert done.returncode == 0, done
    return done.stdout.splitlines()


def check_client() -> None:
    received: list[str | bytes] = []

    def take(socket: ServerConnection) -> None:
        received.extend(socket.recv(timeout=20) for _ in range(3))

    def close_it(socket: ServerConnection) -> None:
        take(socket)
        socket.send([b"bin", b"ary"])
        assert socket.ping().wait(20)
        socket.close(4002, "so long")

    def ask_to_close(socket: ServerConnection) -> None:
        take(socket)
        socket.send("close")
        try:
            socket.recv(timeout=20)
        except ConnectionClosed as closed:
            assert closed.rcvd
            received.append(f"{closed.rcvd.code} {closed.rcvd.reason}")

    sent = ["hällo", b"\xff" * 100_000, ""]
    assert ask(close_it) == ["protocol echo.v1", "binary of 6 bytes", "end_of_stream 4002 so long"]
    assert received == sent
    received.clear()
    assert ask(ask_to_close) == ["protocol echo.v1", "text of 5 bytes", "end_of_stream 1000 enough"]
    assert received == [*sent, "1000 enough"]


def main() -> None:
    with running(PROGRAM, "serve") as (_, port):
        check_server(port)
    check_end()
    check_client()


main()
