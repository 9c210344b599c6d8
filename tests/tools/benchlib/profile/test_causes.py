"""causes.toml: that each pattern is for something, and that little is left over.

profile.tsv is what perf saw of some benchmarks; record_profile.py writes it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import pytest

from benchlib.profile.causes import CALLER, KINDS, UNMAPPED, Rule, decisive, expression, read, source_line

FOLDER = Path(__file__).parent
MOST_UNMAPPED = 0.05
ENOUGH = 200  # samples: of fewer, one is a lot


@lru_cache
def recorded() -> tuple[list[dict[str, str]], list[tuple[str, float, list[int]]]]:
    """The functions, and stacks of them: of which benchmark, how often, outermost first. Of each stack there is what
    decides, its callees, and often its caller."""
    functions, stacks = (FOLDER / "profile.tsv").read_text(encoding="utf-8").split("\n\n")
    frames = [dict(zip(KINDS, line.split("\t"), strict=True)) for line in functions.splitlines()]
    found = []
    for line in stacks.splitlines():
        name, *parts = line.split("\t")
        found += [(name, float(weight), [int(i) for i in numbers]) for weight, *numbers in map(str.split, parts)]
    return frames, found


def test_every_pattern_is_for_something() -> None:
    frames, _ = recorded()
    dead = [
        f"{rule.cause}: {kind}: {pattern}"
        for rule in (*read().rules, *read().passes)
        for kind, patterns in rule.patterns.items()
        for pattern in patterns
        if not any(re.search(expression(kind, pattern), frame[kind]) for frame in frames)
    ]
    assert dead == []


def test_every_rule_decides_something() -> None:
    """One that others hide would be read in vain."""
    frames, _ = recorded()
    rules = read().rules
    used = {next((i for i, rule in enumerate(rules) if rule.fits(frame.__getitem__)), None) for frame in frames}
    assert [rule.cause for i, rule in enumerate(rules) if i not in used] == []


def test_every_cause_has_a_rule() -> None:
    causes = read()
    assert {rule.cause for rule in causes.rules} - {CALLER} == set(causes.order)


def test_little_is_unmapped_in_any_benchmark() -> None:
    frames, stacks = recorded()
    causes = read()
    of_frame = [causes.of(frame.__getitem__) for frame in frames]
    total: dict[str, float] = {}
    unmapped: dict[str, float] = {}
    for name, weight, numbers in stacks:
        total[name] = total.get(name, 0) + weight
        if decisive([of_frame[number] for number in numbers])[0] == UNMAPPED:
            unmapped[name] = unmapped.get(name, 0) + weight
    many = {name for name, amount in total.items() if amount >= ENOUGH}
    assert len(many) >= 40  # benchmarks, styles, compilers
    assert {name: share for name in many if (share := unmapped.get(name, 0) / total[name]) > MOST_UNMAPPED} == {}


def test_the_innermost_function_that_is_not_there_for_its_caller_decides() -> None:
    assert decisive(["user code", "allocate", CALLER]) == ("allocate", 1)
    assert decisive(["user code", "await glue"]) == ("await glue", 1)
    assert decisive(["user code", None, CALLER]) == (UNMAPPED, 1)
    assert decisive([CALLER]) == (UNMAPPED, 0)


def test_a_rule_fits_where_one_pattern_of_each_kind_does() -> None:
    rule = Rule("x", {"functions": ("f", "g*"), "lines": (r"\bco_await\b",)})
    here = {"functions": "g::h", "files": "bench/a.cpp", "lines": "co_await x;", "objects": "p"}
    assert rule.fits(here.__getitem__)
    assert not rule.fits((here | {"functions": "fg"}).__getitem__)
    assert not rule.fits((here | {"lines": "co_awaiting x;"}).__getitem__)


def test_a_mistake_in_the_rules_is_said(tmp_path: Path) -> None:
    file = tmp_path / "causes.toml"
    file.write_text('order = ["a"]\n[passes]\n[[rule]]\ncause = "b"\nfiles = ["x"]\n')
    with pytest.raises(ValueError, match=r"causes\.toml: 'b' has no place in the order"):
        read(file)
    file.write_text('order = ["a"]\n[passes]\n[[rule]]\ncause = "a"\nfile = ["x"]\n')
    with pytest.raises(ValueError, match="a rule for 'a' has file"):
        read(file)


def test_a_line_is_read_from_the_sources() -> None:
    assert source_line("flow/core/frame.h", 1) == "#pragma once"
    assert source_line("flow/core/frame.h", 100_000) == ""
    assert source_line("flow/core/nothing.h", 1) == ""
    assert source_line("/usr/include/stdio.h", 1) == ""
