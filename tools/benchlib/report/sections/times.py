"""The cost of a wait in each style: the tables, and one chart of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchlib.overview.table import table
from benchlib.report.sections.dots import dots
from millrace.bench.results import LIBRARY, STYLES, TASK, TITLES, Row
from millrace.bench.tables import library_table, size_text, task_table, text
from millrace.pages.model import Figure, Grid, Missing, Section, role

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
        for name, title, says, shown in (
            (
                "table",
                "Every work and size",
                "Allocs are allocations of any kind, tasks what the loop ran; bytes is what one waiting computation "
                "takes, its result included. Where ACTOR and coroutine differ, ACTOR / coroutine.",
                table(list(rows), "", plain=True),
            ),
            (
                "library",
                "The library",
                "One use of each piece of the library, which has no styles.",
                library_table(rows, "", True, "ns", "minimum"),
            ),
            (
                "steps",
                "Structured tasks",
                "One child, or one value through a channel, by the memory resource; allocations are those outside.",
                task_table(rows, "", plain=True),
            ),
        ):
            if shown.row_count:
                folded = name != "table"
                result.parts.append(Grid(f"{name}-{compiler}", f"{title}, {compiler}", says, shown, folded))
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
