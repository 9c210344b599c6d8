"""The table of tools/bench --peers: what other libraries take for the same work."""

from __future__ import annotations

from rich import box
from rich.table import Table

from benchlib.table import Row, number

_OURS = ("actor", "coroutine", "callback")
_FLOORS = ("floor-callback", "floor-coroutine")
_TITLES = {"actor": "ACTOR"}
_MEASURE = "coroutine"  # the style of ours that all others are compared with


def styles(rows: list[Row]) -> list[str]:
    """The columns: ours, then the libraries by name, then what no library can do without."""
    found = {style for row in rows for style in row.cells}
    libraries = sorted(found.difference(_OURS, _FLOORS))
    return [style for style in (*_OURS, *libraries, *_FLOORS) if style in found]


def cell(row: Row, style: str) -> str:
    """The minimum and, of what is not ours, how many times ours that is."""
    one = row.cell(style)
    if one.error is not None:
        return "error"
    if one.minimum is None:
        return "-"
    ours = row.cell(_MEASURE).minimum
    if style in _OURS or not ours:
        return number(one.minimum)
    times = one.minimum / ours
    digits = 0 if times >= 10 else 1 if times >= 1 else 2
    return f"{number(one.minimum)} ({times:.{digits}f}x)"


def peers_table(rows: list[Row], title: str, plain: bool) -> Table:
    """`plain` gives Markdown, as of the other table."""
    columns = styles(rows)
    result = Table(title=title, title_justify="left", box=box.MARKDOWN if plain else box.SIMPLE_HEAD)
    result.add_column("benchmark", no_wrap=True)
    for heading in ("N", *(_TITLES.get(style, style) for style in columns)):
        result.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        size = "-" if row.size is None else str(row.size)
        result.add_row(row.benchmark, size, *(cell(row, style) for style in columns))
    return result
