"""Draws the charts of a report as PNGs, dark on white, for documents."""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files, not windows

from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator

from benchlib.report.model import Axis, Chart, Role
from common.files import write

# As in templates/page.css, where paper is white.
_COLOURS: dict[Role, str] = {
    "actor": "#1f66c9",
    "coroutine": "#c4540a",
    "emitted": "#0f7f68",
    "ours": "#7a4fc4",
    "other": "#6b7683",
    "floor": "#98a1ac",
}
_MARKS: dict[Role, str] = {"coroutine": "D", "emitted": "^"}
_GRID = "#e7eaee"


def write_pictures(charts: list[Chart], folder: Path) -> list[Path]:
    """One file for each chart, named by its id."""
    files = []
    for chart in charts:
        file = folder / f"{chart.id}.png"
        _draw(chart, file)
        files.append(file)
    return files


def _draw(chart: Chart, file: Path) -> None:
    height = 4.2 if chart.kind == "lines" else 1.3 + 0.26 * len(chart.rows)
    figure, axes = pyplot.subplots(figsize=(7.5, height), layout="constrained")
    figure.suptitle(chart.title, fontsize="medium", fontweight="bold")
    if chart.kind == "lines":
        _lines(axes, chart)
    else:
        _rows(axes, chart)
    _scale(axes, chart.x, "x")
    _scale(axes, chart.y, "y")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)
    axes.grid(True, axis="both" if chart.kind == "lines" else "x", color=_GRID)
    if chart.kind != "bars":
        figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize="small")
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=150, facecolor="white")
    pyplot.close(figure)
    write(file, content.getvalue())


def _lines(axes: Axes, chart: Chart) -> None:
    for line in chart.lines:
        x, y = [float(point[0]) for point in line.points], [float(point[1]) for point in line.points]
        dashes = "--" if line.dashed else "-"
        axes.plot(x, y, color=_COLOURS[line.role], linestyle=dashes, marker="o", markersize=3, label=line.name)
    if not chart.y.log:
        axes.set_ylim(bottom=0)


def _rows(axes: Axes, chart: Chart) -> None:
    place = {row: -index for index, row in enumerate(chart.rows)}
    for line in chart.lines:
        x, y = [float(point[0]) for point in line.points], [place[str(point[1])] for point in line.points]
        if chart.kind == "dots":
            mark = _MARKS.get(line.role, "o")
            axes.scatter(x, y, color=_COLOURS[line.role], marker=mark, s=36, label=line.name, zorder=3)
        else:
            bars = axes.barh(y, x, height=0.7, color=_COLOURS[line.role], label=line.name)
            axes.bar_label(bars, fmt="%.3g", padding=3, fontsize="small")
    axes.set_yticks(list(place.values()), list(place))
    axes.tick_params(axis="y", length=0)


def _scale(axes: Axes, axis: Axis, which: str) -> None:
    one = axes.xaxis if which == "x" else axes.yaxis
    one.set_label_text(axis.title)
    if axis.log:
        (axes.set_xscale if which == "x" else axes.set_yscale)("log")
    if axis.range:
        (axes.set_xlim if which == "x" else axes.set_ylim)(*axis.range)
    if axis.ticks:
        one.set_minor_locator(NullLocator())
        one.set_major_locator(FixedLocator([value for value, _ in axis.ticks]))
        one.set_ticklabels([text for _, text in axis.ticks])
