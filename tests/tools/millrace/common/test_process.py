"""How the tools run other programs."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from millrace.common.process import side_by_side, stream


def test_each_command_ends_with_its_code_and_what_it_printed() -> None:
    commands = [["sh", "-c", f"echo {i}; echo error >&2; exit {i}"] for i in range(5)]
    ended = {}
    side_by_side(commands, 2, lambda index, code, output: ended.update({index: (code, output)}))
    assert ended == {i: (i, f"{i}\nerror\n") for i in range(5)}


def test_commands_run_at_once_but_no_more_than_asked_for(tmp_path: Path) -> None:
    # Each says that it runs, and all but the last pair wait for company: alone they would never end.
    wait = f"touch {tmp_path}/$0; while [ $(ls {tmp_path} | wc -l) -lt 2 ]; do :; done; ls {tmp_path} | wc -l"
    seen = []
    side_by_side([["sh", "-c", wait, str(i)] for i in range(2)], 2, lambda *ended: seen.append(ended[2].strip()))
    assert seen == ["2", "2"]


def test_no_more_start_than_asked_for(tmp_path: Path) -> None:
    alone = f"mkdir {tmp_path}/one && rmdir {tmp_path}/one"
    codes = []
    side_by_side([["sh", "-c", alone]] * 5, 1, lambda _index, code, _output: codes.append(code))
    assert codes == [0] * 5


def test_what_runs_ends_when_one_is_not_wanted(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    sleeper = ["sh", "-c", f"echo $$ > {file}.new && mv {file}.new {file} && exec sleep 600"]
    other = ["sh", "-c", f"while [ ! -e {file} ]; do sleep 0.01; done"]

    def refuse(*_: object) -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        side_by_side([sleeper, other], 2, refuse)
    with pytest.raises(ProcessLookupError):
        os.kill(int(file.read_text()), 0)


@pytest.mark.parametrize(
    "run", [lambda sleep: stream(sleep, print), lambda sleep: side_by_side([sleep], 1, lambda *_: None)]
)
def test_an_interrupt_while_a_command_starts(
    run: Callable[[list[str]], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []

    class Interrupted(subprocess.Popen[str]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            started.append(self.pid)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(["sleep", "60"])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(ProcessLookupError):
        os.kill(started[0], 0)
