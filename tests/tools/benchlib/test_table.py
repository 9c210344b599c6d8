"""How the results of a program of benchmarks become rows."""

import io

import pytest
from rich.console import Console

from benchlib.overview.table import overhead, table
from millrace.bench.results import Name, collect, errors, noise, parse_name, per_item
from millrace.bench.tables import library_table, pair, text
from millrace.common.failure import Failure
from millrace.common.table import Table


def result(name: str, ns: float, **more: object) -> dict[str, object]:
    return {"name": name, "run_name": name, "run_type": "iteration", "ns_per_item": ns, **more}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("NET2/64/actor", Name("NET2", 64, "actor")),
        ("race/first/8/actorc-coroutine", Name("race/first", 8, "actorc-coroutine")),
        ("/queue/fill/64", Name("/queue/fill/64", None, "")),
        ("create_ready/coroutine", Name("create_ready", None, "coroutine")),
    ],
)
def test_names(text: str, name: Name) -> None:
    assert parse_name(text) == name


def test_rows_keep_the_order_of_benchmarks_and_sort_sizes() -> None:
    names = ["YIELD/4096/actor", "NET2/8/actor", "YIELD/64/actor", "YIELD/4096/coroutine"]
    rows = collect(result(name, 1) for name in names)
    assert [(row.benchmark, row.size) for row in rows] == [("YIELD", 64), ("YIELD", 4096), ("NET2", 8)]


def test_minimum_noise_and_overhead() -> None:
    samples = {"actor": (8.4, 8.0, 20.0), "coroutine": (8.8, 30.0, 9.9), "fiber": (1.0,)}
    rows = collect(result(f"NET2/64/{style}", ns) for style, times in samples.items() for ns in times)
    assert text(rows[0].cell("actor"), "minimum") == "8.00"
    assert text(rows[0].cell("coroutine"), "minimum") == "8.80"
    assert overhead(rows[0]) == "+10.0 %"
    assert noise(rows) == "noise: medians are 8.8% above the minima, as a rule; at most 12.5% (NET2/64/coroutine)"


def test_without_repetitions_nothing_is_known_of_noise() -> None:
    assert noise(collect([result("NET2/64/actor", 1)])) == ""


def test_a_style_that_did_not_run_is_a_dash() -> None:
    rows = collect([result("NET2/64/actor", 1)])
    assert text(rows[0].cell("coroutine"), "minimum") == "-"
    assert overhead(rows[0]) == "-"


def test_bytes_of_a_row_that_only_fibers_have() -> None:
    names = {"spawn/1/fiber": 4288, "NET2/64/actor": 96, "NET2/64/coroutine": 112, "NET2/64/fiber": 4288}
    rows = collect(result(name, 5, frame_bytes=count) for name, count in names.items())
    assert [pair(row, "frame_bytes") for row in rows] == ["4288", "96 / 112"]


def test_aggregates_do_not_count() -> None:
    rows = collect([result("NET2/64/actor", 5), result("NET2/64/actor", 1) | {"run_type": "aggregate"}])
    assert rows[0].cell("actor").minimum == 5


def test_time_per_item_without_a_counter() -> None:
    entry = {"name": "NET2/64/actor", "cpu_time": 2.0, "time_unit": "us", "items_per_op": 64}
    assert collect([entry])[0].cell("actor").minimum == pytest.approx(31.25)


def test_a_result_without_a_time_is_said_to_have_none() -> None:
    with pytest.raises(Failure, match="NET2/64/actor has no time"):
        per_item({"name": "NET2/64/actor", "instructions_per_item": 337.0})


def test_errors_are_shown() -> None:
    failed = {"name": "NET2/64/actor", "error_occurred": True, "error_message": "sum is wrong"}
    rows = collect([failed])
    assert text(rows[0].cell("actor"), "minimum") == "error"
    assert errors(rows) == ["NET2/64/actor: sum is wrong"]


def printed(shown: Table, width: int = 200) -> list[dict[str, str]]:
    """The rows, each by its headings."""
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(shown)
    lines = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in out.getvalue().splitlines()]
    start = next(i for i, line in enumerate(lines) if line[0] == "benchmark")
    return [dict(zip(lines[start], line, strict=True)) for line in lines[start + 2 :] if line != [""]]


ROWS = collect(
    [
        result("NET2/64/actor", 8.125, allocs_per_item=1.0, steps_per_item=1.0, frame_bytes=88),
        result("NET2/64/coroutine", 8.125, allocs_per_item=1.5, steps_per_item=1.0, frame_bytes=96),
        result("NET2/64/fiber", 1234.5),
        result("map/library", 20.0, allocs_per_item=2.0, steps_per_item=0.0, frame_bytes=80),
    ]
)


def test_the_plain_table() -> None:
    assert printed(table(ROWS, "title", plain=True)) == [
        {
            "benchmark": "NET2",
            "N": "64",
            "ACTOR": "8.12",
            "coroutine": "8.12",
            "overhead": "+0.0 %",
            "actorc-coroutine": "-",
            "fiber": "1234",
            "allocs": "1 / 1.5",
            "steps": "1",
            "bytes": "88 / 96",
        }
    ]


def test_what_has_no_styles_stands_in_a_table_of_its_own() -> None:
    assert printed(library_table(ROWS, "title", True, "ns", "minimum")) == [
        {"benchmark": "map", "ns": "20.0", "allocs": "2", "bytes": "80"}
    ]


def test_the_longest_row_fits_into_a_terminal_of_100_columns() -> None:
    long = {"allocs_per_item": 1.03, "steps_per_item": 1.02}
    styles = {"actor": (128, 26.2), "coroutine": (144, 2612.0), "actorc-coroutine": (144, 27.2)}
    rows = collect(
        result(f"cancel_handler/1000000/{style}", ns, frame_bytes=size, **long) for style, (size, ns) in styles.items()
    )
    out = io.StringIO()
    Console(file=out, width=100, color_system=None).print(table(rows, "title", plain=False))
    assert "…" not in out.getvalue()
