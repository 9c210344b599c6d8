"""The picture that tools/bench growth writes."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # a file, not a window

from matplotlib import pyplot
from matplotlib.axes import Axes

from benchlib.growth.series import Series
from common.files import write

_LINES = {"actor": "-", "coroutine": "--"}
_MARKS = ("", "o")  # of the first compiler, and of the second


def plot(series: Sequence[Series], file: Path, title: str) -> None:
    """Time on the left, memory on the right: colours are works, dashes are coroutines, dots the second compiler."""
    figure, (time, memory) = pyplot.subplots(1, 2, figsize=(13, 5.5))
    figure.suptitle(title)
    _draw(time, [one for one in series if not one.is_memory], "ns per actor")
    _draw(memory, [one for one in series if one.is_memory], "resident bytes per waiting actor")
    figure.tight_layout()
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=120)
    pyplot.close(figure)
    write(file, content.getvalue())


def _draw(axes: Axes, series: Sequence[Series], label: str) -> None:
    works = list(dict.fromkeys(one.benchmark for one in series))
    compilers = list(dict.fromkeys(one.compiler for one in series))
    for one in series:
        sizes = sorted(one.cost)
        axes.plot(
            sizes,
            [one.cost[size] for size in sizes],
            color=f"C{works.index(one.benchmark)}",
            linestyle=_LINES.get(one.style, ":"),
            marker=_MARKS[compilers.index(one.compiler) % len(_MARKS)],
            markersize=3,
            label=f"{one.name}, {one.compiler}",
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("N, actors")
    axes.set_ylabel(label)
    axes.set_ylim(bottom=1)
    axes.grid(True, which="both", alpha=0.3)
    if series:
        axes.legend(fontsize="small")
