"""Turns results of Google Benchmark into the table that tools/bench prints."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from rich import box
from rich.table import Table

# Added to a name by Google Benchmark for some settings of a benchmark; they are no part of what we call it.
_SUFFIX = re.compile(r"(min_time|min_warmup_time|iterations|repeats|threads):\S*|manual_time|process_time|real_time")

# These have a column in every table; other styles get one when they occur.
STYLES = ("actor", "coroutine", "actorc-coroutine")
# All that is ours and runs without --peers.
OURS = (*STYLES, "library")
_TITLES = {"actor": "ACTOR"}


@dataclass(frozen=True, slots=True)
class Name:
    """`<benchmark>/<size>/<style>`."""

    benchmark: str
    size: int | None
    style: str


def parse_name(text: str) -> Name:
    parts = text.split("/")
    while len(parts) > 1 and _SUFFIX.fullmatch(parts[-1]):
        parts.pop()
    style = parts.pop() if len(parts) > 1 else ""
    size = int(parts.pop()) if len(parts) > 1 and parts[-1].isdigit() else None
    return Name("/".join(parts), size, style)


@dataclass(slots=True)
class Cell:
    """The repetitions of one benchmark in one style."""

    nanoseconds: list[float] = field(default_factory=list)
    allocations: float | None = None
    frame_bytes: float | None = None
    error: str | None = None

    @property
    def minimum(self) -> float | None:
        return min(self.nanoseconds, default=None)

    def text(self) -> str:
        if self.error is not None:
            return "error"
        if not self.nanoseconds:
            return "-"
        return f"{number(min(self.nanoseconds))} ({number(statistics.median(self.nanoseconds))})"


@dataclass(slots=True)
class Row:
    benchmark: str
    size: int | None
    cells: dict[str, Cell] = field(default_factory=dict)

    def cell(self, style: str) -> Cell:
        return self.cells.get(style) or Cell()

    def overhead(self) -> str:
        """What the hand-written coroutine costs over the actor, by the minima: the least disturbed runs of both."""
        actor, coroutine = self.cell("actor").minimum, self.cell("coroutine").minimum
        return f"{(coroutine / actor - 1) * 100:+.1f} %" if actor and coroutine is not None else "-"


def number(value: float | None) -> str:
    if value is None:
        return "-"
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 or value == 0 else f"{value:.2f}"


def count(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}".rstrip("0").rstrip(".")


def collect(results: Iterable[dict[str, Any]]) -> list[Row]:
    """Rows in the order in which benchmarks first appear, the sizes of each ascending."""
    rows: dict[tuple[str, int | None], Row] = {}
    order: dict[str, int] = {}
    for result in results:
        if result.get("run_type") == "aggregate":
            continue
        name = parse_name(result["name"])
        order.setdefault(name.benchmark, len(order))
        row = rows.setdefault((name.benchmark, name.size), Row(name.benchmark, name.size))
        cell = row.cells.setdefault(name.style, Cell())
        if result.get("error_occurred"):
            cell.error = str(result.get("error_message", ""))
            continue
        cell.nanoseconds.append(per_item(result))
        cell.allocations = result.get("allocs_per_item", cell.allocations)
        cell.frame_bytes = result.get("frame_bytes", cell.frame_bytes)
    return sorted(rows.values(), key=lambda row: (order[row.benchmark], -1 if row.size is None else row.size))


def per_item(result: dict[str, Any]) -> float:
    if "ns_per_item" in result:
        return float(result["ns_per_item"])
    scale = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}[result.get("time_unit", "ns")]
    return float(result["cpu_time"]) * scale / float(result.get("items_per_op", 1))


def table(rows: list[Row], title: str, plain: bool) -> Table:
    """`plain` gives Markdown, which reads well in a log and can be pasted into a report."""
    others = dict.fromkeys(style for row in rows for style in row.cells if style not in STYLES)
    result = Table(title=title, title_justify="left", box=box.MARKDOWN if plain else box.SIMPLE_HEAD)
    result.add_column("benchmark", no_wrap=True)
    for heading in (
        "N",
        *(f"{_TITLES.get(style, style)} ns" for style in STYLES[:2]),
        "overhead",
        *(f"{style} ns" for style in (*STYLES[2:], *others)),
        "allocs/op",
        "frame bytes",
    ):
        result.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        actor, coroutine = row.cell("actor"), row.cell("coroutine")
        result.add_row(
            row.benchmark,
            "-" if row.size is None else str(row.size),
            actor.text(),
            coroutine.text(),
            row.overhead(),
            *(row.cell(style).text() for style in (*STYLES[2:], *others)),
            f"{count(actor.allocations)} / {count(coroutine.allocations)}",
            f"{count(actor.frame_bytes)} / {count(coroutine.frame_bytes)}",
        )
    return result


def errors(rows: list[Row]) -> list[str]:
    return [
        f"{row.benchmark}/{row.size}/{style}: {cell.error}"
        for row in rows
        for style, cell in row.cells.items()
        if cell.error is not None
    ]
