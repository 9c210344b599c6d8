"""Runs work in several processes that can be stopped at any moment, with their children.

Each process has a pipe of its own. A shared queue would stay locked if a process is killed while it reads.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_FORK = multiprocessing.get_context("fork")
_ENDING = (signal.SIGINT, signal.SIGTERM)


class WorkerError(Exception):
    """A process failed: it raised an exception or crashed."""


@dataclass(frozen=True, slots=True)
class _Worker:
    process: ForkProcess
    connection: Connection


def unordered(work: Callable[[Item], Result], items: Sequence[Item], jobs: int) -> Generator[Result, None, None]:
    """The results of `work` for each item, in the order of completion. Closing the iterator ends all processes."""
    with tempfile.TemporaryDirectory(prefix="fuzz-", ignore_cleanup_errors=True) as folder:
        crew: list[_Worker] = []
        try:
            for _ in range(min(jobs, len(items))):
                with _undisturbed():
                    crew.append(_start(work, folder))
            yield from _results(crew, items)
        finally:
            with _undisturbed():
                _end(crew)


def _results(crew: Sequence[_Worker], items: Sequence[Item]) -> Iterator[Any]:
    pending = iter(items)
    idle = {worker.connection: worker for worker in crew}
    busy: dict[Connection, tuple[_Worker, Item]] = {}
    while True:
        for connection, item in zip(list(idle), pending, strict=False):
            connection.send(item)
            busy[connection] = idle.pop(connection), item
        if not busy:
            return
        # Not forever: a campaign that got SIGINT while it waited did not end, once, on a CI machine. Why is not known;
        # it did not happen in 300 runs elsewhere. This bounds it.
        ready = wait(list(busy), timeout=0.5)
        for connection in [each for each in busy if each in ready]:
            worker, item = busy.pop(connection)
            idle[connection] = worker
            yield _answer(worker, item)


def _answer(worker: _Worker, item: object) -> object:
    try:
        result, fault = worker.connection.recv()
    except (EOFError, OSError):
        worker.process.join()
        message = f"a process ended with exit code {worker.process.exitcode} in {item}"
        raise WorkerError(message) from None
    if fault:
        raise WorkerError(f"in {item}\n{fault}")
    return result


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Signals come after this: no process may start unrecorded, or be left over."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(work: Callable[[Item], object], folder: str) -> _Worker:
    ours, theirs = _FORK.Pipe()
    process = _FORK.Process(target=_serve, args=(work, theirs, ours, folder))
    process.start()
    theirs.close()
    os.setpgid(process.pid or 0, 0)  # a process group of its own, with all its children
    return _Worker(process, ours)


def _end(crew: Sequence[_Worker]) -> None:
    for worker in crew:
        with suppress(ProcessLookupError):
            os.killpg(worker.process.pid or 0, signal.SIGKILL)
    for worker in crew:
        worker.process.join()
        worker.connection.close()


def _serve(work: Callable[[Any], object], connection: Connection, parents: Connection, folder: str) -> None:
    for number in _ENDING:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
    parents.close()  # otherwise the end of the parent would go unnoticed
    tempfile.tempdir = os.environ["TMPDIR"] = folder  # removed by the parent, since we may be killed
    with suppress(EOFError, OSError):
        while True:
            connection.send(_done(work, connection.recv()))


def _done(work: Callable[[Item], Result], item: Item) -> tuple[Result | None, str]:
    try:
        return work(item), ""
    except Exception:
        return None, traceback.format_exc()
