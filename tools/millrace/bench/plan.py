"""Plans the counting: sizes, numbers of passes, and which benchmarks share a process."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence

from millrace.bench.results import LIBRARY, parse_name
from millrace.bench.suite import rows_of

USUAL_SIZE = 64
# Enough passes to include work that a pass does only now and then: see bench/docs/comparing.md.
ITEMS = 4000
FEWEST_PASSES = 4
# The second run makes so many times the passes of the first; the fixed part cancels out.
TIMES = 3
# A process takes half a second to start, and pieces of the library have little to do with each other.
AT_ONCE = 15


def countable(names: Sequence[str], threaded: Collection[str]) -> tuple[list[str], dict[str, str]]:
    """The names of the benchmarks that can be counted, and for other rows the reason why not."""
    threads = [name for name in names if name in threaded]
    why = "how often its threads wait for each other is chance"
    return [name for name in names if name not in threads], {parse_name(name).label: why for name in threads}


def usual_sizes(names: Sequence[str]) -> list[str]:
    """Of each benchmark the size that is nearest to 64, as a ratio."""
    chosen: dict[str, int] = {}
    for name in map(parse_name, names):
        if name.size is not None:
            best = chosen.setdefault(name.benchmark, name.size)
            if _distance(name.size) < _distance(best):
                chosen[name.benchmark] = name.size
    return [name for name in names if (it := parse_name(name)).size == chosen.get(it.benchmark)]


def _distance(size: int) -> float:
    return abs(math.log(size / USUAL_SIZE))


def passes(items: float) -> int:
    """The passes of a benchmark with so many items in a pass. They depend on nothing else, since other passes give
    other counts."""
    return max(FEWEST_PASSES, math.ceil(ITEMS / items))


def groups(names: Sequence[str], items: Mapping[str, float]) -> Iterator[tuple[list[str], int]]:
    """What runs in a process, and how many passes of it."""
    for row in rows_of(names):
        step = AT_ONCE if parse_name(row[0]).style == LIBRARY else len(row)
        for start in range(0, len(row), step):
            some = row[start : start + step]
            yield some, passes(min(items[name] for name in some))
