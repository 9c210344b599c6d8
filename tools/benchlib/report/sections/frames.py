"""The members of frames, ACTOR and coroutine side by side."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from actorc_frames.layout import Layout
from benchlib.frames.command import heading, table
from benchlib.frames.gather import Frames, item_of, side_by_side, style_of
from millrace.bench.results import STYLES
from millrace.pages.model import Drawing, Grid, Missing, Section

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
    result.parts.append(
        Grid(
            "frames-table",
            "Every actor and coroutine of the benchmarks",
            "Bytes that are asked for, the block that the allocator gives, and the bytes of each kind. Waste is what "
            "is neither the author's (result, parameters, variables) nor the same in every frame (fixed).",
            table(rows, plain=True),
            folded=True,
        )
    )
    return result


def _drawing(name: str, benchmark: str, layouts: Sequence[Layout]) -> Drawing:
    sizes = "; ".join(f"{heading(each)}: {each.size} bytes in a block of {each.block}" for each in layouts)
    return Drawing(
        f"frame-{re.sub(r'[^a-zA-Z0-9]+', '-', name)}",
        f"{name.rpartition(' ')[2]}, which waits in {benchmark}",
        f"{sizes}. What is hatched holds nothing.",
        tuple((heading(layout), layout) for layout in layouts),
    )
