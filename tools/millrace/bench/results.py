"""The results of a program of benchmarks, in the format of Google Benchmark: the repetitions of each."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from millrace.common.failure import Failure

# These have a column in every table; other styles get one when they occur.
STYLES = ("actor", "coroutine", "actorc-coroutine")
MIGRATED = "migrated"  # the actors as `actorc migrate` writes them
FIBER = "fiber"  # only in tables of times: callgrind does not follow a switch of stacks
LIBRARY = "library"  # benchmarks without styles: a table of their own
TASK = "task"  # structured tasks: a table of their own
# All that is ours and runs without --peers.
OURS = (*STYLES, MIGRATED, LIBRARY, TASK)
TITLES = {"actor": "ACTOR"}


@dataclass(frozen=True, slots=True)
class Name:
    """`<benchmark>/<size>/<style>`: of Millrace's own benchmarks. Those of programs have a path, and no style."""

    benchmark: str
    size: int | None
    style: str

    @property
    def label(self) -> str:
        """The row's."""
        return self.benchmark if self.size is None else f"{self.benchmark}/{self.size}"


def parse_name(text: str) -> Name:
    if text.startswith("/"):
        return Name(text, None, "")
    parts = text.split("/")
    style = parts.pop() if len(parts) > 1 else ""
    size = int(parts.pop()) if len(parts) > 1 and parts[-1].isdigit() else None
    return Name("/".join(parts), size, style)


@dataclass(slots=True)
class Cell:
    """The repetitions of one benchmark in one style."""

    nanoseconds: list[float] = field(default_factory=list)
    instructions: float | None = None
    allocations: float | None = None
    steps: float | None = None
    frame_bytes: float | None = None
    global_allocations: float | None = None
    item_bytes: float | None = None
    error: str | None = None

    @property
    def minimum(self) -> float | None:
        return min(self.nanoseconds, default=None)

    @property
    def median(self) -> float | None:
        return statistics.median(self.nanoseconds) if self.nanoseconds else None

    def noise(self) -> float:
        """By how much the median is above the minimum."""
        return statistics.median(self.nanoseconds) / min(self.nanoseconds) - 1


@dataclass(slots=True)
class Row:
    benchmark: str
    size: int | None
    cells: dict[str, Cell] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return Name(self.benchmark, self.size, "").label

    def cell(self, style: str) -> Cell:
        return self.cells.get(style) or Cell()


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
        if "instructions_per_item" in result:
            cell.instructions = float(result["instructions_per_item"])
        else:
            cell.nanoseconds.append(per_item(result))
        cell.allocations = result.get("allocs_per_item", cell.allocations)
        cell.steps = result.get("steps_per_item", cell.steps)
        cell.frame_bytes = result.get("frame_bytes", cell.frame_bytes)
        if "bytes_per_item" in result:  # its memory comes from a resource: what is counted is outside of that
            cell.global_allocations = result["allocs_per_item"]
            cell.item_bytes = result["bytes_per_item"]
    return sorted(rows.values(), key=lambda row: (order[row.benchmark], -1 if row.size is None else row.size))


def per_item(result: dict[str, Any]) -> float:
    """Nanoseconds."""
    if "ns_per_item" in result:
        return float(result["ns_per_item"])
    if "cpu_time" not in result:
        raise Failure(f"{result.get('name')} has no time (tools/bench instructions writes none)")
    scale = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}[result.get("time_unit", "ns")]
    return float(result["cpu_time"]) * scale / float(result.get("items_per_op", 1))


def merge(documents: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """One document that readers of Google Benchmark's format understand."""
    if len(documents) == 1:
        return next(iter(documents.values()))
    context = dict(next(iter(documents.values()))["context"])
    for key in ("compiler", "flags"):
        context[key] = "; ".join(document["context"][key] for document in documents.values())
    benchmarks = []
    for compiler, document in documents.items():
        for result in document["benchmarks"]:
            suffix = f"/compiler:{compiler}"
            label = f"{compiler}; {result['label']}" if "label" in result else compiler
            names = {"name": result["name"] + suffix, "run_name": result["run_name"] + suffix, "label": label}
            benchmarks.append(result | names)
    return {"context": context, "benchmarks": benchmarks}


def _full(row: Row, style: str) -> str:
    """The benchmark's name, as the program writes it."""
    return f"{row.label}/{style}" if style else row.label


def noise(rows: list[Row]) -> str:
    """One line about the quality of the minima; none without repetitions."""
    found = [
        (cell.noise(), _full(row, style))
        for row in rows
        for style, cell in row.cells.items()
        if len(cell.nanoseconds) > 1
    ]
    if not found:
        return ""
    usual, (worst, name) = statistics.median(amount for amount, _ in found), max(found)
    return f"noise: medians are {usual:.1%} above the minima, as a rule; at most {worst:.1%} ({name})"


def errors(rows: list[Row]) -> list[str]:
    return [
        f"{_full(row, style)}: {cell.error}"
        for row in rows
        for style, cell in row.cells.items()
        if cell.error is not None
    ]
