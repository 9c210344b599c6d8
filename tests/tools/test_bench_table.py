"""How tools/bench turns Google Benchmark's results into rows."""

import io

import pytest
from rich.console import Console

from benchlib.run import choose, escape
from benchlib.table import Name, collect, errors, parse_name, table


def result(name: str, ns: float, **more: object) -> dict[str, object]:
    return {"name": name, "run_name": name, "run_type": "iteration", "ns_per_item": ns, **more}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("NET2/64/actor", Name("NET2", 64, "actor")),
        ("race/first/8/actorc-coroutine", Name("race/first", 8, "actorc-coroutine")),
        ("NET2/64/actor/min_time:0.100/manual_time", Name("NET2", 64, "actor")),
        ("create_ready/coroutine", Name("create_ready", None, "coroutine")),
    ],
)
def test_names(text: str, name: Name) -> None:
    assert parse_name(text) == name


def test_rows_keep_the_order_of_benchmarks_and_sort_sizes() -> None:
    names = ["YIELD/4096/actor", "NET2/8/actor", "YIELD/64/actor", "YIELD/4096/coroutine"]
    rows = collect(result(name, 1) for name in names)
    assert [(row.benchmark, row.size) for row in rows] == [("YIELD", 64), ("YIELD", 4096), ("NET2", 8)]


def test_minimum_median_and_overhead() -> None:
    samples = {"actor": (9.0, 8.0, 20.0), "coroutine": (8.8, 30.0, 9.0)}
    rows = collect(result(f"NET2/64/{style}", ns) for style, times in samples.items() for ns in times)
    assert rows[0].cell("actor").text() == "8.00 (9.00)"
    assert rows[0].cell("coroutine").text() == "8.80 (9.00)"
    assert rows[0].overhead() == "+10.0 %"


def test_a_style_that_did_not_run_is_a_dash() -> None:
    rows = collect([result("NET2/64/actor", 1)])
    assert rows[0].cell("coroutine").text() == "-"
    assert rows[0].overhead() == "-"


def test_aggregates_do_not_count() -> None:
    rows = collect([result("NET2/64/actor", 5), result("NET2/64/actor", 1) | {"run_type": "aggregate"}])
    assert rows[0].cell("actor").minimum == 5


def test_time_per_item_without_a_counter() -> None:
    entry = {"name": "NET2/64/actor", "cpu_time": 2.0, "time_unit": "us", "items_per_op": 64}
    assert collect([entry])[0].cell("actor").minimum == pytest.approx(31.25)


def test_errors_are_shown() -> None:
    failed = {"name": "NET2/64/actor", "error_occurred": True, "error_message": "sum is wrong"}
    rows = collect([failed])
    assert rows[0].cell("actor").text() == "error"
    assert errors(rows) == ["NET2/64/actor: sum is wrong"]


def test_the_plain_table() -> None:
    rows = collect(
        [
            result("NET2/64/actor", 8.125, allocs_per_item=1.0, frame_bytes=88),
            result("NET2/64/coroutine", 8.125, allocs_per_item=1.5, frame_bytes=96),
            result("NET2/64/fiber", 1234.5),
        ]
    )
    out = io.StringIO()
    Console(file=out, width=200, color_system=None).print(table(rows, "title", plain=True))
    lines = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in out.getvalue().splitlines()]
    heading = next(line for line in lines if line[0] == "benchmark")
    values = next(line for line in lines if line[0] == "NET2")
    assert dict(zip(heading, values, strict=True)) == {
        "benchmark": "NET2",
        "N": "64",
        "ACTOR ns": "8.12 (8.12)",
        "coroutine ns": "8.12 (8.12)",
        "overhead": "+0.0 %",
        "actorc-coroutine ns": "-",
        "fiber ns": "1234 (1234)",
        "allocs/op": "1 / 1.5",
        "frame bytes": "88 / 96",
    }


def test_choosing_by_name_and_size() -> None:
    names = ["NET2/8/actor", "NET2/64/actor", "YIELD/64/actor"]
    assert choose(names, "NET2", (64, 4096)) == ["NET2/64/actor"]
    assert choose(names, "", None) == names
    assert choose(names, "nothing", None) == []


def test_names_are_taken_literally_in_a_filter() -> None:
    assert escape("create_ready<Void>/1/actor") == "create_ready<Void>/1/actor"
    assert escape("a.b(c)|d") == r"a\.b\(c\)\|d"
