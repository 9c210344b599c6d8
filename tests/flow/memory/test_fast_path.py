"""What a compiler makes of taking and giving back a block: a handful of instructions, no call, no lock, no guard."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SOURCE = """
#include "flow/memory/fast_allocator.h"
extern "C" void* take() { return flow::FastAllocator<88>::allocate(); }
extern "C" void giveBack(void* block) { flow::FastAllocator<88>::release(block); }
"""
COMPILERS = [c for c in ("clang++-19", "g++") if shutil.which(c)]


def fast_path(function: str, listing: str) -> list[str]:
    """The instructions of a function, with their relocations, up to the return; what follows is the slow path."""
    body = listing.split(f"<{function}>:\n", 1)[1]
    lines = [line.split(":", 1)[1].strip() for line in body.splitlines() if ":" in line]
    instructions = [line for line in lines if line and not line.startswith("R_X86_64_TPOFF")]
    return instructions[: instructions.index("ret")]


@pytest.mark.parametrize("flags", [["-O3"], ["-O3", "-fPIE"], ["-O3", "-fPIC", "-ftls-model=initial-exec"]])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_no_call_and_no_lock(compiler: str, flags: list[str], tmp_path: Path) -> None:
    code = tmp_path / "pair.o"
    command = [compiler, "-std=c++20", *flags, "-I", str(ROOT), "-x", "c++", "-c", "-", "-o", str(code)]
    subprocess.run(command, input=SOURCE, text=True, check=True)
    listing = subprocess.run(
        ["objdump", "-dr", "--no-show-raw-insn", str(code)], text=True, check=True, capture_output=True
    ).stdout
    for function in ("take", "giveBack"):
        instructions = fast_path(function, listing)
        assert 0 < len(instructions) <= 12, instructions
        for instruction in instructions:
            assert not re.match(r"call|lock|xchg .*\(", instruction), instructions
            assert not instruction.startswith("R_X86_64_PLT32"), instructions
