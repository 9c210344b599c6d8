"""What runs say about two programs: the ratio of their times, an interval that it lies in, and a verdict.

Machines have slow phases, from microseconds to minutes long. So what counts of a run is the median of its repetitions;
what is compared is the two runs of a pair, which follow each other at once, in an order that is drawn for each pair;
and the median of the pairs' ratios asks how many pairs there are on each side of it, not how far out the worst lie.

The intervals are the bootstrap's: what the median would be if the runs were drawn again, with replacement, from those
that there are. For a median that has a closed form, so nothing is drawn: the k-th smallest of n values is at least the
median of such a sample if enough of the n draws are among the k smallest, which is a binomial probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import comb, exp, inf, log, log2
from statistics import median

CONFIDENCE = 0.95  # that every interval of a table holds what it should
# A smaller difference is none: where a linker happens to put a function can make as much.
MARGIN = 0.01

FASTER, SLOWER, SAME = "faster", "slower", "no difference"


@dataclass(frozen=True, slots=True)
class Estimate:
    """Of time B over time A."""

    ratio: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """What B is, beside A."""
        if self.low > 1 + MARGIN:
            return SLOWER
        if self.high < 1 / (1 + MARGIN):
            return FASTER
        return SAME


def error_allowed(rows: int) -> float:
    """How often the interval of one row may be wrong for CONFIDENCE to hold for all rows of a table together."""
    return (1 - CONFIDENCE) / max(rows, 1)


def enough_pairs(pairs: int, error: float) -> bool:
    """Whether that many pairs which all agree do so by chance seldom enough to mean something."""
    return pairs > 0 and pairs - 1 >= log2(1 / error)


def enough_runs(a: int, b: int, error: float) -> bool:
    """The same of runs without pairs: whether all those of B come out above all of A by chance seldom enough."""
    return 2 / comb(a + b, a) <= error


def of_pairs(a: Sequence[float], b: Sequence[float], error: float) -> Estimate:
    """From runs in pairs: a[i] and b[i] ran one after the other."""
    ratios = sorted(log(y / x) for x, y in zip(a, b, strict=True))
    if not enough_pairs(len(ratios), error):
        return _estimate(median(ratios), -inf, inf)
    shares = cumulative(len(ratios), _lower(ratios))
    outside = sum(share <= error / 2 for share in shares)
    return _estimate(median(ratios), ratios[outside], ratios[-1 - outside])


def of_groups(a: Sequence[float], b: Sequence[float], error: float) -> Estimate:
    """From runs of A and of B that have nothing to do with each other."""
    logs_a, logs_b = (sorted(map(log, each)) for each in (a, b))
    middle = median(logs_b) - median(logs_a)
    if not enough_runs(len(a), len(b), error):
        return _estimate(middle, -inf, inf)
    return _estimate(middle, _difference(logs_b, logs_a, error / 2), -_difference(logs_a, logs_b, error / 2))


def _difference(x: Sequence[float], y: Sequence[float], share: float) -> float:
    """What the median of x less that of y falls below in no more than `share` of all samples."""
    likely_x = _each(cumulative(len(x), _lower(x)))
    likely_y = _each(cumulative(len(y), _upper(y)))
    differences = sorted((x[i] - y[j], p * q) for i, p in enumerate(likely_x) for j, q in enumerate(likely_y))
    total = 0.0
    for difference, likely in differences:
        total += likely
        if total > share:
            return difference
    return differences[-1][0]


@cache
def cumulative(n: int, rank: int) -> tuple[float, ...]:
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


def _estimate(middle: float, low: float, high: float) -> Estimate:
    return Estimate(exp(middle), exp(low), exp(high))
