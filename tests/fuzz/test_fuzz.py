"""Random programs: the model, the back ends and what they are migrated to give the same trace."""

from __future__ import annotations

import os
from collections.abc import Sequence

from actorc_migrate.settings import TARGETS
from fuzzlib.campaign import Task, run, tasks
from fuzzlib.forms import migrated_forms
from fuzzlib.report import reproducer
from fuzzlib.toolchain import TOOLCHAINS

PROGRAMS = 2000
SEED = 20


MIGRATED = 2000  # for each target


def differences(pending: Sequence[Task]) -> list[str]:
    found = [each for _, differing in run(pending, os.cpu_count() or 1) for each in differing]
    return [reproducer(each, each.difference) for each in found[:3]]


def compilers() -> list[str]:
    return [name for name, toolchain in TOOLCHAINS.items() if toolchain.is_there]


def test_random_programs() -> None:
    found = differences(tasks(SEED, range(PROGRAMS), compilers()))
    assert not found, "\n\n".join(found)


def test_random_programs_migrated() -> None:
    forms = migrated_forms(TARGETS)
    pending = [
        task
        for number, form in enumerate(forms)
        for task in tasks(SEED, range(number * MIGRATED, (number + 1) * MIGRATED), compilers(), (form,))
    ]
    found = differences(pending)
    assert not found, "\n\n".join(found)
