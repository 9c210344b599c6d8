"""The fewest faults with which a seed still fails in the same way.

Of the faults that struck, parts are left out: first whole kinds, then any of them; first halves, then smaller and
smaller parts down to single faults, and so again until none can be spared. The random numbers of a fault are its own,
so that those that are left strike as they did. But after a fault that is left out the program goes another way, and
nothing may fail there, or not for the same reason: so each choice is run, and only one that fails in the same way
counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby

from ensemblelib.results import Result

MOST = 1000  # runs

# A kind, and a number among those of its kind.
Fault = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Shrunk:
    before: Result
    result: Result
    only: str  # as the option of the program has it
    tries: int


# Runs a seed with only some of its faults; with all, if that is None.
Try = Callable[[str | None], Result]


class NothingFailsError(Exception):
    """The seed does not fail."""


def shrunk(run: Try) -> Shrunk:
    return _Shrinker(run).shrunk()


def parse(text: str) -> list[Fault]:
    """As the program names those that struck."""
    found = []
    for item in filter(None, text.split(",")):
        kind, numbers = item.split(":")
        first, _, last = numbers.partition("..")
        found += [(kind, number) for number in range(int(first), int(last or first) + 1)]
    return found


def written(faults: Iterable[Fault]) -> str:
    ranges = []
    for _, run in groupby(enumerate(sorted(faults)), lambda each: (each[1][0], each[1][1] - each[0])):
        several = [fault for _, fault in run]
        (kind, first), (_, last) = several[0], several[-1]
        ranges.append(f"{kind}:{first}" if first == last else f"{kind}:{first}..{last}")
    return ",".join(ranges)


class _Shrinker:
    def __init__(self, run: Try) -> None:
        self._run = run
        self._tries = 1
        self._before = self._result = run(None)
        if not self._result.signature:
            raise NothingFailsError

    def shrunk(self) -> Shrunk:
        if not self._fails(()):
            self._reduce(lambda fault: fault[0])
            self._reduce(lambda fault: fault)
        left = self._result.struck
        # Without the numbers the command is shorter.
        kinds = ",".join(sorted({kind for kind, _ in parse(left)}))
        return Shrunk(self._before, self._result, kinds if self._same(kinds) else left, self._tries)

    def _same(self, only: str) -> bool:
        self._tries += 1
        return self._run(only).digest == self._result.digest

    def _fails(self, faults: Iterable[Fault]) -> bool:
        """If it fails in the same way, it is what is left."""
        self._tries += 1
        result = self._run(written(faults))
        if result.signature != self._before.signature:
            return False
        self._result = result
        return True

    def _reduce(self, unit: Callable[[Fault], str | Fault]) -> None:
        """Leaves out parts of what is left that are made of such units."""
        went = True
        while went:
            went = False
            size = len({*map(unit, parse(self._result.struck))})
            while size > 1 and self._tries < MOST:
                size = (size + 1) // 2
                went |= self._leave_out(size, unit)

    def _leave_out(self, size: int, unit: Callable[[Fault], str | Fault]) -> bool:
        """Each so many units, if they can be spared."""
        went = False
        units = sorted({*map(unit, parse(self._result.struck))}, key=str)
        for start in range(0, len(units), size):
            part = {*units[start : start + size]}
            left = parse(self._result.struck)
            rest = [fault for fault in left if unit(fault) not in part]
            if len(rest) < len(left) and self._tries < MOST:
                went |= self._fails(rest)
        return went
