"""Tests a chat server as a client: check_chat.py PROGRAM."""

from __future__ import annotations

import socket
import sys

from server import connect, memory_of, receive, running

PROGRAM = sys.argv[1]


def expect(client: socket.socket, text: str) -> None:
    received = receive(client, len(text)).decode()
    assert received == text, f"{received!r} in place of {text!r}"


def check_talk(port: int) -> None:
    with connect(port) as one:
        with connect(port) as two:
            expect(one, "* guest2 comes\n")
            two.sendall(b"hel")
            two.sendall(b"lo\nand ")
            expect(one, "guest2: hello\n")
            one.sendall(b"yes\n")
            expect(two, "guest1: yes\n")
        expect(one, "* guest2 goes\n")  # and not what was no line
        with connect(port) as three:
            expect(one, "* guest3 comes\n")
            three.sendall(b"x" * 2000)
            expect(one, "* guest3 goes\n")


def check_deaf() -> None:
    """A client that reads nothing costs bounded memory, and does not delay others."""
    line = b"y" * 900 + b"\n"
    with running(PROGRAM, "0") as (server, port), connect(port) as speaker, connect(port) as listener:
        expect(speaker, "* guest2 comes\n")
        deaf = connect(port)
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        expect(speaker, "* guest3 comes\n")
        expect(listener, "* guest3 comes\n")
        before = memory_of(server)
        for _ in range(120):
            speaker.sendall(line * 100)
            receive(listener, 100 * len(b"guest1: " + line))
        grown = memory_of(server) - before
        assert grown < 8_000_000, f"the server has grown by {grown} bytes"
        expect(speaker, "* guest3 goes\n")
        deaf.close()


def main() -> None:
    with running(PROGRAM, "0") as (_, port):
        check_talk(port)
    check_deaf()


main()
