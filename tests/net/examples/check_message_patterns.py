"""Speaks with the programs of the patterns of messages: check_message_patterns.py PROGRAM."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import zmq

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))

from common.ports import free_ports

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = sys.argv[1]


def ask(endpoint: str, *parts: str) -> list[str]:
    done = subprocess.run([PROGRAM, "ask", endpoint, *parts], stdout=subprocess.PIPE, text=True, check=True, timeout=30)
    return done.stdout.split()


class Programs(ExitStack):
    def start(self, *arguments: str) -> subprocess.Popen[str]:
        running = subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.PIPE, text=True)
        self.callback(self.end, running)
        return running

    @staticmethod
    def end(running: subprocess.Popen[str]) -> None:
        running.send_signal(signal.SIGTERM)
        assert running.wait(20) == 0, running.args


def check_questions(folder: str) -> None:
    with Programs() as programs:
        programs.start("server", f"ipc://{folder}/server")
        programs.start("queue", f"ipc://{folder}/front", f"ipc://{folder}/back")
        programs.start("queue-worker", f"ipc://{folder}/back")
        assert ask(f"ipc://{folder}/server", "one") == ["one"]
        assert ask(f"ipc://{folder}/front", "two", "parts") == ["two", "parts"]
        check_page(programs, f"ipc://{folder}/broker")


def check_page(programs: Programs, endpoint: str) -> None:
    page = (ROOT / "net" / "docs" / "messages.md").read_text(encoding="utf-8")
    (session,) = re.findall(r"^```\n(\$ message_patterns .*?)```", page, re.DOTALL | re.MULTILINE)
    lines = session.replace("tcp://127.0.0.1:5555", endpoint).splitlines()
    *servers, client = (line.split()[2:] for line in lines if line.startswith("$"))
    for server in servers:
        programs.start(*server[:-1])  # without the &
    assert ask(*client[1:]) == [line for line in lines if not line.startswith("$")]


def check_pyzmq(folder: str) -> None:
    """A client and a worker with pyzmq."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    endpoint = f"ipc://{folder}/mixed"
    with Programs() as programs, context.socket(zmq.REQ) as req, context.socket(zmq.DEALER) as worker:
        for peer in (req, worker):
            peer.linger = 0
            peer.rcvtimeo = 20_000
            peer.connect(endpoint)
        programs.start("broker", endpoint)
        worker.send_multipart([b"READY", b"python"])
        req.send_multipart([b"python", b"hello"])
        ticket = ticket_of(worker, b"hello")
        worker.send_multipart([b"ANSWER", ticket, b"good day"])
        assert req.recv_multipart() == [b"OK", b"good day"]
        # It says READY while it works. Its answer to the refused question is not the one to the next.
        req.send_multipart([b"python", b"first"])
        late = ticket_of(worker, b"first")
        worker.send_multipart([b"READY", b"python"])
        assert req.recv_multipart() == [b"ERROR", b"the worker has gone"]
        req.send_multipart([b"python", b"second"])
        ticket = ticket_of(worker, b"second")
        worker.send_multipart([b"ANSWER", late, b"to the first"])
        worker.send_multipart([b"ANSWER", ticket, b"to the second"])
        assert req.recv_multipart() == [b"OK", b"to the second"]


def ticket_of(worker: zmq.Socket[bytes], question: bytes) -> bytes:
    said = worker.recv_multipart()
    while said[0] == b"BEAT":
        said = worker.recv_multipart()
    assert said[0] == b"WORK" and said[2:] == [question]
    return said[1]


def check_clone() -> None:
    port = free_ports(3)[0]
    with Programs() as programs:
        programs.start("clone-server", "tcp://127.0.0.1", str(port))
        one = programs.start("clone", "tcp://127.0.0.1", str(port), "colour", "blue")
        other = programs.start("clone", "tcp://127.0.0.1", str(port))
        for replica in (one, other):
            assert replica.stdout
            assert replica.stdout.readline() == "colour=blue \n"


def main() -> None:
    for wrong in ((), ("queue", "tcp://*:0"), ("clone", "tcp://127.0.0.1", "port"), ("server", "nowhere")):
        ended = subprocess.run([PROGRAM, *wrong], capture_output=True, text=True, timeout=20)
        assert ended.returncode in (1, 2) and ended.stderr.count("\n") == 1, ended
    with tempfile.TemporaryDirectory() as folder:
        check_questions(folder)
        check_pyzmq(folder)
    check_clone()


main()
