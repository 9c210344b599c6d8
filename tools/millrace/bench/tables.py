"""Shared by all tables of tools/bench: layout, numbers, and common columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from millrace.bench.results import LIBRARY, STYLES, TASK, TITLES, Cell, Row
from millrace.common.table import Table


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


def text(cell: Cell, measure: str) -> str:
    """An attribute of the cell, or a mark that it failed."""
    return "error" if cell.error is not None else number(getattr(cell, measure))


def pair(row: Row, measure: str) -> str:
    """That of the actor and of the coroutine, or once if they are alike; of other styles if it has neither."""
    styles = STYLES[:2] if row.cells.keys() & set(STYLES[:2]) else row.cells
    return " / ".join(dict.fromkeys(count(getattr(row.cell(style), measure)) for style in styles))


def new_table(title: str, plain: bool, headings: Iterable[str], optional: Sequence[str] = ()) -> Table:
    """Benchmarks, and numbers of each."""
    result = Table(title, plain, optional)
    result.texts("benchmark")
    result.numbers(*(TITLES.get(heading, heading) for heading in headings))
    return result


def library_table(rows: Iterable[Row], title: str, plain: bool, unit: str, measure: str) -> Table:
    """Benchmarks without styles."""
    result = new_table(title, plain, (unit, "allocs", "bytes"))
    for row in rows:
        if LIBRARY in row.cells:
            cell = row.cell(LIBRARY)
            result.add_row(row.label, text(cell, measure), count(cell.allocations), count(cell.frame_bytes))
    return result


def task_table(rows: Iterable[Row], title: str, plain: bool) -> Table:
    """Structured tasks, by the memory that they come from."""
    result = new_table(title, plain, ("ns", "median", "global allocs", "bytes"))
    for row in rows:
        if TASK in row.cells:
            cell = row.cell(TASK)
            times = (text(cell, "minimum"), text(cell, "median"))
            result.add_row(row.label, *times, count(cell.global_allocations), count(cell.item_bytes))
    return result


def size_text(row: Row) -> str:
    return "-" if row.size is None else str(row.size)
