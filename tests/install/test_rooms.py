"""Each style, and the simulation, can be deleted: what does not need it compiles without it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STYLES = {  # what programs, and emitted code, include of each
    "flow/actor": ["flow/actor/runtime.h"],
    "flow/coro": ["flow/coro/coroutine.h", "flow/coro/race.h", "flow/coro/parameter_copies.h"],
    "flow/fiber": ["flow/fiber/fiber.h"],
}


def compile_without(folder: str, tree: Path, headers: list[str]) -> None:
    """In a copy of the tree that does not have the folder."""
    shutil.copytree(ROOT / "flow", tree / "flow", ignore=shutil.ignore_patterns("*.cpp", "compat"))
    shutil.rmtree(tree / folder)
    text = "".join(f'#include "{header}"\n' for header in headers) + "int main() {}\n"
    (tree / "main.cpp").write_text(text, encoding="utf-8")
    subprocess.run(["clang++-19", "-std=c++20", "-fsyntax-only", "-I.", "main.cpp"], check=True, cwd=tree)


@pytest.mark.parametrize("folder", STYLES)
def test_the_other_styles_compile_without_one(folder: str, tmp_path: Path) -> None:
    others = [header for style, headers in STYLES.items() if style != folder for header in headers]
    compile_without(folder, tmp_path, others)


def test_flow_compiles_without_the_simulation(tmp_path: Path) -> None:
    compile_without("flow/sim", tmp_path, ["flow/flow.h"])
