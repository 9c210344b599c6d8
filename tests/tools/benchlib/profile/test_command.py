"""tools/bench profile: its arguments, its tables, and the flame graphs that it writes."""

from __future__ import annotations

import io
from collections import defaultdict
from typing import Any

import pytest
from rich.console import Console

from benchlib.profile.command import main
from millrace.bench.causes_table import causes_table, lines_table, summary
from millrace.bench.flames import flames
from millrace.bench.measure import Row, rows
from millrace.bench.profiles import document
from millrace.common.arguments import UsageError
from millrace.common.failure import Failure
from millrace.flame.stacks import Stacks
from millrace.profile import record
from millrace.profile.attribution import Spent, shown, top_functions, without_part
from millrace.profile.sampler import sampler
from millrace.profile.symbols import Frame

ORDER = ("allocate", "await glue", "kernel")
NAMES = ["NET2/64/actor", "NET2/64/coroutine", "NET2/64/actorc-coroutine", "chain/10/actor", "map/library"]


def spent(functions: dict[tuple[str, str], float], samples: float = 10_000) -> Spent:
    total = sum(functions.values())
    result = Spent(total, samples, stacks=Stacks("ns per item"))
    for (cause, name), amount in functions.items():
        result.causes[cause] += amount
        result.functions[cause, name] += amount
        result.lines["flow/core/frame.h", 1, cause] += amount
        result.stacks.add(("follow", name), amount)
        result.kinds[name] = cause
    return result


ACTOR = spent({("allocate", "allocate"): 5, ("await glue", "park"): 4, ("await glue", "ready"): 1})
COROUTINE = spent({("allocate", "allocate"): 5.1, ("await glue", "park"): 7, ("unmapped", "f"): 1})


def text_of(table: object) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=150, color_system=None).print(table)
    return [" ".join(line.replace("|", " ").split()) for line in out.getvalue().splitlines()]


def test_the_table_has_causes_and_their_functions_side_by_side() -> None:
    lines = text_of(causes_table("title", {"actor": ACTOR, "coroutine": COROUTINE}, ORDER, plain=True))
    assert "cause, functions ACTOR % coroutine % difference" in lines
    assert "allocate 5.00 50.0 5.10 38.9 (+0.10)" in lines  # chance does as much
    assert "await glue 5.00 50.0 7.00 53.4 +2.00" in lines
    assert "· ready 1.00 10.0 - - -1.00" in lines
    assert "unmapped - - 1.00 7.6 +1.00" in lines
    assert "all 10.0 100.0 13.1 100.0 +3.10" in lines
    assert not any("kernel" in line for line in lines)


def test_one_style_has_nothing_to_differ_from() -> None:
    lines = text_of(causes_table("title", {"library": ACTOR}, ORDER, plain=True))
    assert "allocate 5.00 50.0" in lines
    assert summary({"library": ACTOR}) == ""


def test_the_summary_names_what_makes_the_difference() -> None:
    assert summary({"actor": ACTOR, "coroutine": COROUTINE}) == (
        "coroutine against ACTOR: +3.10 ns an item; await glue +2.00, unmapped +1.00"
    )


def test_functions_that_take_little_are_not_shown() -> None:
    many = spent({("allocate", f"f{i}"): 100.0 - i for i in range(9)} | {("allocate", "small"): 0.5})
    assert top_functions([many], "allocate") == ["f0", "f1", "f2", "f3"]
    assert top_functions([spent({("allocate", "f"): 1000, ("allocate", "g"): 1})], "allocate") == ["f"]


def test_lines_have_their_text() -> None:
    assert any("flow/core/frame.h:1 #pragma once" in line for line in text_of(lines_table("t", ACTOR, 3, plain=True)))


def test_parts_of_an_actor_stand_on_one_line() -> None:
    assert [without_part(f"follow [{part}]") for part in ("start", "body", "resume")] == ["follow"] * 3
    assert without_part("follow [destroy]") == "follow [destroy]"


def test_a_row_has_the_wanted_styles_in_their_order() -> None:
    assert rows(NAMES, "NET2", ["coroutine", "actor"]) == [["NET2/64/coroutine", "NET2/64/actor"]]
    assert rows(NAMES, "", ["actor", "library"]) == [["NET2/64/actor"], ["chain/10/actor"], ["map/library"]]
    with pytest.raises(UsageError, match="'map' is found in no benchmark of these styles; write --styles library"):
        rows(NAMES, "map", ["actor"])
    with pytest.raises(UsageError, match="there is no benchmark 'NET3'; did you mean NET2"):
        rows(NAMES, "NET3", ["actor"])


def test_flame_graphs_are_of_each_style_and_of_the_difference() -> None:
    found = flames(Row("clang", "NET2/64", {"actor": ACTOR, "coroutine": COROUTINE}))
    assert [one.id for one in found] == [f"flame-NET2-64-clang-{kind}" for kind in ("actor", "coroutine", "difference")]
    assert found[2].title == "NET2/64, clang: coroutine against ACTOR"
    assert [one.graph.is_difference for one in found] == [False, False, True]
    assert [one.id for one in flames(Row("clang", "map", {"library": ACTOR}))] == ["flame-map-clang-library"]


def test_the_json_has_every_number() -> None:
    context = {"profiler": "perf", "loop": "sim", "revision": "abc"}
    written: dict[str, Any] = document([Row("clang", "NET2/64", {"actor": ACTOR})], context)
    assert written["context"] == {"profiler": "perf", "loop": "sim", "revision": "abc"}
    [one] = written["profiles"]
    assert one["per_item"] == 10
    assert one["causes"]["await glue"] == {"per_item": 5.0, "share": 0.5, "functions": {"park": 4.0, "ready": 1.0}}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["("], "is no regular expression"),
        (["--styles", "actr"], "there is no style 'actr'; did you mean actor"),
        (["--seconds", "0"], "--seconds must be more than 0"),
        (["--lines", "-1"], "--lines must be at least 0"),
        (["--flame", "/dev/null/x"], "cannot make the folder"),
        (["--json", "/nowhere/x.json"], "cannot write"),
        (["--with", "gprof"], "tools/bench profile --help"),
    ],
)
def test_mistakes_are_found_before_the_build(arguments: list[str], message: str) -> None:
    console = Console(file=io.StringIO())
    with pytest.raises(UsageError, match=message):
        main(arguments, console, console)


def test_without_perf_the_program_samples_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "why_not", lambda: "there is no perf")
    assert (sampler(None).name, sampler(None).how) == ("signal", "sampled by a signal (there is no perf)")
    with pytest.raises(Failure, match="there is no perf"):
        sampler("perf")
    with pytest.raises(Failure, match="no samples"):
        sampler("signal").complete(["true"])


def test_an_empty_profile_has_no_shares() -> None:
    empty = spent({})
    assert (empty.share("allocate"), empty.error(1.0)) == (0.0, 0.0)
    assert empty.causes == defaultdict(float)


def test_a_stack_has_what_both_styles_have() -> None:
    """No shell of an ACTOR, no inside of the standard library, and an inlined part of a coroutine only once."""

    def frame(name: str, file: str = "flow/x.h", *, is_inlined: bool = True) -> Frame:
        return Frame(name, file, 1, "program", is_inlined)

    stack = [
        frame("follow(int) [clone .resume]", is_inlined=False),
        frame("follow(int)"),
        frame("flow::actor::start<FollowActor>(int)"),
        frame("std::vector<int>::~vector()", "/usr/include/c++/12/vector", is_inlined=False),
        frame("flow::memory::release(void*)"),
    ]
    assert shown(stack) == ["follow [resume]", "memory::release"]
