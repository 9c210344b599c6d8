"""How all tables of tools/bench look, and how they write numbers."""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.table import Table

from perf.results import TITLES, Row


def output() -> Console:
    """Where tables go: a terminal, or Markdown in a file or a pipe."""
    out = Console(highlight=False)
    return out if out.is_terminal else Console(highlight=False, no_color=True, width=200)


def number(value: float | None) -> str:
    if value is None:
        return "-"
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 or value == 0 else f"{value:.2f}"


def count(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}".rstrip("0").rstrip(".")


def more(old: float | None, new: float | None) -> str:
    """By how much `new` is more than `old`."""
    if not old or new is None:
        return "-"
    percent = (new / old - 1) * 100
    return f"{percent:+.{0 if percent >= 1000 else 1}f} %"


def empty_table(title: str, plain: bool) -> Table:
    """`plain` gives Markdown, which reads well in a log and can be pasted into a report."""
    result = Table(title=title, title_justify="left", box=box.MARKDOWN if plain else box.SIMPLE_HEAD)
    if not plain:
        result.padding = (0, 1, 0, 0)  # a terminal may have no more than 100 columns
    return result


def new_table(title: str, plain: bool, headings: Iterable[str]) -> Table:
    result = empty_table(title, plain)
    result.add_column("benchmark", no_wrap=True)
    for heading in headings:
        result.add_column(TITLES.get(heading, heading), justify="right", no_wrap=True)
    return result


def size_text(row: Row) -> str:
    return "-" if row.size is None else str(row.size)
