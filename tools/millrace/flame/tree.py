"""The tree that a flame graph draws: stacks with the same beginning share its frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from millrace.flame.stacks import Stacks


@dataclass(slots=True)
class Node:
    """A frame under the frames that called it. `own` is the amount spent in it, `whole` includes its callees; both have
    a number for each of the Stacks of the tree."""

    name: str
    own: list[float]
    whole: list[float]
    children: dict[str, Node] = field(default_factory=dict)

    def child(self, name: str) -> Node:
        found = self.children.get(name)
        if found is None:
            zeros = [0.0] * len(self.own)
            found = self.children[name] = Node(name, zeros, list(zeros))
        return found


def tree(several: Sequence[Stacks], root: str = "all") -> Node:
    top = Node(root, [0.0] * len(several), [0.0] * len(several))
    for which, stacks in enumerate(several):
        for stack, weight in stacks:
            node = top
            node.whole[which] += weight
            for name in stack:
                node = node.child(name)
                node.whole[which] += weight
            node.own[which] += weight
    return top


def frames(top: Node, smallest: float) -> Iterator[tuple[Node, int]]:
    """Each frame with the place of its caller, which comes before it; frames narrower than `smallest` of the whole are
    left out. The width is that of all Stacks together, so that a frame of only one of them is visible."""
    total = sum(top.whole) or 1.0
    waiting = [(top, -1)]
    for place, (node, caller) in enumerate(waiting):
        yield node, caller
        callees = sorted(node.children.values(), key=lambda node: node.name)
        waiting += [(callee, place) for callee in callees if sum(callee.whole) / total >= smallest]
