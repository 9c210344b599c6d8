"""tools/bench compare: what it makes of runs, on simulated machines."""

from __future__ import annotations

import random
from itertools import product
from math import comb

import pytest

from millrace.bench.estimate import (
    FASTER,
    MARGIN,
    SAME,
    SLOWER,
    UNBOUNDED,
    Estimate,
    Interval,
    likely_below,
    of_groups,
    of_pairs,
    surely_outside,
    surely_outside_of_groups,
)

PAIRS = 31
ROWS = 36


def shared_machine(draw: random.Random, ratio: float, pairs: int = PAIRS) -> tuple[list[float], list[float]]:
    """Runs as they come on a machine with others: half of the time all is slow, and now and then one run is very."""
    a: list[float] = []
    b: list[float] = []
    slow = False
    for _ in range(pairs):
        slow ^= draw.random() < 0.2
        pair = []
        for _ in range(2):
            slow ^= draw.random() < 0.05  # a phase may end between the two runs of a pair
            late = 1 + draw.expovariate(1 / 0.3) if draw.random() < 0.1 else 1.0
            pair.append(20.0 * (1.4 if slow else 1.0) * draw.gauss(1, 0.015) * late)
        a_is_first = draw.random() < 0.5
        a.append(pair[0 if a_is_first else 1])
        b.append(pair[1 if a_is_first else 0] * ratio)
    return a, b


def holds(interval: Interval, truth: float) -> bool:
    return interval.low <= truth <= interval.high


@pytest.mark.parametrize("ratio", [0.9, 1.0, 1.05])
def test_an_interval_holds_the_truth_as_often_as_it_says(ratio: float) -> None:
    draw = random.Random(4)
    times = 2000
    found = [of_pairs(*shared_machine(draw, ratio)) for _ in range(times)]
    # The bounds are two of the ratios, so that the share takes steps; what is nearest to 95 % with 31 pairs is 93 %.
    assert 0.915 < sum(holds(each.interval, ratio) for each in found) / times < 0.975
    assert 0.95 < sum(holds(each.sure, ratio) for each in found) / times < 0.99


@pytest.mark.parametrize("pairs", [7, 12, 25])
def test_the_sure_interval_holds_however_few_pairs_there_are(pairs: int) -> None:
    draw = random.Random(11)
    times = 2000
    found = [of_pairs(*shared_machine(draw, 1.0, pairs)) for _ in range(times)]
    assert sum(holds(each.sure, 1.0) for each in found) / times > 0.94


def test_all_rows_of_a_table_are_right_at_once() -> None:
    draw = random.Random(12)
    tables = 200
    wrong = sum(
        not all(holds(of_pairs(*shared_machine(draw, 1.0), ROWS).sure, 1.0) for _ in range(ROWS)) for _ in range(tables)
    )
    assert wrong / tables < 0.07


def test_a_program_beside_itself_does_not_differ() -> None:
    draw = random.Random(5)
    tables = 100
    claimed = [of_pairs(*shared_machine(draw, 1.0), ROWS).verdict for _ in range(tables * ROWS)]
    assert claimed.count(SAME) == tables * ROWS


def test_without_slow_phases_runs_need_no_pairs() -> None:
    draw = random.Random(6)
    times = 500

    def runs(ratio: float) -> list[float]:
        return [20 * ratio * draw.gauss(1, 0.02) for _ in range(9)]

    found = [of_groups(runs(1.0), runs(1.1)) for _ in range(times)]
    assert sum(holds(each.interval, 1.1) for each in found) / times > 0.93
    assert sum(holds(each.sure, 1.1) for each in found) / times > 0.93
    assert {of_groups(runs(1.0), runs(1.2), ROWS).verdict for _ in range(20)} == {SLOWER}


@pytest.mark.parametrize(("ratio", "verdict"), [(1.05, SLOWER), (1 / 1.05, FASTER)])
def test_a_planted_difference_is_found(ratio: float, verdict: str) -> None:
    draw = random.Random(7)
    found = [of_pairs(*shared_machine(draw, ratio), ROWS).verdict for _ in range(200)]
    assert found.count(verdict) > 0.8 * len(found)
    assert set(found) <= {verdict, SAME}


def test_one_slow_run_in_five_moves_nothing() -> None:
    a = [10.0] * 25
    b = [10.0 if i % 5 else 30.0 for i in range(25)]
    exact = Interval(1, 1)
    assert of_pairs(a, b) == Estimate(1, exact, exact)


def test_turning_the_sides_round_turns_the_result_round() -> None:
    a, b = shared_machine(random.Random(8), 1.07, 24)
    for estimate in (of_pairs, of_groups):
        there, back = estimate(a, b, 5), estimate(b, a, 5)
        assert there.ratio == pytest.approx(1 / back.ratio)
        for x, y in ((there.interval, back.interval), (there.sure, back.sure)):
            assert (x.low, x.high) == pytest.approx((1 / y.high, 1 / y.low))


def test_few_runs_say_nothing_however_they_agree() -> None:
    for estimate in (of_pairs, of_groups):
        found = estimate([10.0] * 3, [20.0] * 3, ROWS)
        assert (found.ratio, found.sure, found.verdict) == (pytest.approx(2), UNBOUNDED, SAME)
    # Six pairs agree by chance once in 32 times, which is the first that is seldom enough for one row.
    assert [surely_outside(pairs, 1) for pairs in (5, 6)] == [None, 0]
    assert [surely_outside(pairs, ROWS) for pairs in (10, 11)] == [None, 0]


def test_less_than_the_margin_is_no_difference_however_sure() -> None:
    a = [10.0 + i / 1000 for i in range(25)]
    assert of_pairs(a, [x * (1 + MARGIN * 0.9) for x in a]).verdict == SAME
    assert of_pairs(a, [x * (1 + MARGIN * 1.1) for x in a]).verdict == SLOWER
    assert of_pairs(a, [x / (1 + MARGIN * 1.1) for x in a]).verdict == FASTER


def test_the_closed_form_is_what_drawing_again_and_again_gives() -> None:
    n, rank = 9, 5
    draw = random.Random(9)
    times = 20_000
    medians = [sorted(draw.choices(range(1, n + 1), k=n))[rank - 1] for _ in range(times)]
    for k, share in enumerate(likely_below(n, rank), 1):
        assert sum(median <= k for median in medians) / times == pytest.approx(share, abs=0.015)


def test_what_may_be_left_out_of_groups_is_what_counting_all_orders_gives() -> None:
    a, b = 4, 5
    above = []
    for order in product((0, 1), repeat=a + b):
        if sum(order) == b:
            seen = [order[:i].count(0) for i, side in enumerate(order) if side]
            above.append(sum(seen))
    assert len(above) == comb(a + b, a)
    expected = max(k for k in range(a * b) if sum(each <= k for each in above) / len(above) <= 0.025)
    assert surely_outside_of_groups(a, b, 1) == expected


def test_more_rows_ask_for_more() -> None:
    a, b = shared_machine(random.Random(10), 1.0)
    one, many = of_pairs(a, b, 1), of_pairs(a, b, 300)
    assert many.sure.low < one.sure.low <= one.sure.high < many.sure.high
    assert many.interval == one.interval
