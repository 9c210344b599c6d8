"""Builds the benchmark program of a side."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console

from benchlib.arguments import TARGET
from benchlib.compare.checkout import Store
from benchlib.compare.presets import presets
from benchlib.compare.side import Build
from common.build import BuildError, build
from millrace.common.arguments import unknown
from millrace.common.failure import Failure

_REPRODUCIBLE = Path(__file__).with_name("reproducible.cmake")


def build_program(side: Build, letter: str, store: Store, root: Path, console: Console) -> Path:
    """Builds a side; the lock of the store must be held. The working tree is built where it is."""
    tree = root if side.commit is None else store.tree(side.commit)
    _check(side, tree)
    # The same place in each tree, so that relative paths in ccache are the same.
    binary = tree / "build" / f"compare-{side.preset}"
    options = [f"-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES={_REPRODUCIBLE}", f"-DMILLRACE_PYTHON={sys.executable}"]
    options += ["-DMILLRACE_BUILD_BENCH=ON", "-DMILLRACE_BUILD_TESTS=OFF", "-DMILLRACE_BUILD_EXAMPLES=OFF"]
    title = f"building {letter}, {side.text}"
    try:
        build(side.preset, console, [TARGET], source=tree, binary=binary, options=options, title=title)
    except BuildError as error:
        if f"unknown target '{TARGET}'" in str(error):
            raise Failure(f"{side.text} has no benchmarks: there is no target {TARGET}") from error
        raise Failure(f"{side.text} does not build:\n{error}") from error
    return binary / "bench" / TARGET


def _check(side: Build, tree: Path) -> None:
    """Reports what a revision lacks, in one line."""
    if not (tree / "bench" / "CMakeLists.txt").exists():
        raise Failure(f"{side.text} has no benchmarks: there is no bench/CMakeLists.txt")
    found = presets(tree)
    if side.preset not in found:
        raise Failure(f"{side.text}: {unknown('preset', side.preset, found)}")
