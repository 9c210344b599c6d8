"""Batches over the workers of a Dask cluster. Imported only when there is one: Dask takes long to load."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from typing import Any

import cloudpickle  # type: ignore[import-untyped]
from distributed import Client, Future, wait
from distributed.scheduler import KilledWorker

import millrace.common.process
from millrace.common.failure import Failure
from millrace.simulate import batch, task
from millrace.simulate.local import TICK
from millrace.simulate.results import Result

PATIENCE = 5.0  # seconds for the scheduler to answer, and for a first worker to be there
ABSENCE = 60.0  # seconds without any worker, in the middle of a run
AHEAD = 3  # batches that wait for each thread of the workers
TRIES = 3  # for a batch with workers that crash; Dask makes several attempts each

logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # we print its errors in a line


class _ByValue:
    """A function that is sent to a worker by value, so that the worker does not need the module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        for module in (batch, task, millrace.common.process):
            cloudpickle.register_pickle_by_value(module)
        self._function = function
        self._bytes = cloudpickle.dumps(function)

    def __call__(self, *arguments: Any) -> Any:
        return self._function(*arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        return cloudpickle.loads, (self._bytes,)


class Cluster:
    def __init__(self, address: str) -> None:
        """A Failure after PATIENCE if there is no worker."""
        self._address = address
        try:
            self._client = Client(address, timeout=PATIENCE)
        except (OSError, TimeoutError, ValueError) as error:
            raise Failure(f"cannot reach a scheduler at {address}: {error}") from error
        try:
            self._client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            self._client.close()
            raise Failure(f"the scheduler at {address} has no workers; start some: dask worker {address}") from None

    def close(self) -> None:
        self._client.close(timeout=PATIENCE)

    def threads(self) -> int:
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        return sum(each["nthreads"] for each in workers.values())

    def run(
        self,
        command: Sequence[str],
        program_hash: str,
        batches: Iterator[range],
        seconds: float,
        variables: dict[str, str],
    ) -> Generator[Result | None, None, None]:
        """As local.run(). The program must be at the same place on each worker, and be the same."""
        work = _ByValue(task.run_until_released)
        waiting: dict[Future[Any], tuple[range, int]] = {}

        def submit(seeds: range, tries: int) -> None:
            arguments = (command, program_hash, seeds.start, seeds.stop - 1, seconds, variables)
            future = self._client.submit(work, *arguments, pure=False)
            waiting[future] = seeds, tries

        present = time.monotonic()
        try:
            while True:
                if threads := self.threads():
                    present = time.monotonic()
                elif time.monotonic() - present > ABSENCE:
                    raise Failure(f"no worker has been there for {ABSENCE:g} s")
                while len(waiting) < AHEAD * threads and (seeds := next(batches, None)) is not None:
                    submit(seeds, 1)
                if not waiting and threads:
                    return
                for future in self._done(list(waiting)):
                    seeds, tries = waiting.pop(future)
                    if future.status == "finished":
                        machine, records = future.result()
                        yield from (Result.of(record, machine) for record in records)
                    elif isinstance(error := future.exception(), KilledWorker) and tries < TRIES:
                        submit(seeds, tries + 1)
                    else:
                        raise Failure(f"seeds {seeds.start}..{seeds.stop - 1}: {error or future.status}")
                yield None
        except (CancelledError, OSError) as error:
            raise Failure(f"the connection to the scheduler at {self._address} is lost") from error
        finally:
            self._client.cancel(list(waiting), force=True)

    @staticmethod
    def _done(futures: Sequence[Future[Any]]) -> list[Future[Any]]:
        if not futures:
            time.sleep(TICK)
            return []
        try:
            return list(wait(futures, timeout=TICK, return_when="FIRST_COMPLETED").done)
        except TimeoutError:
            return []
