"""The code of a cluster's worker, which gets this module by value too."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence

from millrace.simulate.batch import Batch, Record, file_hash


class WrongProgramError(Exception):
    """The worker has no such program, or another one."""


def run(
    command: Sequence[str],
    program_hash: str,
    first: int,
    last: int,
    seconds: float,
    variables: dict[str, str],
    stopped: Callable[[], bool],
) -> tuple[str, list[Record]]:
    """The machine's name, and a record of each seed."""
    machine = socket.gethostname()
    try:
        if (found := file_hash(command[0])) != program_hash:
            raise WrongProgramError(f"{machine} has another program at {command[0]}: {found}, not {program_hash}")
        records: dict[int, Record] = {}
        Batch(command, seconds, variables, lambda record: records.update({record["seed"]: record}), stopped).run(
            first, last
        )
    except OSError as error:
        raise WrongProgramError(f"{machine} cannot run {command[0]}: {error.strerror}") from error
    return machine, list(records.values())


def run_until_released(
    command: Sequence[str], program_hash: str, first: int, last: int, seconds: float, variables: dict[str, str]
) -> tuple[str, list[Record]]:
    """A task of Dask. It cannot be interrupted, so it polls whether its result is still needed."""
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def released() -> bool:
        task = worker.state.tasks.get(key)
        return task is None or task.state in ("cancelled", "released", "forgotten")

    return run(command, program_hash, first, last, seconds, variables, released)
