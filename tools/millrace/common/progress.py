"""A progress bar on a terminal; elsewhere a line now and then."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

# Rarely enough for a log to stay readable, often enough to see that it is alive.
LINE_INTERVAL = 10.0


class Bar:
    """One piece of work of a known length: `with Bar(console, "building") as bar: bar.update(3, 10)`."""

    def __init__(self, console: Console, title: str) -> None:
        self._console = console
        self._title = title
        self._said = time.monotonic()
        self._bar: Progress | None = None
        if console.is_terminal and not console.is_dumb_terminal:
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

            self._bar = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.fields[note]}", markup=False),
                console=console,
                transient=True,
            )
            self._task = self._bar.add_task(title, total=None, note="")

    def __enter__(self) -> Bar:
        if self._bar:
            self._bar.start()
        return self

    def update(self, done: int, total: int, note: str = "") -> None:
        """`note`: a further remark."""
        if self._bar:
            self._bar.update(self._task, completed=done, total=total, note=note)
        elif time.monotonic() - self._said > LINE_INTERVAL:
            self._said = time.monotonic()
            more = f", {note}" if note else ""
            self._console.print(f"{self._title}: {done}/{total}{more}", soft_wrap=True)

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._bar:
            self._bar.stop()
