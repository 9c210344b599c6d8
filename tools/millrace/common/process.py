"""Runs other programs so that none outlives this one. `cwd`: None is the current folder."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import IO, Any

_PAUSE = 0.01  # seconds between two checks of parallel commands


def stream(
    command: Sequence[str | Path],
    on_line: Callable[[str], None],
    cwd: Path | None = None,
    variables: dict[str, str] | None = None,
) -> int:
    """Runs a command, calls `on_line` with each line it prints (errors included), and returns its exit code."""
    with running(command, cwd, variables, subprocess.PIPE) as child:
        assert child.stdout is not None
        for line in child.stdout:
            on_line(line.rstrip("\n"))
        return child.wait()


def side_by_side(
    commands: Sequence[Sequence[str | Path]],
    width: int,
    on_end: Callable[[int, int, str], None],
    variables: dict[str, str] | None = None,
    cwd: Path | None = None,
) -> None:
    """Runs commands, `width` at a time, and calls `on_end` with the index, the exit code and the output of each.

    If the caller raises, the other commands end too.
    """
    waiting = list(enumerate(commands))
    alive: dict[int, tuple[ExitStack, subprocess.Popen[str], IO[str]]] = {}
    with ExitStack() as all_of_them:
        while waiting or alive:
            while waiting and len(alive) < width:
                index, command = waiting.pop(0)
                with _uninterrupted():
                    own = all_of_them.enter_context(ExitStack())
                    # A full pipe without a reader would block a command that prints much.
                    printed: IO[str] = own.enter_context(tempfile.TemporaryFile("w+", errors="replace"))
                    alive[index] = own, own.enter_context(running(command, cwd, variables, printed)), printed
            time.sleep(_PAUSE)
            for index, (own, child, printed) in list(alive.items()):
                if (code := child.poll()) is not None:
                    del alive[index]
                    with own:
                        printed.seek(0)
                        output = printed.read()
                    on_end(index, code, output)


def ending(code: int) -> str:
    """Describes the end of a program that did not succeed."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


@contextmanager
def running(
    command: Sequence[str | Path],
    cwd: Path | None,
    variables: dict[str, str] | None,
    output: int | IO[str],
    errors: int | IO[bytes] = subprocess.STDOUT,
) -> Iterator[subprocess.Popen[str]]:
    """Stops the command if the block raises."""
    with ExitStack() as stack:
        with _uninterrupted():
            # A session of its own, so that we can end the command together with everything it started.
            child = subprocess.Popen(
                command,
                cwd=cwd,
                env={**os.environ, **(variables or {})},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                text=True,
                errors="replace",
                start_new_session=True,
            )
            stack.enter_context(child)
            stack.push(lambda kind, _error, _trace: stop(child) if kind else None)
        yield child


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Delays an interrupt to the end of the block, so that no process is started and lost."""
    came: list[int] = []
    before: dict[signal.Signals, Any] = {}
    try:
        if threading.current_thread() is threading.main_thread():  # others are not interrupted
            for number in (signal.SIGINT, signal.SIGTERM):
                before[number] = signal.signal(number, lambda number, _frame: came.append(number))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


def stop(child: subprocess.Popen[str]) -> None:
    """With all that it started."""
    for number, patience in ((signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0)):
        try:
            os.killpg(child.pid, number)
            child.wait(patience)
            return
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


def interrupt_on_terminate() -> None:
    """Makes SIGTERM end this program as Ctrl-C does, so that its children end too."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)


def revision(folder: Path | None = None) -> str:
    """Of the Git repository of a folder."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except OSError:
        return "unknown"
    return run.stdout.strip() or "unknown"
