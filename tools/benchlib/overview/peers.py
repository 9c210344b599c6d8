"""The tables of tools/bench --peers: the same work with other libraries."""

from __future__ import annotations

from millrace.bench.results import FIBER, LIBRARY, Row
from millrace.bench.tables import new_table, number, size_text
from millrace.common.table import Table

_OURS = ("actor", "coroutine", "callback", FIBER, LIBRARY)
_FLOORS = ("floor-callback", "floor-coroutine", "floor-context")
_MEASURES = ("coroutine", LIBRARY)  # others are compared with the one of them that the row has


def own_styles(rows: list[Row]) -> list[str]:
    """Our styles, then the floors."""
    return [style for style in (*_OURS, *_FLOORS) if any(style in row.cells for row in rows)]


def libraries(rows: list[Row]) -> list[str]:
    return sorted({style for row in rows for style in row.cells}.difference(_OURS, _FLOORS))


def cell(row: Row, style: str) -> str:
    """The minimum and, for other libraries, its ratio to ours."""
    one = row.cell(style)
    if one.error is not None:
        return "error"
    if one.minimum is None:
        return "-"
    ours = next((found for each in _MEASURES if (found := row.cell(each).minimum)), None)
    if style in _OURS or not ours:
        return number(one.minimum)
    times = one.minimum / ours
    digits = 0 if times >= 10 else 1 if times >= 1 else 2
    return f"{number(one.minimum)} ({times:.{digits}f}x)"


def peers_table(rows: list[Row], styles: list[str], title: str, plain: bool) -> Table:
    """One for own_styles() and one for libraries(): both together are wider than a screen."""
    result = new_table(title, plain, ("N", *styles))
    for row in rows:
        if any(style in row.cells for style in styles):
            result.add_row(row.benchmark, size_text(row), *(cell(row, style) for style in styles))
    return result
