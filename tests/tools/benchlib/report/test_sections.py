"""tools/bench report: what the sections say of what was measured."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchlib.report.assemble import assemble
from benchlib.report.gather import Measured
from benchlib.report.sections import peers
from millrace.bench.results import collect
from millrace.common.table import Table
from millrace.pages.model import (
    Chart,
    Drawing,
    Flame,
    Grid,
    Missing,
    Part,
    Remarks,
    Report,
    log_axis,
    short,
    sizes_axis,
)


@pytest.fixture(scope="module")
def report(measured: Measured) -> Report:
    return assemble(measured)


def parts(report: Report, section: str) -> list[Part]:
    return next(one for one in report.sections if one.id == section).parts


def part(report: Report, name: str) -> Chart | Grid:
    return next(one for one in report.parts() if isinstance(one, Chart | Grid) and one.id == name)


def grid(report: Report, name: str) -> Table:
    found = part(report, name)
    assert isinstance(found, Grid)
    return found.table


def test_the_table_has_what_tools_bench_prints(report: Report) -> None:
    table = grid(report, "table-clang")
    assert dict(zip(table.headings, table.rows[0], strict=True)) == {
        "benchmark": "DELAY",
        "N": "64",
        "ACTOR": "6.56",
        "coroutine": "8.19",
        "overhead": "+24.8 %",
        "actorc-coroutine": "9.81",
        "allocs": "1",
        "steps": "1",
        "bytes": "96",
    }
    assert table.row_count == 6


def test_the_library_has_a_table_of_its_own(report: Report) -> None:
    assert list(map(list, grid(report, "library-clang").rows)) == [["map", "20.0", "2", "80"]]


def test_the_chart_of_styles_has_each_work_once(report: Report) -> None:
    chart = part(report, "styles-clang")
    assert isinstance(chart, Chart)
    assert chart.rows == ["DELAY/4096", "NET2/4096", "cancel_handler/4096"]
    assert [line.name for line in chart.lines] == ["ACTOR", "coroutine", "actorc-coroutine"]


def test_the_top_of_the_page_has_both_styles(report: Report) -> None:
    assert [(figure.title, [value for _, _, value in figure.values]) for figure in report.figures] == [
        ("DELAY, N = 4096", ["10.6 ns", "12.2 ns"]),
        ("NET2, N = 4096", ["34.1 ns", "41.6 ns"]),
    ]


def test_growth_has_the_floors_of_its_work_and_says_where_it_rises(report: Report) -> None:
    chart = part(report, "growth-NET2")
    assert isinstance(chart, Chart)
    assert [line.name for line in chart.lines] == [
        "ACTOR",
        "coroutine",
        "function pointer in a queue",
        "bare coroutine in a queue",
    ]
    said = [line for one in parts(report, "growth") if isinstance(one, Remarks) for line in one.lines]
    assert any(line.startswith("NET2 coroutine: ") for line in said)


def test_a_chart_and_a_table_have_the_instructions(report: Report) -> None:
    chart = part(report, "instructions-clang")
    assert isinstance(chart, Chart)
    assert [line.points for line in chart.lines] == [
        ((88.0, "DELAY/64"), (337.0, "NET2/64")),
        ((80.0, "DELAY/64"), (366.0, "NET2/64")),
    ]
    row = grid(report, "instructions-table-clang").rows[1]
    assert list(row) == ["NET2", "64", "337", "366", "+8.6 %", "-", "-", "-"]


def test_frames_are_drawn_and_listed(report: Report) -> None:
    drawing = next(one for one in parts(report, "frames") if isinstance(one, Drawing))
    assert drawing.title == "increment, which waits in NET2"
    assert "ACTOR clang: 64 bytes in a block of 64; coroutine clang: 72 bytes in a block of 80." in drawing.says
    assert [(heading, layout.size) for heading, layout in drawing.frames] == [
        ("ACTOR clang", 64),
        ("coroutine clang", 72),
    ]
    table = grid(report, "frames-table")
    assert [list(row)[:5] for row in table.rows] == [
        ["tasks increment", "ACTOR clang", "64", "64", "8"],
        ["tasks increment", "coroutine clang", "72", "80", "24"],
    ]


def test_the_profile_has_causes_their_functions_and_three_graphs(report: Report) -> None:
    table = part(report, "causes-NET2-4096-clang")
    assert isinstance(table, Grid)
    assert list(map(list, table.table.rows)) == [
        ["allocate", "10.0", "33.3", "33.0", "100.0", "+23.0"],
        ["  · allocate()", "10.0", "33.3", "33.0", "100.0", "+23.0"],
        ["resume path", "20.0", "66.7", "-", "-", "-20.0"],
        ["  · resume path()", "20.0", "66.7", "-", "-", "-20.0"],
        ["unmapped", "-", "-", "-", "-", "(+0.00)"],
        ["all", "30.0", "100.0", "33.0", "100.0", "+3.00"],
    ]
    assert "Coroutine against ACTOR: +3.00 ns an item" in table.says
    graphs = [one for one in parts(report, "profile") if isinstance(one, Flame)]
    assert [one.id.rpartition("-")[2] for one in graphs] == ["actor", "coroutine", "difference"]
    assert graphs[2].title == "NET2/4096, clang: coroutine against ACTOR"


def test_history_says_from_which_revision_to_which(report: Report) -> None:
    chart = part(report, "history-NET2-64")
    assert isinstance(chart, Chart)
    assert chart.says == "From aaaaaaa to bbbbbbb: ACTOR 400 to 337 (-15.7 %); coroutine stays at 366."
    assert chart.x.names == ("aaaaaaa 2026-01-01 the first", "bbbbbbb 2026-01-02 faster")
    assert [line.points for line in chart.lines] == [((0.0, 400.0), (1.0, 337.0)), ((0.0, 366.0), (1.0, 366.0))]


def test_without_counts_there_is_no_history(measured: Measured) -> None:
    [missing] = parts(assemble(replace(measured, history=[])), "history")
    assert isinstance(missing, Missing)
    assert "tools/bench check --update" in missing.why


def test_peers_are_compared_with_the_fastest_of_ours(report: Report) -> None:
    chart = part(report, "peers-DELAY-4096")
    assert isinstance(chart, Chart)
    assert chart.rows == ["floor-callback", "coroutine", "ACTOR", "callback", "kj", "asio"]
    assert chart.says == "The fastest library is kj with 108 ns; our coroutine takes 6.00, 18.0 times less."


@pytest.mark.parametrize(("ours", "said"), [(20.0, "2.0 times more"), (10.02, "as much"), (5.0, "2.0 times less")])
def test_peers_that_are_faster_are_said_to_be(ours: float, said: str) -> None:
    results = [{"name": f"YIELD/64/{style}", "ns_per_item": ns} for style, ns in (("coroutine", ours), ("asio", 10.0))]
    [chart] = peers.section(collect(results)).parts
    assert isinstance(chart, Chart)
    assert chart.says.endswith(f", {said}.")


def test_two_compilers_share_a_chart_and_have_a_table_each(measured: Measured) -> None:
    both = replace(
        measured,
        suite=dict.fromkeys(("clang", "gcc"), measured.suite["clang"]),
        growth=dict.fromkeys(("clang", "gcc"), measured.growth["clang"]),
        history=[
            replace(point, counts=dict.fromkeys(("clang", "gcc"), point.counts["clang"])) for point in measured.history
        ],
    )
    found = assemble(both)
    assert part(found, "table-clang") != part(found, "table-gcc")
    for name in ("growth-waiting", "history-NET2-64"):
        chart = part(found, name)
        assert isinstance(chart, Chart)
        assert {(line.name, line.dashed) for line in chart.lines} >= {("ACTOR, clang", False), ("ACTOR, gcc", True)}
    net2 = part(found, "growth-NET2")
    assert isinstance(net2, Chart)
    assert len([line for line in net2.lines if line.role == "floor"]) == 2
    names = [one.id for one in found.charts()]
    assert len(names) == len(set(names))


def test_what_is_missing_says_why_where_it_is_missed(report: Report) -> None:
    for section in ("times", "growth", "instructions", "frames"):
        missing = [one for one in parts(report, section) if isinstance(one, Missing)]
        assert [one.why for one in missing] == ["The build with gcc failed."]


def test_the_environment_has_machine_build_and_noise(report: Report) -> None:
    facts = {row[0]: row[1] for row in grid(report, "machine").rows}
    assert facts["Processor"] == "A & B"
    assert facts["Built with clang"] == "clang 19.1.7, -O3 -DNDEBUG"
    assert facts["Noise, clang"] == "medians are 1.0% above the minima"


def test_a_busy_machine_is_said_at_the_top(measured: Measured) -> None:
    assert assemble(measured).subtitle == "0123456789ab · 2026-01-02 03:04 UTC · clang 19.1.7"
    busy = assemble(replace(measured, busy="on a busy machine (load 9.00)"))
    assert busy.subtitle.endswith("clang 19.1.7 · on a busy machine (load 9.00)")


def test_nothing_measured_still_makes_a_report() -> None:
    empty = assemble(Measured("r", "now", {}, suite={"clang": Missing("No.")}, growth={"clang": Missing("No.")}))
    assert empty.figures == []
    assert empty.charts() == []


def test_axes_have_ticks_that_can_be_read() -> None:
    assert [text for _, text in sizes_axis([1, 64, 4096]).ticks] == ["1", "8", "64", "512", "4K"]
    assert [text for _, text in log_axis("", [3.0, 2400.0]).ticks] == [
        *("5", "10", "20", "50", "100", "200", "500", "1,000", "2,000")
    ]
    assert short(1 << 20) == "1M"


def test_noise_does_not_fill_a_log_axis() -> None:
    low, high = log_axis("", [20.0, 21.0]).range or (0, 0)
    assert high / low == pytest.approx(10)
