"""The cost of a wait in each style: the tables, and one chart of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchlib.overview.table import overhead
from benchlib.report.model import Cell, Column, Figure, Grid, Missing, Section, role
from benchlib.report.sections.dots import dots
from benchlib.results import LIBRARY, STYLES, TASK, TITLES, Row
from benchlib.tables import count, pair, size_text, text

Rows = Mapping[str, Sequence[Row] | Missing]  # by compiler

LARGEST_SHOWN = 4096  # N of the rows in the chart and at the top: everything still fits into the caches
GLANCE = {
    "DELAY": "one wait for delay(0)",
    "YIELD": "one yield() that need not suspend",
    "NET2": "an actor that is made, waits for delay(0), and ends",
    "callback": "an actor that is made and waits for one future with all others",
}


def section(found: Rows) -> Section:
    result = Section(
        "times",
        "Time, by style",
        "Nanoseconds per item, the minimum of all repetitions. ACTOR is the state machine that actorc emits, coroutine "
        "the same work written by hand with co_await, actorc-coroutine the actor compiled to a coroutine; overhead is "
        "what the coroutine costs over the ACTOR.",
    )
    for compiler, rows in found.items():
        if isinstance(rows, Missing):
            result.parts.append(rows)
            continue
        styled = [row for row in rows if not {LIBRARY, TASK} & row.cells.keys()]
        result.parts += dots(
            f"styles-{compiler}",
            f"All works, {compiler}",
            f"Time per item of each work at one N (the largest up to {LARGEST_SHOWN}), further left is faster. Where "
            "the dots of a row lie on each other the styles are equal; one alone on the right is a style that costs.",
            "ns per item",
            at_one_size(styled),
            lambda cell: cell.minimum,
        )
        if styled:
            result.parts.append(_styles(compiler, styled))
        library = [row for row in rows if LIBRARY in row.cells]
        if library:
            result.parts.append(_library(compiler, library))
        tasks = [row for row in rows if TASK in row.cells]
        if tasks:
            result.parts.append(_tasks(compiler, tasks))
    return result


def glance(rows: Sequence[Row]) -> list[Figure]:
    """The key figures."""
    result = []
    for row in at_one_size(rows):
        if row.benchmark in GLANCE:
            values = tuple(
                (role(style), TITLES.get(style, style), text(row.cell(style), "minimum") + " ns")
                for style in STYLES[:2]
            )
            result.append(Figure(f"{row.benchmark}, N = {size_text(row)}", GLANCE[row.benchmark], values))
    return result


def at_one_size(rows: Sequence[Row]) -> list[Row]:
    """Of each benchmark the row with the largest N up to LARGEST_SHOWN."""
    chosen: dict[str, Row] = {}
    for row in rows:  # ascending in size
        if row.benchmark not in chosen or (row.size or 0) <= LARGEST_SHOWN:
            chosen[row.benchmark] = row
    return list(chosen.values())


def _styles(compiler: str, rows: Sequence[Row]) -> Grid:
    headings = ("benchmark", "N", "ACTOR ns", "coroutine ns", "overhead", "actorc-coroutine ns")
    columns = tuple(Column(heading, heading != "benchmark") for heading in (*headings, "allocs", "tasks", "bytes"))
    return Grid(
        f"table-{compiler}",
        f"Every work and size, {compiler}",
        "Per item: allocations of any kind (allocs) and what the loop ran (tasks); bytes is what one waiting "
        "computation takes, its result included. Where ACTOR and coroutine differ, ACTOR / coroutine.",
        columns,
        tuple(_row(row) for row in rows),
    )


def _row(row: Row) -> tuple[Cell, ...]:
    actor, coroutine, emitted = (row.cell(style) for style in STYLES)
    cost = coroutine.minimum / actor.minimum if actor.minimum and coroutine.minimum is not None else None
    return (
        Cell(row.benchmark),
        Cell(size_text(row), row.size),
        Cell(text(actor, "minimum"), actor.minimum),
        Cell(text(coroutine, "minimum"), coroutine.minimum),
        Cell(overhead(row), cost),
        Cell(text(emitted, "minimum"), emitted.minimum),
        Cell(pair(row, "allocations"), actor.allocations),
        Cell(pair(row, "tasks"), actor.tasks),
        Cell(pair(row, "frame_bytes"), actor.frame_bytes),
    )


def _library(compiler: str, rows: Sequence[Row]) -> Grid:
    cells = [(row, row.cell(LIBRARY)) for row in rows]
    return Grid(
        f"library-{compiler}",
        f"The library, {compiler}",
        "One use of each piece of the library, which has no styles.",
        (Column("piece", numeric=False), Column("ns"), Column("allocs"), Column("bytes")),
        tuple(
            (
                Cell(row.label),
                Cell(text(cell, "minimum"), cell.minimum),
                Cell(count(cell.allocations), cell.allocations),
                Cell(count(cell.frame_bytes), cell.frame_bytes),
            )
            for row, cell in cells
        ),
        folded=True,
    )


def _tasks(compiler: str, rows: Sequence[Row]) -> Grid:
    cells = [(row, row.cell(TASK)) for row in rows]
    return Grid(
        f"tasks-{compiler}",
        f"Structured tasks, {compiler}",
        "One child, or one value through a channel, by the memory resource; allocations are those outside of it.",
        (Column("work", numeric=False), Column("ns"), Column("global allocs"), Column("bytes")),
        tuple(
            (
                Cell(row.label),
                Cell(text(cell, "minimum"), cell.minimum),
                Cell(count(cell.global_allocations), cell.global_allocations),
                Cell(count(cell.item_bytes), cell.item_bytes),
            )
            for row, cell in cells
        ),
        folded=True,
    )
