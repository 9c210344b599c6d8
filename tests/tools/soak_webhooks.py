"""Runs the example webhooks for long, as an operator would: soak_webhooks.py PROGRAM [SECONDS [RATE]].

SECONDS is 600 and RATE 100 events a second if they are not given; a day is 86400. Clients connect with TLS, send
events, and often leave in the middle; the receiver fails now and then. At every second sample another certificate is
put in place, the log is renamed, and the program gets SIGHUP. The run fails if an accepted event was not delivered, if
a new certificate was not used, or if memory, descriptors or the log grow.
"""

from __future__ import annotations

import http.client
import itertools
import random
import shutil
import signal
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

CERTIFICATES = Path(__file__).parents[2] / "tools" / "certificates.py"
CLIENTS = 8
GROWTH = 4 << 20  # bytes of memory
LOGS = 5 << 20  # bytes: four files of the program's, and the one that was renamed
PATIENCE = 120  # seconds for the last deliveries
END = "-----END CERTIFICATE-----\n"
IDLE = 4  # connections to the receiver, which the program keeps


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    delivered: ClassVar[set[str]] = set()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        mood = random.random()
        if mood < 0.01:  # the connection ends without an answer
            self.close_connection = True
            return
        if mood >= 0.05:
            Receiver.delivered.add(self.headers["Idempotency-Key"])
        self.send_response(503 if mood < 0.05 else 204)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


class Service:
    """The program, with the folder in which it works."""

    def __init__(self, program: str, folder: Path, receivers: int) -> None:
        self.folder = folder
        self.certificates = itertools.cycle([folder / "a", folder / "b"])
        self.trust = ssl.create_default_context()
        for authority in folder.glob("*/ca.pem"):
            self.trust.load_verify_locations(authority)
        self.renew()
        files: list[str | Path] = ["--certificate", folder / "server.pem", "--key", folder / "server.key"]
        files += ["--log", folder / "log"]
        receiver = f"all=http://127.0.0.1:{receivers}/"
        self.process = subprocess.Popen(
            [program, "0", folder / "journal", receiver, *files], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])

    def renew(self) -> None:
        source = next(self.certificates)
        for name in ("server.pem", "server.key"):
            shutil.copy(source / name, self.folder / name)

    def connect(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection("localhost", self.port, timeout=30, context=self.trust)

    def reload(self) -> None:
        """Fails if a new connection does not get the new certificate soon."""
        self.renew()
        (self.folder / "log").rename(self.folder / "log.old")
        self.process.send_signal(signal.SIGHUP)
        expected = ssl.PEM_cert_to_DER_cert((self.folder / "server.pem").read_text().split("-----END")[0] + END)
        for _ in range(100):
            connection = self.connect()
            connection.connect()
            found = connection.sock.getpeercert(binary_form=True)
            connection.close()
            if found == expected and (self.folder / "log").exists():
                return
            time.sleep(0.1)
        raise AssertionError("after SIGHUP there is no new log, or the old certificate is still used")

    def memory(self) -> int:
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * 4096

    def descriptors(self) -> int:
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))


class Clients:
    def __init__(self, service: Service, rate: float) -> None:
        self.service = service
        self.pause = CLIENTS / rate
        self.accepted: set[str] = set()
        self.left = 0
        self.errors: list[str] = []
        self.is_over = False
        self.threads = [threading.Thread(target=self.run) for _ in range(CLIENTS)]

    def run(self) -> None:
        while not self.is_over:
            connection = self.service.connect()
            try:
                for _ in range(random.randrange(1, 30)):
                    self.send(connection)
                    if random.random() < 0.02:
                        self.leave(connection)
                        break
                    time.sleep(self.pause * 2 * random.random())
            except (OSError, http.client.HTTPException, AssertionError) as error:
                self.errors.append(repr(error))
            connection.close()

    def send(self, connection: http.client.HTTPSConnection) -> None:
        connection.request("POST", "/events/all", random.randbytes(random.randrange(1, 4000)))
        answer = connection.getresponse()
        key = answer.read().decode().strip()
        assert answer.status == 202, (answer.status, key)
        self.accepted.add(key)

    def leave(self, connection: http.client.HTTPSConnection) -> None:
        self.left += 1
        connection.putrequest("POST", "/events/all")
        connection.putheader("Content-Length", "50000")
        connection.endheaders(b"x" * random.randrange(0, 40_000))


def soak(service: Service, seconds: float, rate: float) -> None:
    with_nobody = service.descriptors()
    clients = Clients(service, rate)
    for thread in clients.threads:
        thread.start()
    start = time.monotonic()
    samples: list[tuple[int, int]] = []
    reloads = 0
    steps = max(20, int(seconds / 15))
    for step in range(1, steps + 1):
        time.sleep(max(0.0, start + seconds * step / steps - time.monotonic()))
        assert service.process.poll() is None, "the program has ended"
        samples.append((service.memory(), service.descriptors()))
        if step % 2:
            service.reload()
            reloads += 1
        if step % max(1, steps // 20) == 0:
            print(
                f"{time.monotonic() - start:7.0f} s: {len(clients.accepted)} accepted, {len(Receiver.delivered)} "
                f"delivered, {samples[-1][0] >> 10} KiB, {samples[-1][1]} descriptors",
                flush=True,
            )
    clients.is_over = True
    for thread in clients.threads:
        thread.join()
    end = time.monotonic() + PATIENCE
    while not Receiver.delivered >= clients.accepted or service.descriptors() > with_nobody + IDLE:
        assert time.monotonic() < end, (len(clients.accepted - Receiver.delivered), service.descriptors(), with_nobody)
        time.sleep(0.5)
    middle, last = (statistics.median(memory for memory, _ in part) for part in halves(samples))
    logs = sum(path.stat().st_size for path in service.folder.glob("log*"))
    print(f"{len(clients.accepted)} events accepted and delivered, {clients.left} clients left, {reloads} reloads")
    print(f"errors of clients: {len(clients.errors)} {clients.errors[:3]}")
    print(
        f"memory: {middle / 1024:.0f} KiB in the third quarter, {last / 1024:.0f} KiB in the last; "
        f"descriptors: {with_nobody} before, {service.descriptors()} after; logs: {logs >> 10} KiB"
    )
    assert not clients.errors
    assert last - middle < GROWTH
    assert 0 < logs <= LOGS
    service.process.send_signal(signal.SIGTERM)
    assert service.process.wait(30) == 0


def halves(samples: list[tuple[int, int]]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The third and the last quarter."""
    quarter = len(samples) // 4
    return samples[2 * quarter : 3 * quarter], samples[3 * quarter :]


def main() -> None:
    program = sys.argv[1]
    seconds, rate = (float(word) for word in (*sys.argv[2:], *("600", "100")[len(sys.argv) - 2 :]))
    receivers = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receivers.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        for name in ("a", "b"):
            subprocess.run([sys.executable, CERTIFICATES, Path(folder) / name], check=True, stdout=subprocess.DEVNULL)
        service = Service(program, Path(folder), receivers.server_port)
        try:
            soak(service, seconds, rate)
        finally:
            service.process.kill()


main()
