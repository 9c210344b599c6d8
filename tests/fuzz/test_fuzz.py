"""Random programs: the model, the back ends and what they are migrated to give the same trace."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest

from actorc_migrate.settings import TARGETS
from fuzzlib.campaign import Task, run, tasks
from fuzzlib.forms import migrated_forms
from fuzzlib.report import reproducer
from fuzzlib.toolchain import TOOLCHAINS

SEED = 20
# Programs that are compiled as they are, and as many that are migrated to each target; and the compilers.
SIZES = pytest.mark.parametrize(
    ("programs", "compilers"),
    [(20, ("clang",)), pytest.param(2000, tuple(TOOLCHAINS), marks=pytest.mark.long)],
)


def differences(pending: Sequence[Task]) -> list[str]:
    found = [each for _, differing in run(pending, os.cpu_count() or 1) for each in differing]
    return [reproducer(each, each.difference) for each in found[:3]]


@SIZES
def test_random_programs(programs: int, compilers: tuple[str, ...]) -> None:
    found = differences(tasks(SEED, range(programs), compilers))
    assert not found, "\n\n".join(found)


@SIZES
def test_random_programs_migrated(programs: int, compilers: tuple[str, ...]) -> None:
    pending = [
        task
        for number, form in enumerate(migrated_forms(TARGETS))
        for task in tasks(SEED, range(number * programs, (number + 1) * programs), compilers, (form,))
    ]
    found = differences(pending)
    assert not found, "\n\n".join(found)
