"""The tables of tools/bench instructions."""

from __future__ import annotations

from rich.table import Table

from perf.results import LIBRARY, STYLES, Cell, Row
from perf.tables import count, more, new_table, number, size_text


def styles_table(rows: list[Row], plain: bool) -> Table:
    """What exists in each style."""
    headings = ("N", *STYLES[:2], "overhead", *STYLES[2:], "allocs", "bytes")
    result = new_table("instructions per item", plain, headings)
    for row in rows:
        if LIBRARY in row.cells:
            continue
        actor, coroutine = (row.cell(style) for style in STYLES[:2])
        result.add_row(
            row.benchmark,
            size_text(row),
            text(actor),
            text(coroutine),
            more(actor.instructions, coroutine.instructions),
            *(text(row.cell(style)) for style in STYLES[2:]),
            " / ".join(dict.fromkeys((count(actor.allocations), count(coroutine.allocations)))),
            " / ".join(dict.fromkeys((count(actor.frame_bytes), count(coroutine.frame_bytes)))),
        )
    return result


def library_table(rows: list[Row], plain: bool) -> Table:
    """What exists once."""
    result = new_table("the library: instructions per use", plain, ("instructions", "allocs", "bytes"))
    for row in rows:
        if LIBRARY in row.cells:
            cell = row.cell(LIBRARY)
            result.add_row(row.label, text(cell), count(cell.allocations), count(cell.frame_bytes))
    return result


def text(cell: Cell) -> str:
    return "error" if cell.error is not None else number(cell.instructions)
