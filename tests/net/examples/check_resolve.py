"""Calls the program resolve as its users do: check_resolve.py PROGRAM."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading

PROGRAM = sys.argv[1]


def serve(server: socket.socket) -> None:
    """Answers one.test with 10.0.0.1, and says of all else that it is not there."""
    while True:
        question, sender = server.recvfrom(512)
        if not question:
            return
        is_known = question[12:].startswith(b"\x03one\x04test\x00\x00\x01")
        header = question[:2] + (b"\x81\x80" if is_known or b"\x03one\x04" in question else b"\x81\x83")
        end = question.index(b"\x00", 12) + 5
        answer = b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x64\x00\x04\x0a\x00\x00\x01" if is_known else b""
        server.sendto(header + b"\x00\x01\x00" + bytes([is_known]) + b"\x00" * 4 + question[12:end] + answer, sender)


def run(*arguments: str, server: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ)
    if server:
        environment["MILLRACE_NAME_SERVER"] = server
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, env=environment, timeout=30)


def main() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        host, port = server.getsockname()
        address = f"{host}:{port}"
        thread = threading.Thread(target=serve, args=(server,))
        thread.start()
        try:
            assert run("192.0.2.7").stdout == "192.0.2.7\n"
            assert run("2001:DB8::1").stdout == "2001:db8::1\n"
            assert "127.0.0.1" in run("localhost").stdout.split()
            found = run("one.test", server=address)
            assert (found.returncode, found.stdout) == (0, "10.0.0.1\n"), found
            missing = run("two.test", server=address)
            assert (missing.returncode, missing.stdout) == (1, ""), missing
            assert "no address" in missing.stderr
            assert run().returncode == 2
            assert run("one.test", server="nowhere").returncode == 2
        finally:
            server.sendto(b"", server.getsockname())
            thread.join()


main()
