"""The table of tools/bench: the cost of a wait in each style."""

from __future__ import annotations

from millrace.bench.results import LIBRARY, STYLES, TASK, Row
from millrace.bench.tables import more, new_table, pair, size_text, text
from millrace.common.table import Table


def table(rows: list[Row], title: str, plain: bool) -> Table:
    """What exists in each style."""
    others = dict.fromkeys(style for row in rows for style in row.cells if style not in (*STYLES, LIBRARY, TASK))
    columns = (*STYLES[2:], *others)
    headings = ("N", *STYLES[:2], "overhead", *columns, "allocs", "steps", "bytes")
    result = new_table(title, plain, headings, optional=("steps", "allocs", "bytes", *columns))
    for row in rows:
        if LIBRARY in row.cells or TASK in row.cells:
            continue
        result.add_row(
            row.benchmark,
            size_text(row),
            *(text(row.cell(style), "minimum") for style in STYLES[:2]),
            overhead(row),
            *(text(row.cell(style), "minimum") for style in columns),
            *(pair(row, counter) for counter in ("allocations", "steps", "frame_bytes")),
        )
    return result


def overhead(row: Row) -> str:
    """The cost of the hand-written coroutine over the actor, by the minima, the least disturbed runs."""
    return more(row.cell("actor").minimum, row.cell("coroutine").minimum)
