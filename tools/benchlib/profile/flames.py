"""The flame graphs of a benchmark: one for each style, and the difference of the first two."""

from __future__ import annotations

from collections.abc import Sequence

from benchlib.flame.graph import difference_svg, flame_svg
from benchlib.profile.measure import Row
from benchlib.results import TITLES


def flames(row: Row, order: Sequence[str] = ()) -> dict[str, str]:
    """SVG by "actor", "coroutine", ..., "difference"; `order` is that of the causes."""
    title = f"{row.label}, {row.compiler}"
    result = {
        style: flame_svg(one.stacks, f"{title}, {TITLES.get(style, style)}", kinds=one.kinds, order=order)
        for style, one in row.spent.items()
    }
    if len(row.spent) > 1:
        (first, a), (second, b) = list(row.spent.items())[:2]
        names = (TITLES.get(first, first), TITLES.get(second, second))
        of_both = f"{title}: {names[1]} against {names[0]}"
        result["difference"] = difference_svg(a.stacks, b.stacks, of_both, names=names)
    return result
