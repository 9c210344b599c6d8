"""Running other programs so that none outlives us."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parents[2]


def stream(
    command: Sequence[str | Path],
    on_line: Callable[[str], None],
    cwd: Path = ROOT,
    variables: dict[str, str] | None = None,
) -> int:
    """Runs a command, hands over each line it prints (errors included), and returns its exit code."""
    # A session of its own, so that we can end the command together with everything it started.
    with subprocess.Popen(
        command,
        cwd=cwd,
        env={**os.environ, **(variables or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as child:
        assert child.stdout is not None
        try:
            for line in child.stdout:
                on_line(line.rstrip("\n"))
            return child.wait()
        except BaseException:
            _stop(child)
            raise


def _stop(child: subprocess.Popen[str]) -> None:
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
