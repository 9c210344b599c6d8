"""Kills the example webhooks, and checks that it delivers what it has accepted.

check_webhooks.py PROGRAM [CERTIFICATES]

With a folder that tools/certificates has made, it also puts other certificates in their place.
"""

from __future__ import annotations

import http.client
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

PROGRAM = sys.argv[1]
SECONDS = 30
USAGE = "usage: webhooks PORT (JOURNAL | --database URL) NAME=URL... [--certificate FILE --key FILE] [--log FILE]\n"


class Receiver(BaseHTTPRequestHandler):
    """At /open all is delivered; at /closed nothing, until `is_open`; /wrong refuses."""

    delivered: ClassVar[dict[str, bytes]] = {}
    is_open = False

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        assert self.headers["Content-Type"] == "text/plain"
        status = {"/open": 204, "/closed": 204 if Receiver.is_open else 503, "/wrong": 400}[self.path]
        if status == 204:
            Receiver.delivered[self.headers["Idempotency-Key"]] = body
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


class Service:
    def __init__(self, journal: Path, receivers: int, *options: str) -> None:
        urls = [f"{name}=http://127.0.0.1:{receivers}/{name}" for name in ("open", "closed", "wrong")]
        self.process = subprocess.Popen(
            [PROGRAM, "0", str(journal), *urls, *options], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line.startswith("listening at 127.0.0.1:"), line
        self.port = int(line.rsplit(":", 1)[1])

    def ask(self, method: str, path: str, body: bytes = b"", key: str = "") -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        fields = {"Content-Type": "text/plain", **({"Idempotency-Key": key} if key else {})}
        connection.request(method, path, body, fields)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return self.process.wait(SECONDS)


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, Receiver.delivered.keys()
        time.sleep(0.02)


def check(journal: Path, receivers: int) -> None:
    service = Service(journal, receivers)
    assert service.ask("POST", "/events/nobody", b"x")[0] == 404
    assert service.ask("POST", "/events/open", b"x" * 70_000)[0] == 413
    accepted: dict[str, bytes] = {}
    for number in range(50):
        body = f"event {number}".encode()
        name = "open" if number % 2 else "closed"
        status, key = service.ask("POST", f"/events/{name}", body, f"key {number}" if number % 3 else "")
        assert status == 202, key
        accepted[key.removesuffix("\n")] = body
    assert "key 1" in accepted
    assert service.ask("POST", "/events/wrong", b"bad", "wrong") == (202, "wrong\n")
    until(lambda: "wrong: the receiver has answered 400" in service.ask("GET", "/dead")[1])
    assert service.end(signal.SIGKILL) == -signal.SIGKILL

    assert not Receiver.delivered.keys() >= accepted.keys()
    Receiver.is_open = True
    service = Service(journal, receivers)
    until(lambda: Receiver.delivered == accepted)
    until(lambda: service.ask("GET", "/health") == (200, "ok, 1 events and dead letters\n"))
    dead, line = service.ask("GET", "/dead")[1].split(" ", 1)
    assert line == "wrong wrong: the receiver has answered 400\n"
    metrics = service.ask("GET", "/metrics")[1]
    assert 'webhooks_delivered_total{receiver="closed"} 25\n' in metrics, metrics
    assert 'millrace_http_requests_total{server="webhooks",route="/health",status="200"}' in metrics, metrics
    assert service.ask("DELETE", f"/dead/{dead}")[0] == 200
    assert service.ask("DELETE", f"/dead/{dead}")[0] == 404
    assert service.ask("GET", "/dead") == (200, "")
    assert service.end(signal.SIGTERM) == 0

    usage = subprocess.run([PROGRAM, "0", str(journal)], capture_output=True, text=True, check=False)
    assert (usage.returncode, usage.stderr) == (2, USAGE)


def check_certificates(folder: Path, receivers: int, certificates: Path) -> None:
    """Another certificate is used when both of its files have taken the place of the old ones; no signal is needed."""
    files = folder / "server.pem", folder / "server.key"

    def put(name: str) -> None:
        for file in files:
            new = folder / "new"
            shutil.copy(certificates / f"{name}{file.suffix}", new)
            new.rename(file)

    def is_used() -> bool:
        found = ssl.get_server_certificate(("127.0.0.1", service.port), timeout=SECONDS)
        return files[0].read_text().startswith(found.strip())

    put("server")
    service = Service(folder / "events", receivers, "--certificate", str(files[0]), "--key", str(files[1]))
    assert is_used()
    for name in ("other", "server"):
        put(name)
        until(is_used)
    assert service.end(signal.SIGTERM) == 0


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        check(Path(folder) / "events", server.server_port)
    if len(sys.argv) > 2:
        with tempfile.TemporaryDirectory() as folder:
            check_certificates(Path(folder), server.server_port, Path(sys.argv[2]))


main()
