"""Restarts servers under load, and compares `restart` with its page: check_restart.py RESTART HTTP_SERVER.

10,000 requests are answered by six processes of `restart`, of which each takes the listener over from the one before;
no request is refused, and no answer is cut off. The same with three processes of `http_server`.
"""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM, HTTP_SERVER = sys.argv[1:]
ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "net" / "docs" / "restart.md"
REQUESTS = 10_000
RESTARTS = 5
SECONDS = 20
KEPT, FRESH = 6, 2  # connections of a batch: those that are used again, and those of one request
REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
LAST_REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
# After so much time without a request a server that ends may close a connection (net/http/server.h).
IDLE = 0.9


class Service:
    """A process of a program, and the lines that it has printed."""

    def __init__(self, path: Path, port: int, name: str, site: Path | None = None) -> None:
        self.name = name
        command = [PROGRAM, str(port), str(path), name]
        if site:
            command = [HTTP_SERVER, str(site), str(port), "--takeover", str(path)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def line(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline()

    def end(self) -> str:
        """What it prints until it has ended, which must be soon."""
        rest, _ = self.process.communicate(timeout=SECONDS)
        assert self.process.returncode == 0, (self.name, self.process.returncode)
        return rest


class Kept:
    """A connection that is opened when it is needed."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.socket: socket.socket | None = None
        self.used = 0.0

    def send(self, request: bytes) -> None:
        if self.socket and time.monotonic() - self.used > IDLE:
            self.close()
        if not self.socket:
            self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS)
        self.socket.sendall(request)

    def receive(self) -> str:
        assert self.socket
        answer = b""
        while b"\r\n\r\n" not in answer or not answer.endswith(b"\n"):
            piece = self.socket.recv(4096)
            assert piece, f"cut off after {answer!r}"
            answer += piece
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 "), answer
        self.used = time.monotonic()
        if b"connection: close" in head.lower():
            self.close()
        return body.decode().rstrip("\n")

    def close(self) -> None:
        if self.socket:
            self.socket.close()
        self.socket = None


def check_load(path: Path) -> None:
    services = [Service(path, 0, "0")]
    try:
        port = int(services[0].line().rsplit(":", 1)[1])
        kept = [Kept(port) for _ in range(KEPT)]
        batches = REQUESTS // (KEPT + FRESH)
        begins = {batches * (i + 1) // (RESTARTS + 2) for i in range(RESTARTS)}
        answers: dict[str, int] = {}
        for batch in range(batches):
            if batch in begins:
                if len(services) > 1:
                    assert services[-1].line() == f"{services[-1].name}: takes over at 127.0.0.1:{port}\n"
                services.append(Service(path, port, str(len(services))))
            fresh = [Kept(port) for _ in range(FRESH)]
            for each in kept:
                each.send(REQUEST)
            for each in fresh:
                each.send(LAST_REQUEST)
            for each in (*kept, *fresh):
                name = each.receive()
                answers[name] = answers.get(name, 0) + 1
        assert services[-1].line() == f"{services[-1].name}: takes over at 127.0.0.1:{port}\n"
        last = Kept(port)
        while (name := ask(last)) != services[-1].name:  # the one before still accepts
            assert int(name) == RESTARTS - 1
        assert sum(answers.values()) == REQUESTS
        for old in services[:-1]:
            assert old.end() == f"{old.name}: ends\n"
        print(f"requests answered by each process: {answers}")
        check_failing_successor(path, last)
        services[-1].process.send_signal(signal.SIGTERM)
        assert services[-1].end() == f"not replaced: the stream has ended\n{RESTARTS}: ends\n"
    finally:
        for service in services:
            service.process.kill()
            service.process.wait()


def check_http_server(folder: Path) -> None:
    path = folder / "path"
    (folder / "index.html").write_text("page\n")
    services = [Service(path, 0, "0", folder)]
    try:
        port = int(services[0].line().removeprefix("listening at 127.0.0.1:"))
        kept = [Kept(port) for _ in range(KEPT)]
        for name in ("1", "2"):
            services.append(Service(path, port, name, folder))
            old, new = services[-2:]
            while old.process.poll() is None:
                for each in (*kept, Kept(port)):
                    each.send(REQUEST if each in kept else LAST_REQUEST)
                    assert each.receive() == "page"
            assert (new.line(), old.end()) == (f"takes over at 127.0.0.1:{port}\n", "")
        services[-1].process.send_signal(signal.SIGTERM)
        assert services[-1].end() == ""
    finally:
        for service in services:
            service.process.kill()
            service.process.wait()


def ask(connection: Kept) -> str:
    connection.send(LAST_REQUEST)
    return connection.receive()


def check_failing_successor(path: Path, client: Kept) -> None:
    """A process that takes the sockets and ends changes nothing."""
    with socket.socket(socket.AF_UNIX) as successor:
        successor.settimeout(SECONDS)
        successor.connect(str(path))
        successor.recv(1)
        assert ask(client) == str(RESTARTS)
        successor.shutdown(socket.SHUT_WR)
        while successor.recv(4096):
            pass
    assert ask(client) == str(RESTARTS)


def check_page(folder: Path) -> None:
    """It shows the program, and what the commands print."""
    blocks = re.findall(r"^```(\w+).*?\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    sources = [ROOT / "net" / "examples" / name for name in ("take_over.h", "take_over.cpp", "restart.cpp")]
    source = "".join(each.read_text(encoding="utf-8") for each in sources)
    parts = [text for language, text in blocks if language == "cpp"]
    assert parts and all(part in source for part in parts)
    (session,) = [text for language, text in blocks if language == "console"]
    commands = re.findall(r"^\$ (.*)$", session, re.MULTILINE)
    typed = ["build/clang/net/examples/restart", "curl"] * 2 + ["kill"]
    assert [each.split()[0] for each in commands] == typed, commands
    path = folder / "page"
    names = [each.split()[3] for each in commands if "/restart " in each]
    first = Service(path, 0, names[0])
    printed = first.line()
    port = int(printed.rsplit(":", 1)[1])
    client = Kept(port)
    printed += ask(client) + "\n"
    second = Service(path, port, names[1])
    printed += second.line() + first.end() + ask(client) + "\n"
    second.process.send_signal(signal.SIGTERM)
    printed += second.end()
    shown = "".join(f"{line}\n" for line in session.splitlines() if not line.startswith("$ "))
    assert printed.replace(f":{port}", ":8080") == shown, (printed, shown)


def too_late(*_: object) -> None:
    raise TimeoutError("the check has not ended in time")


def main() -> None:
    signal.signal(signal.SIGALRM, too_late)
    signal.alarm(90)
    with tempfile.TemporaryDirectory() as folder:
        check_load(Path(folder) / "load")
        check_page(Path(folder))
        check_http_server(Path(folder))
    print("ok")


main()
