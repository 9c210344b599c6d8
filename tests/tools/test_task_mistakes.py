"""The examples of flow/docs/structured_tasks.md: those that are mistakes do not compile, and say why; the others do."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from common.precompiled import precompiled

ROOT = Path(__file__).resolve().parents[2]
BLOCKS = re.findall(
    r"```cpp\n(.*?)```", (ROOT / "flow/docs/structured_tasks.md").read_text(encoding="utf-8"), re.DOTALL
)
HEADER = "flow/tasks/combine.h"
START = f'#include "{HEADER}"\nusing namespace flow;\n'


def compile_text(text: str, header: str = "") -> subprocess.CompletedProcess[str]:
    compiler = shutil.which("clang++-19")
    if not compiler:
        pytest.skip("there is no clang++-19")
    flags = [compiler, "-std=c++20", f"-I{ROOT}", "-Wall", "-Wextra", "-Werror"]
    options = precompiled(*flags, headers=(header,)) if header else ()
    command = [*flags, *options, "-fsyntax-only", "-xc++", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def test_there_are_examples_of_both_kinds() -> None:
    mistakes = [block for block in BLOCKS if block.startswith("// error: ")]
    assert 5 <= len(mistakes) < len(BLOCKS)


@pytest.mark.parametrize("block", BLOCKS)
def test_example(block: str) -> None:
    expected = re.match(r"// error: (.*)\n", block)
    # Those that are no mistakes are whole: they include what they use.
    run = compile_text(START + block, HEADER) if expected else compile_text(block)
    if expected:
        assert run.returncode != 0
        assert expected[1] in run.stderr
    else:
        assert run.returncode == 0, run.stderr
