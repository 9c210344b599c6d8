"""Configures and builds a CMake preset, with a progress bar."""

from __future__ import annotations

import fcntl
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from common.tree import ROOT
from millrace.common.failure import Failure
from millrace.common.process import stream
from millrace.common.progress import Bar

if TYPE_CHECKING:
    from rich.console import Console

_STEP = re.compile(r"\[(\d+)/(\d+)\] ")


class BuildError(Failure):
    """The build failed; the text is what it printed about its first error."""


def binary_dir(preset: str) -> Path:
    return ROOT / "build" / preset


def build(
    preset: str,
    console: Console,
    targets: Sequence[str] = (),
    *,
    source: Path = ROOT,
    binary: Path | None = None,
    options: Sequence[str] = (),
    title: str = "",
) -> None:
    """Builds `targets` (default: all); `source` may be another tree, `options` are for its configuration."""
    binary = binary or source / "build" / preset
    with locked(binary, console), Bar(console, title or f"building {preset}") as bar:
        _configure(["cmake", "--preset", preset, "-B", str(binary), *options], source, binary)
        lines: list[str] = []

        def on_line(line: str) -> None:
            lines.append(line)
            if step := _STEP.match(line):
                bar.update(int(step[1]), int(step[2]))

        command = ["cmake", "--build", str(binary)]
        if targets:
            command += ["--target", *targets]
        if stream(command, on_line):
            raise BuildError("\n".join(first_error(lines)))


@contextmanager
def locked(binary: Path, console: Console) -> Iterator[None]:
    """Locks a build folder, since two tools that configure or build in it at once would break it. The lock file is
    beside the folder, so that the folder can be removed."""
    binary.parent.mkdir(parents=True, exist_ok=True)
    with (binary.parent / f".{binary.name}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            console.out(f"another tool builds in {binary}: waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _configure(command: list[str], source: Path, binary: Path) -> None:
    lines: list[str] = []
    was_good = (binary / "CMakeCache.txt").exists()
    code = stream(command, lines.append, cwd=source)
    if code and was_good:
        # The cache may have wrong compilers, after one moved, or after a killed configure.
        lines.clear()
        code = stream([*command, "--fresh"], lines.append, cwd=source)
    if code:
        raise BuildError("\n".join(first_configure_error(lines)))


def first_error(lines: Sequence[str]) -> list[str]:
    """Ninja's output about the first failed command, without the command itself."""
    start = next((i for i, line in enumerate(lines) if line.startswith("FAILED: ")), None)
    if start is None:
        return list(lines)
    error = [lines[start]]
    # The line after FAILED is the command: long, and of no help.
    for line in lines[start + 2 :]:
        if _STEP.match(line) or line.startswith(("FAILED: ", "ninja: ")):
            break
        error.append(line)
    return error


def first_configure_error(lines: Sequence[str]) -> list[str]:
    """CMake's output about the first error, up to the next message, which is not indented."""
    start = next((i for i, line in enumerate(lines) if line.startswith("CMake Error")), None)
    if start is None:
        return list(lines)
    end = next((i for i, line in enumerate(lines[start + 1 :], start + 1) if line and not line.startswith(" ")), None)
    return [line for line in lines[start:end] if line]
