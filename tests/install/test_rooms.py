"""Each style, and the simulation, can be deleted: what does not need it compiles without it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STYLES = {  # what programs, and emitted code, include of each
    "flow/actor": ["flow/actor/runtime.h"],
    "flow/coro": ["flow/coro/coroutine.h", "flow/combine/race.h", "flow/coro/parameter_copies.h"],
    "flow/fiber": ["flow/fiber/fiber.h"],
}


def compile_without(folder: str, tree: Path, headers: list[str]) -> None:
    """In a copy of the tree that does not have the folder."""
    shutil.copytree(ROOT / "flow", tree / "flow", ignore=shutil.ignore_patterns("*.cpp"))
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


def missing_includes(root: Path, sources: list[str]) -> set[str]:
    """The quoted includes that are not in the tree, of these and of all that they include."""
    seen, missing, left = set(sources), set(), list(sources)
    while left:
        for name in re.findall(r'^ *#include "([^"]+)"', (root / left.pop()).read_text(encoding="utf-8"), re.MULTILINE):
            if not (root / name).exists():
                missing.add(name)
            elif name not in seen:
                seen.add(name)
                left.append(name)
    return missing


def test_only_the_folders_that_are_written_in_coroutines_need_them(tmp_path: Path) -> None:
    """The core, the loop, plain files, memory, fibers and actors do without; the rest of flow/ and net/ do not."""
    above = ("coro", "combine", "sync", "tasks", "parallel", "sim", "testing", "compat")
    over_files = ("buffered_writer.*", "file_tools.*", "journal.*", "lines.*")
    ignored = shutil.ignore_patterns(*above, *over_files, "docs", "flow.h", "sim.h")
    shutil.copytree(ROOT / "flow", tmp_path / "flow", ignore=ignored)
    for name in ("flow/combine/quorum.h", "flow/combine/quorum.cpp", "flow/sync/event.h"):  # do without, too
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    names = (path for suffix in ("h", "cpp") for path in (tmp_path / "flow").glob(f"*/*.{suffix}"))
    sources = [str(path.relative_to(tmp_path)) for path in names]
    assert len(sources) > 150
    assert missing_includes(tmp_path, sources) == set()


def test_the_libraries_are_built_without_all_styles_but_coroutines_and_without_the_simulation(tmp_path: Path) -> None:
    for folder in ("actorc", "flow", "net"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__", "examples"))
    shutil.copy(ROOT / "CMakeLists.txt", tmp_path)
    for folder in ("flow/actor", "flow/fiber", "flow/parallel", "flow/sim", "net/sim"):
        shutil.rmtree(tmp_path / folder)
    options = [f"-DMILLRACE_BUILD_{what}=OFF" for what in ("TESTS", "BENCH", "EXAMPLES")]
    configure = ["cmake", "-S.", "-Bbuild", "-GNinja", "-DCMAKE_CXX_COMPILER=clang++-19", "-DMILLRACE_INSTALL=OFF"]
    subprocess.run([*configure, *options], check=True, cwd=tmp_path, stdout=subprocess.DEVNULL)
    inputs = subprocess.run(
        ["ninja", "-C", "build", "-t", "inputs", "all"], check=True, cwd=tmp_path, capture_output=True, text=True
    )
    sources = [str(Path(line).relative_to(tmp_path)) for line in inputs.stdout.splitlines() if line.endswith(".cpp")]
    assert len(sources) > 100
    assert missing_includes(tmp_path, sources) == set()
