"""The flame graphs of a benchmark: one for each style, and the difference of the first two."""

from __future__ import annotations

from collections.abc import Sequence

from millrace.bench.measure import Row
from millrace.bench.results import TITLES
from millrace.flame.graph import difference_graph, flame_graph
from millrace.pages.model import Flame


def id_of(row: Row) -> str:
    """As a part of the ids of a page."""
    return f"{row.label.replace('/', '-')}-{row.compiler}"


def flames(row: Row, order: Sequence[str] = ()) -> list[Flame]:
    """`order` is that of the causes."""
    title = f"{row.label}, {row.compiler}"
    id = f"flame-{id_of(row)}"
    says = "Colours are causes; the widest frames at the top are where time goes."
    result = [
        Flame(
            f"{id}-{style}",
            f"{title}: {TITLES.get(style, style)}",
            says,
            flame_graph(one.stacks, kinds=one.kinds, order=order),
        )
        for style, one in row.spent.items()
    ]
    if len(row.spent) > 1:
        (first, a), (second, b) = list(row.spent.items())[:2]
        names = (TITLES.get(first, first), TITLES.get(second, second))
        says = (
            f"Red takes more in {names[1]} than in {names[0]}, blue less, grey the same: follow the strongest colour."
        )
        graph = difference_graph(a.stacks, b.stacks, names=names)
        result.append(Flame(f"{id}-difference", f"{title}: {names[1]} against {names[0]}", says, graph))
    return result
