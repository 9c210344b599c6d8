"""Random programs: the model, the state machine and the coroutine give the same trace."""

from __future__ import annotations

import os

import pytest

from fuzzlib.campaign import run, tasks
from fuzzlib.report import reproducer
from fuzzlib.toolchain import TOOLCHAINS

PROGRAMS = 2000
SEED = 20


def test_random_programs() -> None:
    compilers = [name for name, toolchain in TOOLCHAINS.items() if toolchain.is_there]
    pending = tasks(SEED, range(PROGRAMS), compilers)
    found = [each for _, differences in run(pending, os.cpu_count() or 1) for each in differences]
    if found:
        pytest.fail("\n\n".join(reproducer(each, each.difference) for each in found[:3]))
