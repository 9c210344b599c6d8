"""One row for each work and a dot for each style: the chart that shows many works at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from millrace.bench.results import STYLES, TITLES, Cell, Row
from millrace.pages.model import Axis, Chart, Line, log_axis, role


def dots(
    id: str, title: str, says: str, unit: str, rows: Sequence[Row], value: Callable[[Cell], float | None]
) -> list[Chart]:
    """One chart, or none if there is nothing to show."""
    lines = []
    for style in STYLES:
        points = [(found, row.label) for row in rows if (found := value(row.cell(style)))]
        if points:
            lines.append(Line(TITLES.get(style, style), role(style), tuple(points)))
    if not lines:
        return []
    axis = log_axis(unit, [float(x) for line in lines for x, _ in line.points])
    return [Chart(id, title, says, "dots", axis, Axis(""), tuple(lines))]
