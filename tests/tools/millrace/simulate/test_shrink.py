"""Of the faults of a seed those are left that it takes."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from millrace.simulate.results import Result
from millrace.simulate.shrink import Fault, NothingFailsError, parse, shrunk, written
from millrace.simulate.shrink_command import tried

KINDS = ["a", "b", "c", "d", "e"]
INJECTIONS: list[Fault] = [(kind, "abcadebbca"[:place].count(kind)) for place, kind in enumerate("abcadebbca")]


def chosen(only: str | None) -> list[Fault]:
    """As the program understands it."""
    if only is None or only == "":
        return INJECTIONS if only is None else []
    some = set(parse(only))
    return [fault for fault in INJECTIONS if fault in some or (fault[0], None) in some]


def model(fails: Callable[[list[Fault]], bool], dies: bool = False) -> Callable[[str | None], Result]:
    def run(only: str | None) -> Result:
        injected = chosen(only)
        kinds = [kind for kind, _ in injected]
        signature = "lost" if fails(injected) else "another" if "c" in kinds else ""
        if dies and signature == "lost":
            return Result(1, "", 0, 0, {}, [], signature, "", "")
        counts = {kind: kinds.count(kind) for kind in kinds}
        return Result(1, str(injected), 0, 0, counts, [], signature, "", "", written(injected))

    return run


def test_a_kind_is_enough() -> None:
    small = shrunk(model(lambda injected: ("d", 0) in injected), KINDS)
    assert small.result.faults == {"d": 1}
    assert small.only == "d", "there is no other of that kind"


def test_some_of_two_kinds() -> None:
    small = shrunk(model(lambda injected: {("a", 0), ("a", 2), ("e", 0)} <= {*injected}), KINDS)
    assert small.result.faults == {"a": 2, "e": 1}
    assert small.before.faults == {"a": 3, "b": 3, "c": 2, "d": 1, "e": 1}
    assert small.only == "a:0,a:2,e:0"


def test_one_of_many() -> None:
    for fault in INJECTIONS:
        assert parse(shrunk(model(lambda injected, needed=fault: needed in injected), KINDS).result.injected) == [fault]  # type: ignore[misc]


def test_neighbours_are_left_out_together() -> None:
    """A part is one range of numbers, so that it is short to name even if there are many."""
    tried: list[str] = []

    def run(only: str | None) -> Result:
        injected = parse("a:0..19" if only is None else only)
        tried.append(written(injected))
        return Result(
            1, str(injected), 0, 0, {}, [], "lost" if ("a", 19) in injected else "", "", "", written(injected)
        )

    assert shrunk(run, ["a"]).result.injected == "a:19"
    assert [text for text in tried if "," in text] == []


def test_one_that_dies_tells_no_names() -> None:
    small = shrunk(model(lambda injected: {("a", 1), ("e", 0)} <= {*injected}, dies=True), KINDS)
    assert small.only == "a:1,e:0"
    assert shrunk(model(lambda injected: True, dies=True), KINDS).only == ""


def test_no_fault_at_all() -> None:
    small = shrunk(model(lambda injected: True), KINDS)
    assert (small.only, small.result.faults) == ("", {})


def test_another_signature_does_not_count() -> None:
    """Without d it is another failure."""
    assert "d" in shrunk(model(lambda injected: ("d", 0) in injected), KINDS).result.faults


def test_what_does_not_fail() -> None:
    with pytest.raises(NothingFailsError):
        shrunk(lambda only: Result(1, "", 0, 0, {}, [], "", "", ""), KINDS)


def test_the_names_of_faults() -> None:
    for text in ("", "a:0", "a:0..2,b:4,b:6..7,c:1", "b,a:0"):
        assert written(parse(text)) == text
    assert written([("b", 1), ("a", 3), ("b", 0)]) == "a:3,b:0..1"


def test_what_the_bar_says() -> None:
    said = [tried(only) for only in (None, "", "a:3", "a:3..7,b")]
    assert said == ["all faults", "no fault", "1 run of faults", "2 runs of faults"]


def test_the_command(simulate: Callable[..., subprocess.CompletedProcess[str]], fake: Path) -> None:
    done = simulate("shrink", "faulty", "--seed", "8")
    assert done.returncode == 0, done.stderr
    head, text, again = done.stdout.splitlines()
    assert head.startswith("seed 8 of faulty with 1 diskLostWrite, 1 powerLoss (of 8; ")
    assert text == "  lost 8 records"
    assert again == f"  again: {fake} --run faulty --seeds 8 --only diskLostWrite,powerLoss"


def test_a_seed_that_passes(simulate: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    done = simulate("shrink", "good", "--seed", "8")
    assert done.returncode == 2
    assert "seed 8 of good does not fail" in done.stderr
