"""Folded stacks: the weight of each call stack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


class Stacks:
    """The weight of each stack of names, outermost first: the amount spent in its last frame itself.

    `unit` is what a weight is, as tooltips say it: "ns per item", "instructions per item", "samples".
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

    def scaled_to(self, total: float, unit: str) -> Stacks:
        """The same shares of another total: samples become nanoseconds per item, say."""
        result = Stacks(unit)
        factor = total / self.total if self.total else 0.0
        for stack, weight in self:
            result.add(stack, weight * factor)
        return result

    def fold(self) -> str:
        """A line for each stack, `outer;inner weight`, as tools for flame graphs exchange them."""
        return "".join(
            f"{';'.join(name.replace(';', ',') for name in stack)} {weight:.12g}\n" for stack, weight in sorted(self)
        )

    @staticmethod
    def unfold(text: str, unit: str = "samples") -> Stacks:
        """Reads what fold() writes; ValueError, with the line, if a line is no stack."""
        result = Stacks(unit)
        for number, line in enumerate(text.splitlines(), 1):
            stack, _, weight = line.rpartition(" ")
            if not line.strip():
                continue
            try:
                result.add(stack.split(";"), float(weight))
            except ValueError:
                raise ValueError(f"line {number} is no folded stack: {line}") from None
        return result
