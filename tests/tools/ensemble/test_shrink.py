"""Of the faults of a seed those are left that it takes."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ensemblelib.results import Result
from ensemblelib.shrink import Filter, NothingFailsError, shrunk

KINDS = ["a", "b", "c", "d", "e"]
STRIKES = "abcadebbca"


def model(fails: Callable[[list[str]], bool]) -> Callable[[Filter], Result]:
    def run(some: Filter) -> Result:
        last = len(STRIKES) if some.last is None else some.last
        kinds = [kind for kind in STRIKES[some.first : last] if kind not in some.without]
        faults = {kind: kinds.count(kind) for kind in kinds}
        signature = "lost" if fails(kinds) else "another" if "c" in kinds else ""
        return Result(1, "".join(kinds), 0, 0, faults, [], signature, "", "")

    return run


def test_one_class_is_enough() -> None:
    small = shrunk(model(lambda kinds: "d" in kinds), KINDS)
    assert small.result.faults == {"d": 1}
    assert (small.filter.first, small.filter.last) == (4, 5)
    assert small.filter.without == frozenset(), "the window says it all"


def test_two_classes_and_a_window() -> None:
    small = shrunk(model(lambda kinds: kinds.count("a") > 1 and "e" in kinds), KINDS)
    assert small.result.faults == {"a": 2, "e": 1}
    assert small.before.faults == {"a": 3, "b": 3, "c": 2, "d": 1, "e": 1}
    assert small.filter.without >= {"b"}


def test_no_fault_at_all() -> None:
    assert shrunk(model(lambda kinds: True), KINDS).result.faults == {}


def test_another_signature_does_not_count() -> None:
    """Without d it is another failure."""
    assert "d" in shrunk(model(lambda kinds: "d" in kinds), KINDS).result.faults


def test_what_does_not_fail() -> None:
    with pytest.raises(NothingFailsError):
        shrunk(lambda some: Result(1, "", 0, 0, {}, [], "", "", ""), KINDS)


def test_the_command(ensemble: Callable[..., subprocess.CompletedProcess[str]], fake: Path) -> None:
    done = ensemble("shrink", "faulty", "--seed", "8")
    assert done.returncode == 0, done.stderr
    head, text, again = done.stdout.splitlines()
    assert head.startswith("seed 8 of faulty with 1 diskLostWrite, 1 powerLoss (of 8; ")
    assert text == "  lost 8 records"
    assert again == f"  again: {fake} --run faulty --seeds 8 --without clog --first 3 --last 6"


def test_a_seed_that_passes(ensemble: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    done = ensemble("shrink", "good", "--seed", "8")
    assert done.returncode == 1
    assert "seed 8 of good does not fail" in done.stderr
