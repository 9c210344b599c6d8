"""Compilers for generated programs: a preset's library, the driver and a precompiled prelude, built once for each."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from common.build import binary_dir, build
from common.tree import ROOT
from millrace.common.console import plain
from millrace.common.sanitizer import SANITIZER

HERE = Path(__file__).parent
KEPT = 3  # folders of a toolchain, 20 to 100 MB each


class CompileError(Exception):
    """The output of the compiler."""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """`preset`: the programs are linked with its build of the library."""

    name: str
    preset: str
    compiler: str
    flags: tuple[str, ...]
    linking: tuple[str, ...] = ()

    @property
    def is_there(self) -> bool:
        return shutil.which(self.compiler) is not None

    @cache  # noqa: B019 - there are three toolchains, and they live as long as the program
    def prepare(self) -> Path:
        """Builds what all programs share, unless an earlier run did; returns its folder. A process that is killed must
        not be the first to call it: the build would go on."""
        build(self.preset, plain(stderr=True), ("flow",))
        folder = ROOT / "build" / "fuzz" / f"{self.name}-{self._digest()}"
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / "done").exists():
                self._build(folder)
                (folder / "done").touch()
        self._prune(folder)
        return folder

    def compile(self, folder: Path, source: Path, result: Path | None = None) -> Path:
        result = result or source.with_suffix(".o")
        header = ("-include-pch", str(folder / "begin.pch")) if "clang" in self.compiler else ("-include", "begin.h")
        self._run(*self._common(folder), *header, "-c", str(source), "-o", str(result))
        return result

    def link(self, folder: Path, objects: Iterable[Path], result: Path) -> None:
        library = binary_dir(self.preset) / "libmillrace_flow.a"
        parts = map(str, (*objects, folder / "driver.o", library))
        self._run(*self.flags, *self.linking, *parts, "-o", str(result))

    def _common(self, folder: Path) -> list[str]:
        defines = ["-DNO_INTELLISENSE", "-DFLOW_CHECKED=1"]
        return ["-std=c++20", "-w", *self.flags, *defines, "-I", str(folder), "-I", str(ROOT), "-I", str(HERE)]

    def _build(self, folder: Path) -> None:
        begin = folder / "begin.h"  # what all programs begin with
        begin.write_text('#include "flow/sim.h"\n#include "prelude.h"\n', encoding="utf-8")
        header, options = "begin.h.gch", []
        if "clang" in self.compiler:  # the compiler would reject it after a header is touched but not changed
            header, options = "begin.pch", ["-fpch-instantiate-templates", "-Xclang", "-fno-pch-timestamp"]
        self._run(*self._common(folder), *options, "-x", "c++-header", str(begin), "-o", str(folder / header))
        self.compile(folder, HERE / "driver.cpp", folder / "driver.o")

    def _prune(self, used: Path) -> None:
        """Removes what was built for other headers, but for the folders used last: a run may still use one."""
        os.utime(used)
        folders = sorted(used.parent.glob(f"{self.name}-*"), key=lambda each: each.stat().st_mtime_ns, reverse=True)
        for folder in folders[KEPT:]:
            shutil.rmtree(folder, ignore_errors=True)

    def _run(self, *arguments: str) -> None:
        done = subprocess.run(
            [self.compiler, *arguments], capture_output=True, text=True, check=False, errors="replace"
        )
        if done.returncode:
            raise CompileError(done.stderr)

    def _digest(self) -> str:
        digest = hashlib.sha256(repr(self).encode())
        for path in [*sorted((ROOT / "flow").rglob("*.h")), HERE / "driver.cpp", HERE / "prelude.h", Path(__file__)]:
            digest.update(path.read_bytes())
        return digest.hexdigest()[:12]


_CLANG = ("-O0", "-fcoro-aligned-allocation")
TOOLCHAINS = {
    each.name: each
    for each in (
        Toolchain("clang", "tests", "clang++-19", _CLANG, ("-fuse-ld=lld",)),
        Toolchain("gcc", "gcc-checked", "g++", ("-O0",)),
        Toolchain("asan", "asan", "clang++-19", (*_CLANG, "-g1", "-fsanitize=address,undefined"), ("-fuse-ld=lld",)),
    )
}


def environment() -> dict[str, str]:
    return {**os.environ, **SANITIZER, "ASAN_OPTIONS": f"{SANITIZER['ASAN_OPTIONS']}:detect_leaks=0"}
