"""Tests a kvstore as a client: check_kvstore.py PROGRAM."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = sys.argv[1]
ROOT = Path(__file__).resolve().parents[3]


class Client:
    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.lines = self.socket.makefile("rb")

    def send(self, *requests: str) -> None:
        self.socket.sendall("".join(f"{request}\n" for request in requests).encode())

    def line(self) -> str:
        return self.lines.readline().decode().rstrip("\n")

    def ask(self, request: str) -> str:
        self.send(request)
        return self.line()

    def scan(self, request: str) -> list[str]:
        self.send(request)
        found = []
        while (line := self.line()) != "END":
            assert line, "the server has ended the connection"
            found.append(line)
        return found

    def close(self) -> None:
        self.lines.close()
        self.socket.close()


def start(directory: Path) -> tuple[subprocess.Popen[str], int]:
    """The server, and the port that it has chosen."""
    server = subprocess.Popen([PROGRAM, "0", str(directory)], stdout=subprocess.PIPE, text=True)
    assert server.stdout
    line = server.stdout.readline()
    assert line.startswith("listening at 127.0.0.1:"), line
    return server, int(line.rsplit(":", 1)[1])


def check_requests(port: int) -> None:
    client = Client(port)
    assert client.ask("GET colour") == "NONE"
    assert client.ask("SET colour dark blue") == "OK"
    assert client.ask("GET colour\r") == "VALUE dark blue"
    assert client.ask("SET empty ") == "OK"
    assert client.ask("GET empty") == "VALUE "
    assert client.ask("DEL colour") == "OK"
    assert client.ask("DEL colour") == "OK"
    assert client.ask("GET colour") == "NONE"
    for wrong in ("", "GET", "GET a b", "POP a", "SET", "SCAN a b", "SCAN a -1", "DEL a b"):
        assert client.ask(wrong).startswith("ERROR "), wrong
    value = "v" * 60_000
    assert client.ask(f"SET large {value}") == "OK"
    assert client.ask("GET large") == f"VALUE {value}"
    client.close()


def check_page(port: int) -> None:
    page = (ROOT / "flow/docs/fibers.md").read_text(encoding="utf-8")
    found = re.search(r"^\$ printf '(.*)\\n' \| nc .*\n((?:.*\n)+?)```", page, re.MULTILINE)
    assert found
    client = Client(port)
    assert [client.ask(line) for line in found[1].split("\\n")] == found[2].splitlines()
    client.close()


def check_scans(port: int) -> None:
    client = Client(port)
    client.send(*(f"SET k{i:04} {i}" for i in range(1000)))  # answers come in order
    assert [client.line() for _ in range(1000)] == ["OK"] * 1000
    assert client.scan("SCAN k0990 5") == [f"k{i:04} {i}" for i in range(990, 995)]
    assert client.scan("SCAN k 1000") == [f"k{i:04} {i}" for i in range(1000)]
    assert len(client.scan("SCAN")) == 100
    assert client.scan("SCAN zzz 5") == []
    assert client.scan("SCAN k 0") == []
    client.close()


def check_many(port: int) -> None:
    clients = [Client(port) for _ in range(200)]
    for number, client in enumerate(clients):
        client.send(f"SET many{number} {number}", f"GET many{number}")
    for number, client in enumerate(clients):
        assert client.line() == "OK"
        assert client.line() == f"VALUE {number}"
    for client in clients:
        client.close()


def check_rude(port: int) -> None:
    """A line without an end, an end within a line, and a client that reads nothing do not delay others."""
    client = Client(port)
    client.socket.sendall(b"x" * 200_000)
    assert client.line() == "ERROR the line is too long"
    client.close()
    client = Client(port)
    client.socket.sendall(b"GET large\nSET half a val")
    client.socket.shutdown(socket.SHUT_WR)
    assert client.line() == f"VALUE {'v' * 60_000}"
    assert client.line() == "ERROR the last line has no end"
    assert client.line() == ""
    client.close()
    client = Client(port)
    client.socket.sendall(b"SET half a val")
    client.close()
    deaf = Client(port)
    deaf.send(*["GET large"] * 2000)  # 120 MB of answers
    other = Client(port)
    assert other.ask("GET half") == "NONE"
    assert other.ask("GET many7") == "VALUE 7"
    other.close()
    deaf.close()


def end(server: subprocess.Popen[str], number: signal.Signals) -> None:
    server.send_signal(number)
    assert server.wait(30) == 0, f"exit code {server.returncode} after {number.name}"


def check_end(directory: Path) -> None:
    """What was set is there when the server is started again."""
    server, port = start(directory)
    client = Client(port)
    assert client.ask("GET many7") == "VALUE 7"
    end(server, signal.SIGINT)
    assert client.line() == ""
    client.close()


def check_arguments(directory: Path) -> None:
    for arguments in ([], ["0"], ["70000", str(directory)], ["x", str(directory)], ["0", str(directory), "more"]):
        run = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
        assert run.returncode == 2, run
        assert run.stderr == f"usage: {PROGRAM} PORT DIRECTORY\n", run
    place = directory / "file"
    place.write_text("no directory")
    run = subprocess.run([PROGRAM, "0", str(place)], capture_output=True, text=True, check=False)
    assert run.returncode == 1, run
    assert run.stderr.count("\n") == 1, run
    assert str(place) in run.stderr, run


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "store"
        server, port = start(directory)
        try:
            check_requests(port)
            check_page(port)
            check_scans(port)
            check_many(port)
            check_rude(port)
            assert server.poll() is None, "the server has ended"
        finally:
            end(server, signal.SIGTERM)
        check_end(directory)
        check_arguments(Path(folder))


main()
