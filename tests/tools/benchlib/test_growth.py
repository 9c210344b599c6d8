"""tools/bench growth: what is said of the cost of an actor among few and many."""

import io
import stat
from pathlib import Path

import pytest
from rich.console import Console

from benchlib.growth.command import main
from benchlib.growth.series import Series, growth_table, remarks, resident, timed
from millrace.common.arguments import UsageError


def series(cost: dict[int, float], benchmark: str = "NET2", style: str = "coroutine") -> Series:
    return Series("clang", benchmark, style, cost)


def test_a_series_has_the_minimum_of_each_size() -> None:
    runs = [("NET2/1/coroutine", 5.0), ("NET2/1/coroutine", 4.0), ("NET2/2/coroutine", 3.0), ("NET2/1/actor", 6.0)]
    found = timed("gcc", [{"name": name, "ns_per_item": ns} for name, ns in runs])
    assert [(one.compiler, one.name, one.cost) for one in found] == [
        ("gcc", "NET2 ACTOR", {1: 6.0}),
        ("gcc", "NET2 coroutine", {1: 4.0, 2: 3.0}),
    ]


@pytest.mark.parametrize(
    ("many", "verdict"), [(50.0, "2.50 times what 64 do, within"), (52.0, "2.60 times what 64 do, above")]
)
def test_many_are_compared_with_a_few(many: float, verdict: str) -> None:
    assert any(verdict in line for line in remarks([series({64: 20.0, 4096: 30.0, 65536: many})]))


def test_a_cliff_is_where_twice_as_many_cost_much_more_each() -> None:
    lines = remarks([series({1: 1.0, 2: 90.0, 64: 20.0, 128: 22.0, 256: 44.0, 512: 45.0})])
    assert lines == ["NET2 coroutine: cliff: 2.00 times from 128 to 256"]


def test_of_a_cliff_it_is_said_how_the_floor_rises() -> None:
    floors = [
        series({128: 5.0, 256: 9.0}, style="floor-coroutine"),
        series({128: 1.0, 256: 9.0}, style="floor-callback"),
    ]
    lines = remarks([series({64: 20.0, 128: 22.0, 256: 44.0}), series({64: 20.0, 128: 22.0}, style="actor")], floors)
    assert lines == [
        "NET2 coroutine: cliff: 2.00 times from 128 to 256, the floor 1.80 times",
        "NET2 ACTOR: no cliff; steepest: 1.10 times from 64 to 128",
    ]


def test_one_slow_size_is_no_cliff() -> None:
    lines = remarks([series({64: 20.0, 128: 90.0, 256: 22.0})])
    assert lines == ["NET2 coroutine: no cliff; steepest: 1.10 times from 64 to 128"]


def test_a_gentle_slope_is_no_cliff() -> None:
    lines = remarks([series({64: 20.0, 128: 22.0, 256: 26.4})])
    assert lines == ["NET2 coroutine: no cliff; steepest: 1.20 times from 128 to 256"]


def test_the_table_has_a_row_for_each_size() -> None:
    out = io.StringIO()
    table = growth_table([series({1: 50.0, 64: 20.0}), series({64: 25.0}, style="actor")], "title", plain=True)
    Console(file=out, width=100, color_system=None).print(table)
    lines = [line.replace(" ", "") for line in out.getvalue().splitlines()]
    assert "|N|NET2coroutine|NET2ACTOR|" in lines
    assert "|1|50.0|-|" in lines
    assert "|64|20.0|25.0|" in lines


def test_memory_is_read_from_a_process_for_each_size(tmp_path: Path) -> None:
    program = tmp_path / "bench"
    program.write_text(
        "#!/bin/sh\n"
        f'echo "$@" >> {tmp_path}/calls\n'
        "for word; do case $word in --json=*) file=${word#--json=};; esac; done\n"
        """echo '{"benchmarks": [{"name": "x", "resident_per_item": 112.5}]}' > $file\n"""
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    names = [
        "NET2/4096/actor",
        "waiting/64/actor",
        "waiting/4096/actor",
        "waiting/8192/actor",
        "waiting/8192/other",
    ]
    actor, coroutine = resident("clang", program, "sim", names)
    assert actor.cost == {4096: 112.5, 8192: 112.5}
    assert coroutine.cost == {}
    calls = (tmp_path / "calls").read_text().splitlines()
    assert len(calls) == 2
    assert "--growth --loop=sim --case=waiting/8192/actor --iterations=1 --repetitions=1" in calls[1]


def test_mistakes_are_found_before_the_build(tmp_path: Path) -> None:
    console = Console(file=io.StringIO())
    with pytest.raises(UsageError, match="tools/bench growth --help"):
        main(["--sizes"], console, console)
    with pytest.raises(UsageError, match="cannot write"):
        main(["--out", str(tmp_path / "nowhere" / "x.html")], console, console)
    with pytest.raises(UsageError, match="at least 1"):
        main(["--repetitions", "0"], console, console)
