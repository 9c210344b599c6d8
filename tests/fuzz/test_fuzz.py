"""Random programs: the model, the back ends and what they are migrated to give the same trace."""

from __future__ import annotations

import os
from collections.abc import Sequence

from actorc_migrate.settings import TARGETS
from fuzzlib.campaign import Task, run, tasks
from fuzzlib.forms import migrated_forms
from fuzzlib.report import reproducer
from fuzzlib.toolchain import TOOLCHAINS

SEED = 20


def programs(is_long: bool) -> int:
    """Of those that are compiled as they are, and of those that are migrated to each target."""
    return 2000 if is_long else 40


def differences(pending: Sequence[Task]) -> list[str]:
    found = [each for _, differing in run(pending, os.cpu_count() or 1) for each in differing]
    return [reproducer(each, each.difference) for each in found[:3]]


def compilers() -> list[str]:
    return [name for name, toolchain in TOOLCHAINS.items() if toolchain.is_there]


def test_random_programs(is_long: bool) -> None:
    found = differences(tasks(SEED, range(programs(is_long)), compilers()))
    assert not found, "\n\n".join(found)


def test_random_programs_migrated(is_long: bool) -> None:
    forms = migrated_forms(TARGETS)
    count = programs(is_long)
    pending = [
        task
        for number, form in enumerate(forms)
        for task in tasks(SEED, range(number * count, (number + 1) * count), compilers(), (form,))
    ]
    found = differences(pending)
    assert not found, "\n\n".join(found)
