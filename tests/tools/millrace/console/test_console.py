"""millrace console against a program of a few lines of Python. tests/tools/check_console.py has a real one."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from millrace.common.arguments import UsageError
from millrace.common.console import plain
from millrace.common.failure import Failure
from millrace.console import client, command
from millrace.console.arguments import parser
from millrace.console.page import Sample, page

FIGURES: dict[str, Any] = {
    "loop": "main", "seconds": 10.0, "busy": 2.5, "idle": 7.5, "turns": 100, "steps": 1000, "sleeps": 10,
    "bySteps": 600, "byTimers": 300, "byPosts": 50, "byNews": 50, "timers": 7, "blocksAllocated": 40,
    "blocksFreed": 20, "bytesHeld": 4_000_000, "bytesLive": 1_500_000, "ready": [[8000, 3], [7000, 2]],
    "longSteps": [{"actor": "crunch", "count": 2, "seconds": 0.5, "longest": 0.3}],
}  # fmt: skip
PENDING: dict[str, Any] = {
    "pending": 42,
    "kinds": [
        {"count": 40, "style": "actor", "name": "wait", "file": "a.actor.cpp", "line": 7, "for": "promise"},
        {"count": 2, "style": "coroutine", "name": "serve", "for": "delay"},
    ],
    "cycles": [{"length": 2, "computations": [1, 2]}],
}


def printed(now: Sample, before: Sample | None = None) -> str:
    out = plain(width=200, no_color=True)
    with out.capture() as text:
        for part in page(now, before, plain=True):
            out.print(part)
    return text.get()


def test_a_page_shows_the_loop_and_what_is_pending() -> None:
    text = printed(Sample(FIGURES, PENDING))
    assert "loop main: 25% busy, 42 pending, 5 ready, 7 timers, 1.5 MB in blocks, 4.0 MB held" in text
    assert "actor wait at a.actor.cpp:7" in text
    assert "cycle: 2 computations" in text
    assert "crunch" in text and "300.0" in text
    rates = next(line for line in text.splitlines() if "100" in line)
    assert [cell.strip() for cell in rates.strip("|").split("|")] == ["100", "10", "1", "60", "30", "5", "5", "4"]


def test_a_second_page_shows_what_has_changed() -> None:
    figures = {**FIGURES, "seconds": 12.0, "busy": 4.5, "steps": 3000}
    pending = {**PENDING, "kinds": [{**PENDING["kinds"][0], "count": 55}, *PENDING["kinds"][1:]]}
    text = printed(Sample(figures, pending), Sample(FIGURES, PENDING))
    assert "100% busy" in text
    assert "1,000" in text  # steps a second
    assert "+15" in text


BUSY = b"the loop main has run a step\n"  # the answer of a page that needs the loop


@pytest.fixture
def program(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """Answers as net/console.h says, until the test ends."""
    path = str(tmp_path / "program.sock")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    pages = {
        b"/metrics.json": json.dumps(FIGURES).encode(),
        b"/pending.json": json.dumps(PENDING).encode(),
        b"/pending": b"42 computations are pending\n",
        b"/running": b"the loop main has run a step of crunch for 3 s\n",
        b"/trace?seconds=0.5": b"a trace",
    }

    if "busy" in request.node.name:
        pages |= dict.fromkeys((b"/pending", b"/pending.json"), BUSY)

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                wanted = connection.recv(4096).split()[1]
                body = pages.get(wanted)
                status = b"200 OK" if body is not None else b"404 Not Found"
                if body is BUSY:
                    status = b"503 Service Unavailable"
                body = body or b"there is no such page\n"
                connection.sendall(b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield path
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


def run(*arguments: str) -> str:
    out = plain(width=200, no_color=True)
    with out.capture() as text:
        assert command.main(parser().parse_args(arguments), plain(stderr=True), out) == 0
    return text.get()


def test_once_prints_one_page(program: str) -> None:
    assert "loop main: 25% busy" in run(program, "--once")


def test_running_is_one_request(program: str) -> None:
    assert run(program, "--running") == "the loop main has run a step of crunch for 3 s\n"


def test_a_page_of_a_busy_loop_has_its_figures_and_its_step(program: str) -> None:
    text = run(program, "--once")
    assert "loop main: 25% busy, does not answer, 5 ready" in text
    assert "has run a step of crunch for 3 s" in text
    with pytest.raises(client.BusyError, match="503 the loop main has run"):
        run(program, "--pending")


def test_pending_and_trace_are_one_request(program: str, tmp_path: Path) -> None:
    assert run(program, "--pending") == "42 computations are pending\n"
    file = tmp_path / "trace"
    run(program, "--trace", str(file), "--seconds", "0.5")
    assert file.read_bytes() == b"a trace"


def test_a_process_is_found_by_its_number(program: str) -> None:
    assert program in client.listening(os.getpid())
    assert "loop main" in run(str(os.getpid()), "--once")


def test_wrong_arguments_and_answers(program: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no"):
        run(str(tmp_path / "nothing"))
    with pytest.raises(UsageError, match="is no socket"):
        run(str(tmp_path), "--once")
    with pytest.raises(UsageError, match="no process"):
        run("4194305")
    with pytest.raises(UsageError, match="--seconds"):
        run(program, "--seconds", "0")
    with pytest.raises(Failure, match="404"):
        client.Client(program).get("/nothing")
    nobody = tmp_path / "nobody.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(nobody))
    with pytest.raises(Failure, match="no program listens there"):
        run(str(nobody), "--once")
