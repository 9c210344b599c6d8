"""tools/bench --peers: which benchmarks run, and the table."""

import io

import pytest
from rich.console import Console

from benchlib.peers import cell, peers_table, styles
from benchlib.run import choose
from benchlib.table import collect

NAMES = [
    "NET2/64/actor",
    "NET2/64/coroutine",
    "NET2/64/actorc-coroutine",
    "NET2/64/callback",
    "NET2/64/asio",
    "NET2/4096/asio",
    "quorum/64/actor",
    "map/library",
    "create_ready/asio",
]


def result(name: str, ns: float, **more: object) -> dict[str, object]:
    return {"name": name, "run_type": "iteration", "ns_per_item": ns, **more}


def test_other_libraries_do_not_run_unless_asked_for() -> None:
    assert choose(NAMES, "", None) == [
        "NET2/64/actor",
        "NET2/64/coroutine",
        "NET2/64/actorc-coroutine",
        "quorum/64/actor",
        "map/library",
    ]


def test_only_works_that_another_library_has_are_compared() -> None:
    assert choose(NAMES, "", (64,), peers=True) == [
        "NET2/64/actor",
        "NET2/64/coroutine",
        "NET2/64/callback",
        "NET2/64/asio",
        "create_ready/asio",
    ]


def test_columns_are_ours_then_libraries_then_floors() -> None:
    names = ["floor-coroutine", "libuv", "floor-callback", "asio", "callback", "coroutine", "actor"]
    rows = collect(result(f"NET2/64/{style}", 1) for style in names)
    assert styles(rows) == ["actor", "coroutine", "callback", "asio", "libuv", "floor-callback", "floor-coroutine"]


@pytest.mark.parametrize(
    ("ns", "text"), [(80.0, "80.0 (4.0x)"), (20.0, "20.0 (1.0x)"), (2.5, "2.50 (0.12x)"), (250.0, "250 (12x)")]
)
def test_others_are_measured_by_our_coroutine(ns: float, text: str) -> None:
    samples = {"actor": (10.0,), "coroutine": (30.0, 20.0), "asio": (ns, 1000.0)}
    rows = collect(result(f"NET2/64/{style}", one) for style, times in samples.items() for one in times)
    assert cell(rows[0], "asio") == text
    assert cell(rows[0], "actor") == "10.0"


def test_without_ours_there_is_no_ratio() -> None:
    rows = collect([result("NET2/64/asio", 5.0)])
    assert cell(rows[0], "asio") == "5.00"
    assert cell(rows[0], "libuv") == "-"


def test_the_table_in_plain_text() -> None:
    failed = {"name": "DELAY/64/asio", "error_occurred": True, "error_message": "the work was not done"}
    rows = collect([result("NET2/64/coroutine", 10.0), result("NET2/64/asio", 25.0), failed])
    out = io.StringIO()
    Console(file=out, width=200, color_system=None).print(peers_table(rows, "title", plain=True))
    lines = [line.replace(" ", "") for line in out.getvalue().splitlines()]
    assert "|benchmark|N|coroutine|asio|" in lines
    assert "|NET2|64|10.0|25.0(2.5x)|" in lines
    assert "|DELAY|64|-|error|" in lines
