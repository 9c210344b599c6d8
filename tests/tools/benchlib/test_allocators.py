"""tools/bench allocators: its table, and its arguments."""

import io

import pytest
from rich.console import Console

from benchlib.allocators.command import allocators_table, main
from benchlib.results import collect
from benchlib.suite import loop_option
from common.arguments import UsageError


def result(name: str, ns: float) -> dict[str, object]:
    return {"name": name, "run_type": "iteration", "ns_per_item": ns}


def printed(results: list[dict[str, object]]) -> list[list[str]]:
    out = Console(file=io.StringIO(), width=200)
    out.print(allocators_table(collect(results), "title", plain=True))
    text = out.file.getvalue()  # type: ignore[attr-defined]
    return [[part.strip() for part in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]


def test_others_are_compared_with_ours() -> None:
    rows = printed(
        [
            result("pair/96/FastAllocator", 2.0),
            result("pair/96/FastAllocator", 1.6),
            result("pair/96/malloc", 8.0),
            result("mixed/FastAllocator", 4.0),
            result("mixed/malloc", 3.0),
            result("cross_thread/FastAllocator/real_time", 10.0),
        ]
    )
    assert rows[0] == ["benchmark", "N", "FastAllocator", "malloc"]
    assert rows[2:] == [
        ["pair", "96", "1.60", "8.00 (5.0x)"],
        ["mixed", "-", "4.00", "3.00 (0.8x)"],
        ["cross_thread", "-", "10.0", "-"],
    ]


def test_a_program_without_a_loop_is_told_of_none() -> None:
    assert loop_option("") == []
    assert loop_option("real") == ["--loop=real"]


@pytest.mark.parametrize("arguments", [["--repetitions", "0"], ["--loop", "real"]])
def test_wrong_arguments(arguments: list[str]) -> None:
    with pytest.raises(UsageError):
        main(arguments, Console(file=io.StringIO()), Console(file=io.StringIO()))
