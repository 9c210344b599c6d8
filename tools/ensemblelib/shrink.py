"""The fewest faults with which a seed still fails in the same way.

First whole classes are left out, by delta debugging (Zeller and Hildebrandt, 2002); then the faults before and after a
window of their numbers, by bisection and then in steps of one. After a fault that is left out all goes another way, and
nothing may fail there, or not for the same reason: so each choice is run, and only one that fails in the same way
counts. For the same reason a choice of classes is run a few times, each time without some more of the first faults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

from ensemblelib.results import Result

MOST = 1 << 40  # faults in a run
WAYS = 3  # in which a choice of classes is run


@dataclass(frozen=True, slots=True)
class Filter:
    """As the options of the program have it: the window is from `first` to before `last`."""

    without: frozenset[str] = frozenset()
    first: int = 0
    last: int | None = None

    def options(self) -> list[str]:
        found = []
        if self.without:
            found += ["--without", ",".join(sorted(self.without))]
        if self.first:
            found += ["--first", str(self.first)]
        if self.last is not None:
            found += ["--last", str(self.last)]
        return found


@dataclass(frozen=True, slots=True)
class Shrunk:
    before: Result
    result: Result
    filter: Filter
    tries: int


# Runs a seed with some of its faults.
Try = Callable[[Filter], Result]


class NothingFailsError(Exception):
    """The seed does not fail."""


def shrunk(run: Try, kinds: Iterable[str]) -> Shrunk:
    """`kinds` are all the faults that there are."""
    return _Shrinker(run, frozenset(kinds)).shrunk()


class _Shrinker:
    def __init__(self, run: Try, kinds: frozenset[str]) -> None:
        self._run = run
        self._kinds = kinds
        self._filter = Filter()
        self._tries = 1
        self._before = self._result = run(self._filter)
        if not self._result.signature:
            raise NothingFailsError

    def shrunk(self) -> Shrunk:
        self._leave_out_classes()
        self._end_early()
        self._begin_late()
        self._leave_out_classes()
        self._name_fewer(sorted(self._filter.without))
        return Shrunk(self._before, self._result, self._filter, self._tries)

    def _fails(self, some: Filter) -> bool:
        """If it fails in the same way, it is what is left."""
        self._tries += 1
        result = self._run(some)
        if result.signature != self._before.signature:
            return False
        self._filter, self._result = some, result
        return True

    def _keep(self, kinds: Iterable[str]) -> bool:
        """These at most."""
        some = self._filter
        without = self._kinds - frozenset(kinds)
        return any(self._fails(Filter(without, some.first + skipped, some.last)) for skipped in range(WAYS))

    def _leave_out_classes(self) -> None:
        if not self._keep(self._result.faults) or self._keep(()):
            return
        parts = 2
        while len(left := sorted(self._result.faults)) > 1:
            parts = min(parts, len(left))
            edges = [i * len(left) // parts for i in range(parts + 1)]
            chunks = [left[a:b] for a, b in pairwise(edges)]
            rests = [[kind for kind in left if kind not in chunk] for chunk in chunks] if parts > 2 else []
            if any(map(self._keep, chunks)):
                parts = 2
            elif any(map(self._keep, rests)):
                parts -= 1
            elif parts == len(left):
                return
            else:
                parts *= 2

    def _window(self, first: int, last: int | None) -> bool:
        return self._fails(Filter(self._filter.without, first, last))

    def _end_early(self) -> None:
        if not self._result.faults:
            return
        first = self._filter.first
        low, high = first, first + 1  # fails not, perhaps
        while not self._window(first, high):
            low, high = high, first + 2 * (high - first)
            if high > MOST:
                return
        while low + 1 < high:
            middle = (low + high) // 2
            if self._window(first, middle):
                high = middle
            else:
                low = middle
        while high > first + 1 and self._window(first, high - 1):
            high -= 1

    def _begin_late(self) -> None:
        last = self._filter.last
        if last is None:
            return
        low, high = self._filter.first, last  # fails, fails not
        while low + 1 < high:
            middle = (low + high) // 2
            if self._window(middle, last):
                low = middle
            else:
                high = middle
        while low + 1 < last and self._window(low + 1, last):
            low += 1

    def _name_fewer(self, names: list[str]) -> None:
        """Without the names that make no difference the command is shorter."""
        if not names:
            return
        before, result = self._filter, self._result
        if self._fails(Filter(before.without - set(names), before.first, before.last)):
            if (self._result.digest, self._result.faults) == (result.digest, result.faults):
                return
            self._filter, self._result = before, result
        if len(names) > 1:
            middle = len(names) // 2
            self._name_fewer(names[:middle])
            self._name_fewer(names[middle:])
