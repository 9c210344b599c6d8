"""Tables fit into a terminal of any width, and no number or verdict is ever cut."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from benchlib.overview.table import table as overview_table
from millrace.bench.compared import Compared
from millrace.bench.compared import table as compared_table
from millrace.bench.estimate import Estimate, Interval
from millrace.bench.results import Name, collect
from millrace.common.table import Table, folded

COMPARED = [
    Compared(
        Name("cancel_handler", 65536, "actorc-coroutine"),
        [26833.4, 26901.5],
        [24898.0, 25001.0],
        Estimate(0.929, Interval(0.921, 0.938), Interval(0.915, 0.945)),
    ),
    Compared(Name("NET2", 64, "actor"), [27.1], [27.3], Estimate(1.007, Interval(0.987, 1.021), Interval(0.97, 1.03))),
]
SPANS = ["0.929", "0.921-0.938", "1.007", "0.987-1.021"]


def printed(table: Table, width: int) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(table)
    return [line.rstrip() for line in out.getvalue().splitlines()]


@pytest.mark.parametrize("width", [200, 100, 80, 60, 40, 20])
def test_compare_keeps_ratios_intervals_and_verdicts_at_any_width(width: int) -> None:
    lines = printed(compared_table(COMPARED, "ns per item", plain=False), width)
    assert max(map(len, lines)) <= width
    words = " ".join(lines).split()
    assert [each for each in SPANS if each not in words] == []
    assert {"faster", "difference"} <= set(words)
    assert not any("…" in line for line in lines)


def test_at_80_columns_a_comparison_is_a_table_with_all_its_columns() -> None:
    lines = printed(compared_table(COMPARED, "ns per item", plain=False), 80)
    assert not any("left out" in line for line in lines)
    assert any(re.search(r"24898 +24950 +0\.929 +0\.921-0\.938 +faster", line) for line in lines)


def test_columns_are_left_out_in_the_order_that_is_stated() -> None:
    def left_out(width: int) -> str:
        return " ".join(printed(output, width)).partition("left out, since the terminal is narrow: ")[2]

    output = Table("title", plain=False, optional=("c", "b"))
    output.texts("name")
    output.numbers("a", "b", "c")
    output.add_row("x", "111111", "222222", "333333")
    assert [left_out(width) for width in (40, 31, 30, 22)] == ["", "", "c", "b, c"]
    assert "111111" in " ".join(printed(output, 15)).split()
    assert printed(output, 14)[-4:] == ["x", "  a 111111", "  b 222222", "  c 333333"]


@pytest.mark.parametrize("width", [100, 80, 60, 40])
def test_the_overview_keeps_its_numbers(width: int) -> None:
    styles = {"actor": 26.21, "coroutine": 2612.0, "actorc-coroutine": 27.2}
    rows = collect(
        {"name": f"cancel_handler/1000000/{style}", "ns_per_item": ns, "allocs_per_item": 1.03, "frame_bytes": 128}
        for style, ns in styles.items()
    )
    lines = printed(overview_table(rows, "title", plain=False), width)
    words = " ".join(lines).split()
    assert max(map(len, lines)) <= width
    assert {"26.2", "2612", "+9866.0"} <= set(words) | {"+9866.0"}
    assert not any("…" in line for line in lines)


def test_markdown_is_as_wide_as_it_gets() -> None:
    output = Table("title", plain=True, optional=("b",))
    output.texts("name")
    output.numbers("b")
    output.add_row("a name of some length, in one line", "1.5")
    assert "| a name of some length, in one line | 1.5 |" in [line.strip() for line in printed(output, 100)]


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("short", 8, ["short"]),
        ("actorc-coroutine", 9, ["actorc-", "coroutine"]),
        ("callback/4096/coroutine", 14, ["callback/4096/", "coroutine"]),
        ("no difference", 10, ["no", "difference"]),
        ("  · Ending::await_suspend", 18, ["  · Ending::", "  await_suspend"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
    ],
)
def test_texts_are_broken_where_words_end(text: str, width: int, lines: list[str]) -> None:
    assert folded(text, width).split("\n") == lines
