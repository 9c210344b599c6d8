"""Batches over the cores of this machine: a process for each, and nothing to set up."""

from __future__ import annotations

import socket
import threading
from collections.abc import Generator, Iterator, Sequence
from queue import Empty, SimpleQueue

from millrace.simulate.batch import Batch, Record
from millrace.simulate.results import Result

TICK = 0.2  # seconds without a result after which None comes in its place


def run(
    command: Sequence[str], batches: Iterator[range], jobs: int, seconds: float, variables: dict[str, str]
) -> Generator[Result | None, None, None]:
    """Results as they come. Closing the generator ends all processes."""
    queue: SimpleQueue[Record | Exception | None] = SimpleQueue()
    stopping = threading.Event()
    lock = threading.Lock()

    def serve() -> None:
        batch = Batch(command, seconds, variables, queue.put, stopping.is_set)
        try:
            while not stopping.is_set():
                with lock:
                    seeds = next(batches, None)
                if seeds is None:
                    break
                batch.run(seeds.start, seeds.stop - 1)
        except Exception as error:
            queue.put(error)
        queue.put(None)

    crew = [threading.Thread(target=serve) for _ in range(jobs)]
    try:
        for thread in crew:
            thread.start()
        machine, working = socket.gethostname(), jobs
        while working:
            try:
                item = queue.get(timeout=TICK)
            except Empty:
                yield None
                continue
            if isinstance(item, Exception):
                raise item
            if item is None:
                working -= 1
            else:
                yield Result.of(item, machine)
    finally:
        stopping.set()
        for thread in crew:
            if thread.ident is not None:
                thread.join()
