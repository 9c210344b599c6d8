"""tools/bench compare: what it makes of runs, on simulated machines."""

from __future__ import annotations

import random
from math import comb, inf

import pytest

from perf.compare.estimate import (
    FASTER,
    MARGIN,
    SAME,
    SLOWER,
    Estimate,
    cumulative,
    enough_pairs,
    error_allowed,
    of_groups,
    of_pairs,
)

PAIRS = 25
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


@pytest.mark.parametrize("ratio", [0.9, 1.0, 1.05])
def test_an_interval_holds_the_truth_as_often_as_it_says(ratio: float) -> None:
    draw = random.Random(4)
    times = 2000
    found = [of_pairs(*shared_machine(draw, ratio), error=0.05) for _ in range(times)]
    inside = sum(each.low <= ratio <= each.high for each in found) / times
    assert 0.94 < inside < 0.985  # the median of 25 lies on a step: 0.957 is the nearest to 0.95 that is not below


def test_a_program_beside_itself_does_not_differ() -> None:
    draw = random.Random(5)
    error = error_allowed(ROWS)
    tables = 100
    claimed = [of_pairs(*shared_machine(draw, 1.0), error).verdict for _ in range(tables * ROWS)]
    assert claimed.count(SAME) == tables * ROWS


def test_without_slow_phases_in_pairs_medians_of_groups_hold_too() -> None:
    draw = random.Random(6)
    times = 500

    def runs(ratio: float) -> list[float]:
        return [20 * ratio * draw.gauss(1, 0.02) for _ in range(9)]

    found = [of_groups(runs(1.0), runs(1.1), 0.05) for _ in range(times)]
    assert sum(each.low <= 1.1 <= each.high for each in found) / times > 0.94
    assert {of_groups(runs(1.0), runs(1.2), 0.05).verdict for _ in range(20)} == {SLOWER}


@pytest.mark.parametrize(("ratio", "verdict"), [(1.05, SLOWER), (1 / 1.05, FASTER)])
def test_a_planted_difference_is_found(ratio: float, verdict: str) -> None:
    draw = random.Random(7)
    found = [of_pairs(*shared_machine(draw, ratio), error_allowed(ROWS)).verdict for _ in range(200)]
    assert found.count(verdict) > 0.8 * len(found)
    assert set(found) <= {verdict, SAME}


def test_one_slow_run_in_five_moves_nothing() -> None:
    a = [10.0] * 25
    b = [10.0 if i % 5 else 30.0 for i in range(25)]
    assert of_pairs(a, b, 0.01) == Estimate(1, 1, 1)


def test_turning_the_sides_round_turns_the_result_round() -> None:
    a, b = shared_machine(random.Random(8), 1.07, 24)
    for estimate in (of_pairs, of_groups):
        there, back = estimate(a, b, 0.01), estimate(b, a, 0.01)
        assert there.ratio == pytest.approx(1 / back.ratio)
        assert (there.low, there.high) == pytest.approx((1 / back.high, 1 / back.low))


def test_few_runs_say_nothing_however_they_agree() -> None:
    for estimate in (of_pairs, of_groups):
        found = estimate([10.0] * 3, [20.0] * 3, error_allowed(ROWS))
        assert (found.ratio, found.low, found.high, found.verdict) == (pytest.approx(2), 0, inf, SAME)
    assert not enough_pairs(5, 0.05)
    assert enough_pairs(6, 0.05)


def test_less_than_the_margin_is_no_difference_however_sure() -> None:
    a = [10.0 + i / 1000 for i in range(25)]
    assert of_pairs(a, [x * (1 + MARGIN * 0.9) for x in a], 0.05).verdict == SAME
    assert of_pairs(a, [x * (1 + MARGIN * 1.1) for x in a], 0.05).verdict == SLOWER
    assert of_pairs(a, [x / (1 + MARGIN * 1.1) for x in a], 0.05).verdict == FASTER


def test_the_closed_form_is_what_drawing_again_and_again_gives() -> None:
    n, rank = 9, 5
    draw = random.Random(9)
    times = 20_000
    medians = [sorted(draw.choices(range(1, n + 1), k=n))[rank - 1] for _ in range(times)]
    for k, share in enumerate(cumulative(n, rank), 1):
        assert sum(median <= k for median in medians) / times == pytest.approx(share, abs=0.015)


def test_more_rows_allow_less_error_in_each() -> None:
    a, b = shared_machine(random.Random(10), 1.0)
    one, many = of_pairs(a, b, error_allowed(1)), of_pairs(a, b, error_allowed(300))
    assert many.low < one.low <= one.high < many.high
    assert error_allowed(1) == pytest.approx(0.05)
    assert 2 / comb(18, 9) < error_allowed(300)  # nine repetitions of each side are enough for all rows of the suite
