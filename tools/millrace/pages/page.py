"""Writes a report as one HTML page that needs no other file and no network."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from millrace.common.table import Table
from millrace.pages.drawing import kinds_of, rows_of_bytes
from millrace.pages.model import Chart, Drawing, Flame, Grid, Line, Missing, Part, Remarks, Report, Section

_TEMPLATES = Path(__file__).parent / "templates"


def render(report: Report) -> str:
    templates = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.tests |= {
        "chart": lambda part: isinstance(part, Chart),
        "grid": lambda part: isinstance(part, Grid),
        "drawing": lambda part: isinstance(part, Drawing),
        "flame": lambda part: isinstance(part, Flame),
        "remarks": lambda part: isinstance(part, Remarks),
        "missing": lambda part: isinstance(part, Missing),
    }
    templates.filters |= {
        "figures": figures,
        "legend": legend,
        "groups": groups,
        "rows_of_bytes": rows_of_bytes,
        "kinds": kinds_of,
    }
    charts = [asdict(chart) | {"rows": chart.rows} for chart in report.charts()]
    flames = [asdict(flame.graph) | {"id": flame.id, "levels": flame.graph.levels} for flame in report.flames()]
    return templates.get_template("page.html.j2").render(
        report=report,
        style=_source("page.css"),
        script=_source("page.js"),
        charts=script_data(charts),
        flames=script_data(flames),
        plotly=Markup(packed_plotly() if charts or flames else ""),
    )


def moment() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def script_data(value: Any) -> Markup:
    """JSON that can stand in a script element."""
    return Markup(json.dumps(value, separators=(",", ":")).replace("<", "\\u003c"))


@cache
def packed_plotly() -> str:
    """Plotly's library, compressed: the page unpacks it, and is a third as large."""
    from plotly.offline import get_plotlyjs  # type: ignore[import-untyped]

    return base64.b64encode(gzip.compress(get_plotlyjs().encode(), 9, mtime=0)).decode("ascii")


@dataclass(slots=True)
class Group:
    """Parts in order; small ones are side by side if there is space."""

    small: bool
    parts: list[Part]


def groups(section: Section) -> list[Group]:
    result: list[Group] = []
    for part in section.parts:
        small = isinstance(part, Chart) and part.kind != "dots"
        if not result or result[-1].small != small:
            result.append(Group(small, []))
        result[-1].parts.append(part)
    return result


def legend(chart: Chart) -> list[Line]:
    """The legend of a chart; bars have their names beside them."""
    return [] if chart.kind == "bars" else list(chart.lines)


def figures(chart: Chart) -> Table:
    """A chart as a table, to read or copy."""
    flat = chart.kind != "lines"
    first = "" if flat else chart.x.title
    points = [{(y if flat else x): (x if flat else y) for x, y in line.points} for line in chart.lines]
    table = Table("", plain=True)
    table.texts(first)
    if chart.kind == "bars":
        table.numbers(chart.x.title)
        for one in points:
            for row, value in one.items():
                table.add_row(str(row), _text(value))
        return table
    keys = list(dict.fromkeys(key for one in points for key in one))
    if not flat:
        keys.sort()
    table.numbers(*(line.name for line in chart.lines))
    named: dict[float | str, str] = {float(place): name for place, name in enumerate(chart.x.names)}
    for key in keys:
        table.add_row(named.get(key) or _text(key), *(_text(one.get(key)) for one in points))
    return table


def _text(value: float | str | None) -> str:
    if value is None:
        return "-"
    return value if isinstance(value, str) else f"{value:.4g}" if value < 1000 else f"{value:.0f}"


def _source(name: str) -> Markup:
    return Markup((_TEMPLATES / name).read_text(encoding="utf-8"))
