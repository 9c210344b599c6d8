"""Folded stacks: the weight of each call stack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


class Stacks:
    """The weight of each stack of names, outermost first: the amount spent in its last frame itself.

    `unit` is what a weight is, as tooltips say it: "ns per item", "ms", "samples".
    """

    def __init__(self, unit: str = "samples") -> None:
        self.unit = unit
        self._weights: dict[tuple[str, ...], float] = {}

    def add(self, stack: Sequence[str], weight: float) -> None:
        key = tuple(stack)
        self._weights[key] = self._weights.get(key, 0.0) + weight

    def __iter__(self) -> Iterator[tuple[tuple[str, ...], float]]:
        return iter(self._weights.items())

    def __len__(self) -> int:
        return len(self._weights)

    @property
    def total(self) -> float:
        return sum(self._weights.values())
