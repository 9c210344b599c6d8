"""Kills the example webhooks and its database: check_webhooks_database.py PROGRAM.

Events are sent all the time. None that was answered with 202 may be lost, and none delivered in part.
"""

from __future__ import annotations

import contextlib
import http.client
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE))

from server import kill, programs, running, start  # noqa: E402

PROGRAM = sys.argv[1]
SECONDS = 60
SENDERS = 4
EVENTS = 60  # that are accepted before each kill
KILLED = (("database",), ("service",), ("database", "service"), ("database",))

sent: dict[str, bytes] = {}
accepted: set[str] = set()
delivered: dict[str, bytes] = {}
refused: set[str] = set()


class Receiver(BaseHTTPRequestHandler):
    """Refuses a third of the events once, so that they are kept for a while."""

    def do_POST(self) -> None:
        key = self.headers["Idempotency-Key"]
        body = self.rfile.read(int(self.headers["Content-Length"]))
        is_refused = len(body) % 3 == 0 and key not in refused
        if is_refused:
            refused.add(key)
        else:
            assert delivered.setdefault(key, body) == body, key
        self.send_response(503 if is_refused else 204)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


class Service:
    def __init__(self, url: str, receiver: int) -> None:
        command = [PROGRAM, "0", "--database", url, f"hook=http://127.0.0.1:{receiver}/"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        self.port = int(self.process.stdout.readline().removeprefix("listening at 127.0.0.1:"))

    def ask(self, method: str, path: str, body: bytes = b"", key: str = "") -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        with contextlib.closing(connection):
            connection.request(method, path, body, {"Idempotency-Key": key} if key else {})
            answer = connection.getresponse()
            return answer.status, answer.read().decode("latin-1")

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return self.process.wait(SECONDS)


class Senders:
    """Threads that send events to the service, whichever process it is."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.is_ending = False
        self.threads = [threading.Thread(target=self.send, args=(number,)) for number in range(SENDERS)]
        for thread in self.threads:
            thread.start()

    def send(self, number: int) -> None:
        for count in range(1_000_000):
            if self.is_ending:
                return
            key = f"{number} {count} \u00e9\u00ff"  # no text for the database
            sent[key] = b"%d of sender %d;" % (count, number) * (1 + count % 700)
            with contextlib.suppress(OSError, http.client.HTTPException):
                if self.service.ask("POST", "/events/hook", sent[key], key)[0] == 202:
                    accepted.add(key)
            time.sleep(0.005)

    def end(self) -> None:
        self.is_ending = True
        for thread in self.threads:
            thread.join()


def until_accepted(count: int) -> None:
    deadline = time.monotonic() + SECONDS
    while len(accepted) < count:
        assert time.monotonic() < deadline, len(accepted)
        time.sleep(0.01)


def check(folder: pathlib.Path, url: str, receiver: int) -> None:
    senders = Senders(Service(url, receiver))
    try:
        for killed in KILLED:
            until_accepted(len(accepted) + EVENTS)
            if "database" in killed:
                kill(folder)
            if "service" in killed:
                time.sleep(0.3)  # for events that come while the database is away
                senders.service.end(signal.SIGKILL)
            if "database" in killed:
                start(folder)
            if "service" in killed:
                senders.service = Service(url, receiver)
        until_accepted(len(accepted) + EVENTS)
        senders.end()
        deadline = time.monotonic() + SECONDS
        empty = (200, "ok, 0 events and dead letters\n")
        while senders.service.ask("GET", "/health") != empty:
            assert time.monotonic() < deadline, senders.service.ask("GET", "/health")
            time.sleep(0.05)
        lost = sorted(accepted - delivered.keys())
        assert not lost, lost
        changed = [key for key, body in delivered.items() if sent[key] != body]
        assert not changed, changed
        assert senders.service.end(signal.SIGTERM) == 0
        senders.service = Service(url, receiver)
        assert senders.service.ask("GET", "/health") == empty, "all are removed from the database"
        assert senders.service.end(signal.SIGTERM) == 0
        print(f"{len(sent)} events sent, {len(accepted)} accepted, {len(delivered)} delivered")
    finally:
        senders.service.process.kill()
        senders.end()


def main() -> None:
    if not programs():
        print("skipped: PostgreSQL is not installed; tools/setup tests installs it")
        return
    receiver = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="millrace-") as parent:
        pathlib.Path(parent).chmod(0o755)  # the server has another user
        folder = pathlib.Path(parent) / "postgres"
        with running(folder) as url:
            check(folder, url, receiver.server_port)


main()
