"""The tables of tools/bench: what a wait costs in each style, and what a use of each piece of the library does."""

from __future__ import annotations

from rich.table import Table

from perf.results import LIBRARY, OURS, STYLES, Cell, Row
from perf.tables import count, more, new_table, number, size_text


def table(rows: list[Row], title: str, plain: bool) -> Table:
    """What exists in each style."""
    others = dict.fromkeys(style for row in rows for style in row.cells if style not in OURS)
    columns = (*STYLES[2:], *others)
    result = new_table(title, plain, ("N", *STYLES[:2], "overhead", *columns, "allocs", "tasks", "bytes"))
    for row in rows:
        if LIBRARY in row.cells:
            continue
        result.add_row(
            row.benchmark,
            size_text(row),
            *(text(row.cell(style)) for style in STYLES[:2]),
            overhead(row),
            *(text(row.cell(style)) for style in columns),
            *(pair(row, counter) for counter in ("allocations", "tasks", "frame_bytes")),
        )
    return result


def library_table(rows: list[Row], title: str, plain: bool) -> Table:
    """What exists once."""
    result = new_table(title, plain, ("ns", "allocs", "bytes"))
    for row in rows:
        if LIBRARY in row.cells:
            cell = row.cell(LIBRARY)
            result.add_row(row.label, text(cell), count(cell.allocations), count(cell.frame_bytes))
    return result


def text(cell: Cell) -> str:
    return "error" if cell.error is not None else number(cell.minimum)


def pair(row: Row, counter: str) -> str:
    """A counter of the actor and of the coroutine, or once if they are alike."""
    return " / ".join(dict.fromkeys(count(getattr(row.cell(style), counter)) for style in STYLES[:2]))


def overhead(row: Row) -> str:
    """What the hand-written coroutine costs over the actor, by the minima: the least disturbed runs of both."""
    return more(row.cell("actor").minimum, row.cell("coroutine").minimum)
