"""The model of a report: sections of tables, charts, drawings and text, before they are drawn.

templates/page.js draws charts and flame graphs with Plotly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from actorc_frames.layout import Layout
from millrace.common.table import Table
from millrace.flame.graph import Graph

# The role of a line, a bar or a dot; templates/page.css maps it to a colour.
Role: TypeAlias = Literal["actor", "coroutine", "emitted", "ours", "other", "floor"]
Point: TypeAlias = tuple[float | str, float | str]

ROLES: dict[str, Role] = {
    "actor": "actor",
    "coroutine": "coroutine",
    "actorc-coroutine": "emitted",
    "callback": "ours",
    "fiber": "ours",
    "floor-callback": "floor",
    "floor-coroutine": "floor",
    "floor-context": "floor",
}


def role(style: str) -> Role:
    return ROLES.get(style, "other")


@dataclass(frozen=True, slots=True)
class Missing:
    """Replaces data that could not be measured."""

    why: str  # one sentence
    details: str = ""  # what a program printed


@dataclass(frozen=True, slots=True)
class Axis:
    title: str
    log: bool = False
    ticks: tuple[tuple[float, str], ...] = ()  # none: the drawing program decides
    range: tuple[float, float] | None = None
    names: tuple[str, ...] = ()  # the meaning of the values 0, 1, 2, ...


@dataclass(frozen=True, slots=True)
class Line:
    """The points of one name; of bars and dots, x is the value and y the row."""

    name: str
    role: Role
    points: tuple[Point, ...]
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    id: str
    title: str
    says: str  # a sentence: what it shows and what to look for
    kind: Literal["lines", "dots", "bars"]
    x: Axis
    y: Axis
    lines: tuple[Line, ...]

    @property
    def rows(self) -> list[str]:
        """The rows of bars and dots, from the top."""
        return list(dict.fromkeys(str(y) for line in self.lines for _, y in line.points))


@dataclass(frozen=True, slots=True)
class Grid:
    """A table. A row with a first cell that begins with a blank belongs to a row above."""

    id: str
    title: str
    says: str
    table: Table
    folded: bool = False
    ordered: bool = False  # the order of rows has a meaning, and is kept


@dataclass(frozen=True, slots=True)
class Drawing:
    """Frames side by side: each as a heading and a table of bytes."""

    id: str
    title: str
    says: str
    frames: tuple[tuple[str, Layout], ...]


@dataclass(frozen=True, slots=True)
class Flame:
    """A flame graph."""

    id: str
    title: str
    says: str
    graph: Graph


@dataclass(frozen=True, slots=True)
class Figure:
    """One of the key figures at the top of the page."""

    title: str
    says: str
    values: tuple[tuple[Role, str, str], ...]  # role, name and value


@dataclass(frozen=True, slots=True)
class Remarks:
    lines: tuple[str, ...]


Part: TypeAlias = Chart | Grid | Drawing | Flame | Remarks | Missing


@dataclass(slots=True)
class Section:
    id: str
    title: str
    says: str
    parts: list[Part] = field(default_factory=list)


@dataclass(slots=True)
class Report:
    title: str
    subtitle: str
    figures: list[Figure]
    sections: list[Section]
    problems: list[str] = field(default_factory=list)  # what went wrong while it was measured

    def charts(self) -> list[Chart]:
        return [part for part in self.parts() if isinstance(part, Chart)]

    def flames(self) -> list[Flame]:
        return [part for part in self.parts() if isinstance(part, Flame)]

    def parts(self) -> list[Part]:
        return [part for section in self.sections for part in section.parts]


def sizes_axis(sizes: Iterable[float]) -> Axis:
    """N, as powers of two."""
    last = max(sizes, default=1)
    values = [8**power for power in range(8) if 8**power <= last]
    return Axis("N, actors", log=True, ticks=tuple((value, short(value)) for value in values))


def log_axis(title: str, values: Sequence[float]) -> Axis:
    """With a tick at 1, 2 and 5 of each power of ten, and over one such power at least: noise then looks like noise."""
    positive = [value for value in values if value > 0]
    if not positive:
        return Axis(title, log=True)
    low, high = min(positive), max(positive)
    wider = max(1.3, math.sqrt(10 * low / high))
    low, high = low / wider, high * wider
    ticks = [digit * 10.0**power for power in range(-3, 13) for digit in (1, 2, 5)]
    shown = tuple((tick, f"{tick:,g}") for tick in ticks if low <= tick <= high)
    return Axis(title, log=True, ticks=shown, range=(low, high))


def short(size: float) -> str:
    """4096 -> 4K."""
    for unit, suffix in ((1 << 20, "M"), (1 << 10, "K")):
        if size >= unit:
            return f"{size / unit:g}{suffix}"
    return f"{size:g}"
