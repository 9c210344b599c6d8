"""The times of steps that a program has measured itself, of all its loops (flow/inspect/detail/step_profile.h)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

from millrace.flame.stacks import Stacks
from millrace.profile.names import short

BELOW_MOST = 22  # classes of delays


@dataclass(slots=True)
class Chain:
    steps: int = 0
    seconds: float = 0.0
    allocations: int = 0

    def add(self, other: Chain) -> None:
        self.steps += other.steps
        self.seconds += other.seconds
        self.allocations += other.allocations


@dataclass(slots=True)
class Delay:
    steps: int = 0
    seconds: float = 0.0
    longest: float = 0.0
    below: list[int] = field(default_factory=lambda: [0] * BELOW_MOST)

    def at_most(self, share: float) -> float:
        """Seconds within which that share of the steps has run, as far as the classes show."""
        sofar = 0
        for power, count in enumerate(self.below):
            sofar += count
            if sofar >= share * self.steps:
                return min(2.0**power * 1e-6, self.longest)
        return self.longest


@dataclass(slots=True)
class Steps:
    loops: int = 0
    seconds: float = 0.0  # of the loop that was there longest
    counts_allocations: bool = False
    chains: dict[tuple[str, ...], Chain] = field(default_factory=dict)  # by names, the outermost first
    delays: dict[int, Delay] = field(default_factory=dict)  # by priority

    @property
    def busy(self) -> float:
        return sum(chain.seconds for chain in self.chains.values())

    def by_actor(self) -> dict[str, Chain]:
        result: dict[str, Chain] = {}
        for names, chain in self.chains.items():
            result.setdefault(names[-1] if names else OUTSIDE, Chain()).add(chain)
        return result

    def stacks(self) -> Stacks:
        result = Stacks("ms")
        for names, chain in self.chains.items():
            if names:
                result.add(names, 1000 * chain.seconds)
        return result


OUTSIDE = "[outside of steps]"


def read(texts: Iterable[str]) -> Steps:
    result = Steps()
    for text in texts:
        found = json.loads(text)
        result.loops += 1
        result.seconds = max(result.seconds, found["seconds"])
        result.counts_allocations |= found["countsAllocations"]
        for one in found["chains"]:
            names = tuple(short(name) for name in one["frames"])
            chain = Chain(one["steps"], one["seconds"], one["allocations"])
            result.chains.setdefault(names, Chain()).add(chain)
        for one in found["delays"]:
            delay = result.delays.setdefault(one["priority"], Delay())
            delay.steps += one["steps"]
            delay.seconds += one["seconds"]
            delay.longest = max(delay.longest, one["longest"])
            delay.below = [a + b for a, b in zip(delay.below, one["below"], strict=True)]
    return result
