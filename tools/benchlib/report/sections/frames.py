"""The members of frames, ACTOR and coroutine side by side."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from actorc_frames.layout import OWN, Layout
from benchlib.frames.drawing import layout_svg
from benchlib.frames.gather import Frames, item_of, side_by_side, style_of
from benchlib.report.model import Cell, Column, Drawing, Grid, Missing, Section
from benchlib.results import STYLES, TITLES

DRAWN = ("NET2", "callback", "race_last")  # for each, the computation that the benchmark makes many of


def section(found: Mapping[str, Frames | Missing]) -> Section:
    result = Section(
        "frames",
        "What the bytes are",
        "A computation that waits is one block: its result, the cell with its counts, and its frame. From the "
        "debug information of the program that was measured.",
    )
    result.parts += [one for one in found.values() if isinstance(one, Missing)]
    rows = side_by_side([one for one in found.values() if not isinstance(one, Missing)])
    if not rows:
        return result
    by_function = {name.rpartition(" ")[2]: name for name in rows}
    for benchmark in DRAWN:
        name = by_function.get(item_of(benchmark), "")
        compared = [layout for layout in rows.get(name, []) if style_of(layout) in STYLES[:2]]
        if len(compared) > 1:
            result.parts.append(_drawing(name, benchmark, compared))
    result.parts.append(_table(rows))
    return result


def _heading(layout: Layout) -> str:
    return f"{TITLES.get(style_of(layout), style_of(layout))}, {layout.compiler}"


def _drawing(name: str, benchmark: str, layouts: Sequence[Layout]) -> Drawing:
    function = name.rpartition(" ")[2]
    identity = f"frame-{re.sub(r'[^a-zA-Z0-9]+', '-', name)}"
    # One beside the other where there is space for them, else one below the other.
    drawn = [
        # Names in a page are for all of it.
        layout_svg([layout], headings=[_heading(layout)]).replace("fl-hatch", f"{identity}-{number}-hatch")
        for number, layout in enumerate(layouts)
    ]
    sizes = "; ".join(f"{_heading(each)}: {each.size} bytes in a block of {each.block}" for each in layouts)
    return Drawing(
        identity,
        f"{function}, which waits in {benchmark}",
        f"{sizes}. What is hatched holds nothing.",
        "".join(drawn),
    )


def _table(rows: Mapping[str, Sequence[Layout]]) -> Grid:
    columns = [Column("function", False), Column("style", False)]
    columns += [Column(heading) for heading in ("bytes", "block", "own", "waste")]
    cells = []
    for name, layouts in rows.items():
        for one in layouts:
            numbers = (one.size, one.block, one.bytes_of(*OWN), one.waste)
            cells.append((Cell(name), Cell(_heading(one)), *(Cell(str(each), each) for each in numbers)))
    return Grid(
        "frames-table",
        "Every actor and coroutine of the benchmarks",
        "Bytes that are asked for, and the block that the allocator gives. Own is what the author wrote: result, "
        "parameters and variables; waste is what is neither that nor the same in every frame.",
        tuple(columns),
        tuple(cells),
        folded=True,
    )
