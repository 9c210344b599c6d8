"""A recorded profile: the amount spent at each place of the program, with the callers."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Place:
    """Where an instruction is. `address` counts from the beginning of the object, as its symbol table does; None where
    only the function is known. `name` is the function as the profiler calls it, "" if it has no name."""

    object: str
    address: int | None
    name: str


@dataclass(slots=True)
class Profile:
    """The weight of each stack of places, outermost first."""

    weights: dict[tuple[Place, ...], float] = field(default_factory=dict)

    def add(self, stack: tuple[Place, ...], weight: float) -> None:
        if stack and weight > 0:
            self.weights[stack] = self.weights.get(stack, 0.0) + weight

    def add_all(self, other: Profile) -> None:
        for stack, weight in other.weights.items():
            self.add(stack, weight)

    @property
    def total(self) -> float:
        return sum(self.weights.values())
