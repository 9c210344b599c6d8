"""Compares two programs by their runs: the ratio of their times, its interval, and a verdict.

Machines have slow phases, from microseconds to minutes long. So the result of a run is the median of its repetitions.
The two runs of a pair follow each other at once, in random order, and are compared. The median of the pairs' ratios
does not depend on how far out the worst pairs are.

The interval of a row is a bootstrap interval: the range of the median if the runs were drawn again, with replacement,
from those that were measured. For a median that has a closed form, so nothing is drawn: the k-th smallest of n values
is at least the median of such a sample if enough of the n draws are among the k smallest, which is a binomial
probability.

The verdict uses a wider interval, since a table has many rows, and since the bootstrap is too narrow for few runs. It
holds for any kind of noise: for the true ratio, a pair is as likely above it as below, because the order in a pair is
random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import comb, exp, inf, log
from statistics import median

CONFIDENCE = 0.95  # the probability of a row's interval, and of a table without a wrong verdict
# A smaller difference does not count: the linker's placement of a function can cause as much.
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
    """For one of several rows. The runs are pairs: a[i] and b[i] ran one after the other."""
    ratios = sorted(log(y / x) for x, y in zip(a, b, strict=True))
    shares = likely_below(len(ratios), _lower(ratios))
    outside = sum(share <= (1 - CONFIDENCE) / 2 for share in shares)
    return Estimate(exp(median(ratios)), _between(ratios, outside), _between(ratios, surely_outside(len(ratios), rows)))


def of_groups(a: Sequence[float], b: Sequence[float], rows: int = 1) -> Estimate:
    """The estimate from independent runs of A and of B."""
    logs_a, logs_b = (sorted(map(log, each)) for each in (a, b))
    tail = (1 - CONFIDENCE) / 2
    low, high = _difference(logs_b, logs_a, tail), -_difference(logs_a, logs_b, tail)
    ratios = sorted(y - x for x in logs_a for y in logs_b)
    sure = _between(ratios, surely_outside_of_groups(len(a), len(b), rows))
    return Estimate(exp(median(logs_b) - median(logs_a)), Interval(exp(low), exp(high)), sure)


def _between(logs: Sequence[float], outside: int | None) -> Interval:
    """The interval without so many values at either end."""
    return UNBOUNDED if outside is None else Interval(exp(logs[outside]), exp(logs[-1 - outside]))


def _error(rows: int) -> float:
    """The probability of error that one row may have so that CONFIDENCE holds for the whole table."""
    return (1 - CONFIDENCE) / max(rows, 1)


@cache
def surely_outside(pairs: int, rows: int) -> int | None:
    """The number of ratios to leave out at either end; None if there are too few ratios."""
    return _leave_out([comb(pairs, above) for above in range(pairs + 1)], rows)


@cache
def surely_outside_of_groups(a: int, b: int, rows: int) -> int | None:
    """The same for all a * b ratios of independent runs."""
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
    """`ways[k]`: the number of cases, by pure chance, in which k of the ratios are above the true one."""
    allowed = _error(rows) / 2 * sum(ways)
    total, count = 0, 0
    for each in ways:
        total += each
        if total > allowed:
            break
        count += 1
    return count - 1 if count else None


def _difference(x: Sequence[float], y: Sequence[float], share: float) -> float:
    """The bound that the median of x minus the median of y falls below in at most `share` of all samples."""
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


# The median of an even number of values is between two. This takes the one that makes the interval wider.
def _lower(values: Sequence[float]) -> int:
    return (len(values) + 1) // 2


def _upper(values: Sequence[float]) -> int:
    return len(values) // 2 + 1
