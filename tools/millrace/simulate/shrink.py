"""The fewest faults with which a seed still fails in the same way.

It removes parts of the injected faults: first whole kinds, then halves, then smaller parts down to single faults, and
again until none can be removed. Each fault has its own random numbers, so the remaining faults are injected as before.
But after a removed fault the program takes another path, where it may not fail, or for another reason. So each choice
is run, and only one that fails in the same way counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby

from millrace.simulate.results import Result

MOST = 1000  # runs
MOST_NAMED = 4096  # faults of a kind, if the program does not print which were injected

# A kind, and a number among those of its kind; none: all of them.
Fault = tuple[str, int | None]


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


def shrunk(run: Try, kinds: Iterable[str]) -> Shrunk:
    """`kinds` are all the faults that there are."""
    return _Shrinker(run, kinds).shrunk()


def parse(text: str) -> list[Fault]:
    """As the program names faults."""
    found: list[Fault] = []
    for item in filter(None, text.split(",")):
        kind, _, numbers = item.partition(":")
        first, _, last = numbers.partition("..")
        found += [(kind, number) for number in range(int(first), int(last or first) + 1)] if numbers else [(kind, None)]
    return found


def written(faults: Iterable[Fault]) -> str:
    faults = list(faults)
    items = sorted(kind for kind, number in faults if number is None)
    numbered = sorted((kind, number) for kind, number in faults if number is not None)
    for _, run in groupby(enumerate(numbered), lambda each: (each[1][0], each[1][1] - each[0])):
        several = [fault for _, fault in run]
        (kind, first), (_, last) = several[0], several[-1]
        items.append(f"{kind}:{first}" if first == last else f"{kind}:{first}..{last}")
    return ",".join(items)


class _Shrinker:
    def __init__(self, run: Try, kinds: Iterable[str]) -> None:
        self._run = run
        self._tries = 1
        self._before = self._result = run(None)
        if not self._result.signature:
            raise NothingFailsError
        # A crashed program printed no names.
        self._left: list[Fault] = parse(self._before.injected) or [(kind, None) for kind in kinds]

    def shrunk(self) -> Shrunk:
        if not self._fails(()):
            self._reduce(lambda fault: fault[0])
            self._name_faults()
            self._reduce(lambda fault: fault)
        return Shrunk(self._before, self._result, self._shortest(), self._tries)

    def _shortest(self) -> str:
        """Without the numbers, where that is the same run."""
        kinds, named = written({(kind, None) for kind, _ in self._left}), written(self._left)
        if kinds == named or not self._result.digest:
            return named
        self._tries += 1
        return kinds if self._run(kinds).digest == self._result.digest else named

    def _fails(self, faults: Iterable[Fault]) -> bool:
        """If it fails in the same way, it is what is left."""
        self._tries += 1
        tried = list(faults)
        result = self._run(written(tried))
        if result.signature != self._before.signature:
            return False
        self._result = result
        self._left = parse(result.injected) if result.digest else tried
        return True

    def _name_faults(self) -> None:
        """The number of faults of the kinds that remain whole, at most twice what is needed."""
        for kind in [kind for kind, number in self._left if number is None]:
            others = [fault for fault in self._left if fault[0] != kind]
            count = 1
            while count <= MOST_NAMED and not self._fails([*others, *((kind, number) for number in range(count))]):
                count *= 2

    def _reduce(self, unit: Callable[[Fault], str | Fault]) -> None:
        """Leaves out parts of what is left that are made of such units."""
        went = True
        while went:
            went = False
            size = len({*map(unit, self._left)})
            while size > 1 and self._tries < MOST:
                size = (size + 1) // 2
                went |= self._leave_out(size, unit)

    def _leave_out(self, size: int, unit: Callable[[Fault], str | Fault]) -> bool:
        """Each so many units, if they can be spared."""
        went = False
        units = [*dict.fromkeys(map(unit, self._left))]  # in order: neighbours were injected one after the other
        for start in range(0, len(units), size):
            part = {*units[start : start + size]}
            rest = [fault for fault in self._left if unit(fault) not in part]
            if len(rest) < len(self._left) and self._tries < MOST:
                went |= self._fails(rest)
        return went
