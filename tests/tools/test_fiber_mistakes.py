"""What a fiber cannot wait for does not compile, and the compiler says what to write instead."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from common.precompiled import precompiled

ROOT = Path(__file__).resolve().parents[2]
TEXT = """
#include "flow/fiber/fiber.h"
#include "flow/tasks/task.h"
using namespace flow;
Task<int> task(Context);
Future<int> wait(Environment& environment, [[maybe_unused]] Promise<int>& promise) {
    return fiber::spawn([&] { return fiber::wait(%s); });
}
"""


@pytest.mark.parametrize(
    ("operand", "message"),
    [
        ("5", "a fiber waits for a Future, a FutureStream, a delay, an operation, a race, a task"),
        ("promise", "write wait(p.getFuture())"),
        ("task(environment)", ""),
        ("start(task(environment))", ""),
    ],
)
def test_operand(operand: str, message: str) -> None:
    compiler = shutil.which("clang++-19")
    if not compiler:
        pytest.skip("there is no clang++-19")
    flags = [compiler, "-std=c++20", f"-I{ROOT}", "-Wall", "-Wextra", "-Werror"]
    command = [*flags, *precompiled(*flags, headers=("flow/fiber/fiber.h",)), "-fsyntax-only", "-xc++", "-"]
    run = subprocess.run(command, input=TEXT % operand, capture_output=True, text=True, check=False)
    assert (run.returncode == 0) == (message == ""), run.stderr
    assert message in run.stderr
