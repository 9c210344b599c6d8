"""The table of tools/bench instructions."""

from __future__ import annotations

from millrace.bench.results import LIBRARY, MIGRATED, STYLES, Row
from millrace.bench.tables import more, new_table, pair, size_text, text
from millrace.common.table import Table


def styles_table(rows: list[Row], plain: bool) -> Table:
    """What exists in each style."""
    migrated = [MIGRATED] if any(MIGRATED in row.cells for row in rows) else []
    others = (*STYLES[2:], *migrated)
    headings = ("N", *STYLES[:2], "overhead", *others, "allocs", "bytes")
    result = new_table("instructions per item", plain, headings, optional=("allocs", "bytes", *others))
    for row in rows:
        if LIBRARY in row.cells:
            continue
        actor, coroutine = (row.cell(style) for style in STYLES[:2])
        result.add_row(
            row.benchmark,
            size_text(row),
            *(text(row.cell(style), "instructions") for style in STYLES[:2]),
            more(actor.instructions, coroutine.instructions),
            *(text(row.cell(style), "instructions") for style in others),
            *(pair(row, counter) for counter in ("allocations", "frame_bytes")),
        )
    return result
