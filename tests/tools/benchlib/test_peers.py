"""tools/bench --peers: which benchmarks run, and the table."""

import io

import pytest
from rich.console import Console

from benchlib.overview.cited import cited_table
from benchlib.overview.peers import cell, libraries, own_styles, peers_table
from millrace.bench.results import collect
from millrace.bench.suite import choose, of_sizes

NAMES = [
    "NET2/64/actor",
    "NET2/64/coroutine",
    "NET2/64/actorc-coroutine",
    "NET2/64/callback",
    "NET2/64/fiber",
    "NET2/64/asio",
    "NET2/4096/asio",
    "quorum/64/actor",
    "map/library",
    "create_ready/asio",
]


def result(name: str, ns: float, **more: object) -> dict[str, object]:
    return {"name": name, "run_type": "iteration", "ns_per_item": ns, **more}


def test_other_libraries_do_not_run_unless_asked_for() -> None:
    assert choose(NAMES, "") == [
        "NET2/64/actor",
        "NET2/64/coroutine",
        "NET2/64/actorc-coroutine",
        "quorum/64/actor",
        "map/library",
    ]
    assert choose(NAMES, "fiber", more=("fiber",)) == ["NET2/64/fiber"]


def test_only_works_that_another_library_has_are_compared() -> None:
    assert of_sizes(choose(NAMES, "", peers=True), (64,)) == [
        "NET2/64/actor",
        "NET2/64/coroutine",
        "NET2/64/callback",
        "NET2/64/fiber",
        "NET2/64/asio",
        "create_ready/asio",
    ]


def test_ours_and_the_floors_stand_apart_from_other_libraries() -> None:
    names = ["floor-context", "floor-coroutine", "libuv", "floor-callback", "asio", "fiber", "callback"]
    names += ["coroutine", "actor"]
    rows = collect(result(f"NET2/64/{style}", 1) for style in names)
    assert own_styles(rows) == [
        "actor",
        "coroutine",
        "callback",
        "fiber",
        "floor-callback",
        "floor-coroutine",
        "floor-context",
    ]
    assert libraries(rows) == ["asio", "libuv"]


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
    own = result("YIELD/64/coroutine", 1.0)
    rows = collect([result("NET2/64/coroutine", 10.0), result("NET2/64/asio", 25.0), failed, own])
    out = io.StringIO()
    Console(file=out, width=100, color_system=None).print(peers_table(rows, ["asio"], "title", plain=True))
    lines = [line.replace(" ", "") for line in out.getvalue().splitlines()]
    assert [line for line in lines if line][1:] == [
        "|benchmark|N|asio|",
        "|-----------|----|-------------|",
        "|NET2|64|25.0(2.5x)|",
        "|DELAY|64|error|",
    ]


@pytest.mark.parametrize(("compiler", "coflux"), [("clang 19.1.7", "71.0"), ("gcc 12.2.0", "72.0")])
def test_structured_tasks_stand_beside_cited_figures_of_the_same_compiler(compiler: str, coflux: str) -> None:
    measured = [result("fork-monotonic/100000/task", 9), result("fork-monotonic/500000/task", 8), result(NAMES[0], 7)]
    out = io.StringIO()
    Console(file=out, width=200).print(cited_table(collect(measured), compiler, plain=True))
    assert [line.split("|")[1].strip() for line in out.getvalue().splitlines()[4:] if "|" in line] == ["fork-monotonic"]
    assert "| 8.00 |" in " ".join(out.getvalue().split())
    assert coflux in out.getvalue()
