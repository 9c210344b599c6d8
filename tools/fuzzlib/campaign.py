"""Many programs over all cores."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from actorc.driver import BACKENDS
from fuzzlib.batch import Difference, Program, check
from fuzzlib.forms import rules_for
from fuzzlib.generate import program
from fuzzlib.shrink import shrunk
from fuzzlib.toolchain import TOOLCHAINS
from fuzzlib.workers import unordered

BATCH = 100  # programs in one file
SANITIZED_EVERY = 20  # batches


@dataclass(frozen=True, slots=True)
class Task:
    seed: int
    indices: range
    toolchain: str
    forms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """A difference, and the command that reproduces it."""

    seed: int
    index: int
    toolchain: str
    forms: tuple[str, ...]
    difference: Difference


def generated(seed: int, index: int, forms: Sequence[str] = BACKENDS, toolchain: str = "clang") -> Program:
    return Program(program(seed, index, rules_for(forms, toolchain)), index * 1000)


def tasks(seed: int, indices: range, toolchains: Sequence[str], forms: tuple[str, ...] = BACKENDS) -> list[Task]:
    """Batches for the toolchains in turn; of those with sanitizers, which are slow, one now and then."""
    quick = [name for name in toolchains if name != "asan"] or list(toolchains)
    found = []
    for number, first in enumerate(range(indices.start, indices.stop, BATCH)):
        name = quick[number % len(quick)]
        if "asan" in toolchains and number % SANITIZED_EVERY == 0:
            name = "asan"
        found.append(Task(seed, range(first, min(first + BATCH, indices.stop)), name, forms))
    return found


def run(found: Sequence[Task], jobs: int) -> Generator[tuple[Task, list[Found]], None, None]:
    """The differences of each task, as the tasks end."""
    for name in sorted({task.toolchain for task in found}):
        _prepare(name)
    yield from unordered(_work, found, jobs)


def made_small(found: Found) -> Difference:
    """In a process of its own, so that the compiler ends with this program."""
    [difference] = unordered(_shrink, [found], 1)
    return difference


def _prepare(toolchain: str) -> None:
    TOOLCHAINS[toolchain].prepare()


def _shrink(found: Found) -> Difference:
    return shrunk(found.difference, TOOLCHAINS[found.toolchain], forms=found.forms)


def _work(task: Task) -> tuple[Task, list[Found]]:
    programs = {index: generated(task.seed, index, task.forms, task.toolchain) for index in task.indices}
    by_start = {program.start: index for index, program in programs.items()}
    differences = check(list(programs.values()), TOOLCHAINS[task.toolchain], forms=task.forms)
    return task, [
        Found(task.seed, by_start[each.program.start], task.toolchain, task.forms, each) for each in differences
    ]
