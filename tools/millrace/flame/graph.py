"""What a flame graph shows, and the difference of two: frames with their widths, colours and tips."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from millrace.flame.stacks import Stacks
from millrace.flame.tree import Node, frames, tree

SMALLEST = 0.0008  # of the whole: less than a pixel
COLOURS = 20  # in templates/page.js

# The number of a colour; of a difference, from -1, where the second takes least, to 1.; none: grey.
Colour = int | float | None


@dataclass(frozen=True, slots=True)
class Graph:
    """The frames, callers before callees, and what the colours mean."""

    names: tuple[str, ...]
    callers: tuple[int, ...]  # the place of each frame's caller, -1 for the first
    widths: tuple[float, ...]
    tips: tuple[str, ...]
    colours: tuple[Colour, ...]
    legend: tuple[tuple[Colour, str], ...]
    is_difference: bool

    @property
    def levels(self) -> int:
        depths: list[int] = []
        for caller in self.callers:
            depths.append(depths[caller] + 1 if caller >= 0 else 1)
        return max(depths)


def flame_graph(stacks: Stacks, *, kinds: Mapping[str, str] | None = None, order: Sequence[str] = ()) -> Graph:
    """One flame graph. `kinds` maps the name of a frame to its kind: each kind has a colour and a place in the legend.
    `order` fixes the order of the kinds for every graph; other kinds follow in the order of their first use. Without
    `kinds`, colours only separate neighbours."""
    top = tree([stacks])
    order = list(dict.fromkeys([*order, *(kinds or {}).values()]))

    def colour(node: Node) -> Colour:
        if kinds is not None:
            kind = kinds.get(node.name)
            return None if kind is None else order.index(kind) % COLOURS
        return sum(node.name.encode()) % COLOURS

    def tip(node: Node) -> str:
        share = node.whole[0] / top.whole[0] if top.whole[0] else 0.0
        kind = (kinds or {}).get(node.name)
        text = f"{node.name}: {share:.1%}, {amount(node.whole[0])} {stacks.unit}, itself {amount(node.own[0])}"
        return f"{text} ({kind})" if kind else text

    shown = list(frames(top, SMALLEST))
    present = {kinds.get(node.name) for node, _ in shown} if kinds else set()
    legend = tuple((i % COLOURS, kind) for i, kind in enumerate(order) if kind in present)
    return _graph(shown, colour, tip, legend, is_difference=False)


def difference_graph(a: Stacks, b: Stacks, *, names: tuple[str, str] = ("A", "B")) -> Graph:
    """The difference of two profiles: red where `b` spends more than `a`, blue where it spends less. Both must be per
    item.

    A frame is as wide as in both together, so that a frame of only one of them is visible.
    """
    top = tree([a, b])
    shown = list(frames(top, SMALLEST))
    largest = max((abs(_more(node)) for node, caller in shown if caller >= 0), default=0.0)

    def colour(node: Node) -> Colour:
        return max(-1.0, min(1.0, _more(node) / largest)) if largest and _more(node) else None

    def tip(node: Node) -> str:
        whole, own = (f"{amount(one[0])} -> {amount(one[1])}" for one in (node.whole, node.own))
        more = _more(node)
        return f"{node.name}: {'+' if more > 0 else ''}{amount(more)} {b.unit} ({whole}; itself {own})"

    legend = ((1.0, f"{names[1]} takes more"), (-1.0, f"{names[1]} takes less than {names[0]}"))
    return _graph(shown, colour, tip, legend, is_difference=True)


def amount(value: float) -> str:
    """With three digits, or as many as there are before the point."""
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}" if abs(value) >= 0.0005 else "0"


def _more(node: Node) -> float:
    return node.whole[1] - node.whole[0]


def _graph(
    shown: Sequence[tuple[Node, int]],
    colour: Callable[[Node], Colour],
    tip: Callable[[Node], str],
    legend: tuple[tuple[Colour, str], ...],
    *,
    is_difference: bool,
) -> Graph:
    nodes, callers = zip(*shown, strict=True)
    return Graph(
        names=tuple(node.name for node in nodes),
        callers=callers,
        widths=tuple(sum(node.whole) for node in nodes),
        tips=tuple(map(tip, nodes)),
        colours=tuple(map(colour, nodes)),
        legend=legend,
        is_difference=is_difference,
    )
