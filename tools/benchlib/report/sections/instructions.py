"""Instructions per item, which do not depend on the load of the machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchlib.report.model import Cell, Column, Grid, Missing, Section
from benchlib.report.sections.dots import dots
from benchlib.results import LIBRARY, STYLES, TASK, Row
from benchlib.tables import more, pair, size_text, text


def section(found: Mapping[str, Sequence[Row] | Missing]) -> Section:
    result = Section(
        "instructions",
        "Instructions, by style",
        "What the processor executes for an item, counted by valgrind: the same on an idle machine and on a busy one, "
        "so that a small difference here is a difference of the code. It says nothing of memory that is waited for.",
    )
    for compiler, rows in found.items():
        if isinstance(rows, Missing):
            result.parts.append(rows)
            continue
        styled = [row for row in rows if not {LIBRARY, TASK} & row.cells.keys()]
        result.parts += dots(
            f"instructions-{compiler}",
            f"Instructions of all works, {compiler}",
            "Instructions per item of each work at one N, fewer are further left. Compare with the chart of times: a "
            "work that executes little and takes long waits for memory.",
            "instructions per item",
            styled,
            lambda cell: cell.instructions,
        )
        result.parts.append(_table(compiler, styled))
    return result


def _table(compiler: str, rows: Sequence[Row]) -> Grid:
    headings = ("benchmark", "N", "ACTOR", "coroutine", "overhead", "actorc-coroutine", "allocs", "bytes")
    return Grid(
        f"instructions-table-{compiler}",
        f"Instructions per item, {compiler}",
        "Overhead is what the coroutine executes more than the ACTOR. Where they differ, ACTOR / coroutine.",
        tuple(Column(heading, heading != "benchmark") for heading in headings),
        tuple(_row(row) for row in rows),
        folded=True,
    )


def _row(row: Row) -> tuple[Cell, ...]:
    actor, coroutine, emitted = (row.cell(style) for style in STYLES)
    ratio = coroutine.instructions / actor.instructions if actor.instructions and coroutine.instructions else None
    return (
        Cell(row.benchmark),
        Cell(size_text(row), row.size),
        Cell(text(actor, "instructions"), actor.instructions),
        Cell(text(coroutine, "instructions"), coroutine.instructions),
        Cell(more(actor.instructions, coroutine.instructions), ratio),
        Cell(text(emitted, "instructions"), emitted.instructions),
        Cell(pair(row, "allocations"), actor.allocations),
        Cell(pair(row, "frame_bytes"), actor.frame_bytes),
    )
