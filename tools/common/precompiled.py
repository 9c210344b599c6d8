"""Headers that a compiler reads once for all sources that begin with them, in whatever process they are compiled.

flags = ("-std=c++20", "-Wall")
subprocess.run(["clang++-19", *flags, *precompiled("clang++-19", *flags), "-fsyntax-only", "x.cpp"])
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from common.tree import ROOT

PLACE = ROOT / "build" / "precompiled"


@cache
def precompiled(compiler: str, *flags: str, headers: tuple[str, ...] = ("flow/flow.h",)) -> tuple[str, ...]:
    """Options that include these headers, which are named by their paths in this tree, in what is compiled with these
    flags."""

    def make(source: Path, result: Path) -> Iterable[str]:
        depends = result.with_suffix(".d")
        command = [compiler, *flags, "-I", str(ROOT), "-MD", "-MF", str(depends), "-x", "c++-header", str(source)]
        # The templates that the headers use are instantiated here, and not once more for each source.
        more = ["-fpch-instantiate-templates"] if "clang" in compiler else []
        subprocess.run([*command, *more, "-o", str(result)], check=True)
        names = depends.read_text(encoding="utf-8").replace("\\\n", " ").split()[1:]
        return [*names, shutil.which(compiler) or compiler]

    source, _ = kept((compiler, *flags), headers, "pch" if "clang" in compiler else "gch", make)
    return "-include", str(source)  # what is beside it is taken in its place


def kept(
    key: Sequence[str], headers: Sequence[str], suffix: str, make: Callable[[Path, Path], Iterable[str]]
) -> tuple[Path, Path]:
    """A file that includes the headers, and what `make` makes of it, which gives the paths of all that it has read. It
    is made anew after one of them has changed."""
    folder = PLACE / hashlib.sha256(repr((key, headers)).encode()).hexdigest()[:12]
    source, result, inputs = folder / "precompiled.h", folder / f"precompiled.h.{suffix}", folder / "inputs.json"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not result.exists() or not _are_unchanged(inputs):
            inputs.unlink(missing_ok=True)
            source.write_text("".join(f'#include "{header}"\n' for header in headers), encoding="utf-8")
            inputs.write_text(json.dumps(_state(make(source, result))), encoding="utf-8")
    return source, result


def _are_unchanged(inputs: Path) -> bool:
    with suppress(OSError, ValueError):
        before = json.loads(inputs.read_text(encoding="utf-8"))
        return bool(before == _state(before))
    return False


def _state(paths: Iterable[str]) -> dict[str, list[int]]:
    found = {path: Path(path).stat() for path in paths}
    return {path: [each.st_mtime_ns, each.st_size] for path, each in found.items()}
