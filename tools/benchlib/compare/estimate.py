"""What runs say about two programs: the ratio of their times, an interval that it lies in, and a verdict.

Machines have slow phases, from microseconds to minutes long. So what counts of a run is the median of its repetitions;
what is compared is the two runs of a pair, which follow each other at once, in an order that is drawn for each pair;
and the median of the pairs' ratios asks how many pairs there are on each side of it, not how far out the worst lie.

The interval of a row is the bootstrap's: what the median would be if the runs were drawn again, with replacement, from
those that there are. For a median that has a closed form, so nothing is drawn: the k-th smallest of n values is at
least the median of such a sample if enough of the n draws are among the k smallest, which is a binomial probability.

The verdict asks for more, since a table has many rows, and since the bootstrap is too sure far out and of few runs. It
has an interval of its own, which holds whatever the noise is like: if a ratio were the true one, each pair would be as
likely to lie above it as below, because the order in a pair was drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import comb, exp, inf, log
from statistics import median

CONFIDENCE = 0.95  # of the interval of a row; and that no verdict of a table is wrong
# A smaller difference is none: where a linker happens to put a function can make as much.
MARGIN = 0.01

FASTER, SLOWER, SAME = "faster", "slower", "no difference"


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float


UNBOUNDED = Interval(0, inf)


@dataclass(frozen=True, slots=True)
class Estimate:
    """Of time B over time A."""

    ratio: float
    interval: Interval  # of this row by itself
    sure: Interval  # holds together with those of all other rows

    @property
    def verdict(self) -> str:
        """What B is, beside A."""
        if self.sure.low > 1 + MARGIN:
            return SLOWER
        if self.sure.high < 1 / (1 + MARGIN):
            return FASTER
        return SAME


def of_pairs(a: Sequence[float], b: Sequence[float], rows: int = 1) -> Estimate:
    """From runs in pairs, of one row of several: a[i] and b[i] ran one after the other."""
    ratios = sorted(log(y / x) for x, y in zip(a, b, strict=True))
    shares = likely_below(len(ratios), _lower(ratios))
    outside = sum(share <= (1 - CONFIDENCE) / 2 for share in shares)
    return Estimate(exp(median(ratios)), _between(ratios, outside), _between(ratios, surely_outside(len(ratios), rows)))


def of_groups(a: Sequence[float], b: Sequence[float], rows: int = 1) -> Estimate:
    """From runs of A and of B that have nothing to do with each other."""
    logs_a, logs_b = (sorted(map(log, each)) for each in (a, b))
    tail = (1 - CONFIDENCE) / 2
    low, high = _difference(logs_b, logs_a, tail), -_difference(logs_a, logs_b, tail)
    ratios = sorted(y - x for x in logs_a for y in logs_b)
    sure = _between(ratios, surely_outside_of_groups(len(a), len(b), rows))
    return Estimate(exp(median(logs_b) - median(logs_a)), Interval(exp(low), exp(high)), sure)


def _between(logs: Sequence[float], outside: int | None) -> Interval:
    """What so many values at either end lie outside of."""
    return UNBOUNDED if outside is None else Interval(exp(logs[outside]), exp(logs[-1 - outside]))


def _error(rows: int) -> float:
    """How often one row may be wrong for CONFIDENCE to hold for all rows of a table together."""
    return (1 - CONFIDENCE) / max(rows, 1)


@cache
def surely_outside(pairs: int, rows: int) -> int | None:
    """How many of so many ratios may be left out at either end; None if even all of them do not say enough."""
    return _leave_out([comb(pairs, above) for above in range(pairs + 1)], rows)


@cache
def surely_outside_of_groups(a: int, b: int, rows: int) -> int | None:
    """The same of all a * b ratios of runs that are no pairs."""
    # ways[u]: in how many orders of all runs u of the ratios lie above the true one. Its generating function is the
    # Gaussian binomial coefficient, the product of (1 - q^(a+i)) / (1 - q^i).
    ways = [1] + [0] * (a * b)
    for i in range(1, b + 1):
        for u in range(a * b, a + i - 1, -1):
            ways[u] -= ways[u - a - i]
        for u in range(i, a * b + 1):
            ways[u] += ways[u - i]
    return _leave_out(ways, rows)


def _leave_out(ways: Sequence[int], rows: int) -> int | None:
    """`ways[k]`: in how many of all cases k of the ratios lie above the true one, if nothing but chance decides."""
    allowed = _error(rows) / 2 * sum(ways)
    total, count = 0, 0
    for each in ways:
        total += each
        if total > allowed:
            break
        count += 1
    return count - 1 if count else None


def _difference(x: Sequence[float], y: Sequence[float], share: float) -> float:
    """What the median of x less that of y falls below in no more than `share` of all samples."""
    likely_x = _each(likely_below(len(x), _lower(x)))
    likely_y = _each(likely_below(len(y), _upper(y)))
    differences = sorted((x[i] - y[j], p * q) for i, p in enumerate(likely_x) for j, q in enumerate(likely_y))
    total = 0.0
    for difference, likely in differences:
        total += likely
        if total > share:
            return difference
    return differences[-1][0]


@cache
def likely_below(n: int, rank: int) -> tuple[float, ...]:
    """For each k in 1..n, how likely the rank-th smallest of n draws is among the k smallest of the n values."""
    return tuple(
        sum(comb(n, hits) * k**hits * (n - k) ** (n - hits) for hits in range(rank, n + 1)) / n**n
        for k in range(1, n + 1)
    )


def _each(sums: Sequence[float]) -> list[float]:
    return [here - before for before, here in pairwise((0.0, *sums))]


# Of an even number of values the median lies between two. The one that makes the interval wider is taken.
def _lower(values: Sequence[float]) -> int:
    return (len(values) + 1) // 2


def _upper(values: Sequence[float]) -> int:
    return len(values) // 2 + 1
