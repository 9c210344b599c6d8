"""tools/bench compiler: the files that it makes, and what it says of them."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from actorc.diagnostics import Diagnostics
from actorc.driver import analyse
from actorc.source import Source
from benchlib.compiler.actor_files import actor_file
from benchlib.compiler.command import files_table, main, many_table, parse_arguments
from benchlib.compiler.cost import Many, MeasureError, Row, cpu_seconds, document
from millrace.common.arguments import UsageError


def test_files_are_as_long_as_wanted_and_have_actors() -> None:
    text = actor_file(2000)
    assert 2000 <= text.count("\n") < 2150
    file = analyse(Source("x", text), Diagnostics())
    assert len(file.actors) > 60
    assert len({actor.name for actor in file.actors}) < len(file.actors)


def test_a_command_that_fails_is_named() -> None:
    with pytest.raises(MeasureError, match="false: exit code 1"):
        cpu_seconds(["false"], 1)


def test_lines_per_second_leave_out_the_start() -> None:
    row = Row("coroutine", lines=1000, seconds=0.35, start=0.1, ratio=2.0)
    assert round(row.lines_per_second) == 4000
    assert document([row], [Many("coroutine", 2, 10, 3.0, 1.0)], {})["files"][0]["lines_per_second"] == pytest.approx(
        4000
    )


def test_tables_have_a_row_each() -> None:
    row = Row("coroutine", 1000, 0.35, 0.1, 2.0, None, 3.0)
    assert files_table([row, row], plain=True).row_count == 2
    assert many_table([Many("coroutine", 2, 10, 3.0, 1.0)], plain=True).row_count == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--lines", "0"], "--lines must be at least 1"),
        (["--lines", "1000", "-5"], "--lines must be at least 1"),
        (["--files", "-1"], "--files must be at least 0"),
        (["--runs", "0"], "--runs must be at least 1"),
    ],
)
def test_numbers_that_measure_nothing_are_refused(arguments: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_arguments(arguments)


def test_the_command_measures_and_writes_json(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    shown = Console(file=StringIO(), width=160)
    arguments = ["--lines", "300", "--files", "2", "--runs", "1", "--no-clang", "--json", str(out)]
    assert main(arguments, Console(stderr=True), shown) == 0
    assert "state-machine" in shown.file.getvalue()
    data = json.loads(out.read_text())
    assert {row["backend"] for row in data["files"]} == {"state-machine", "coroutine"}
    assert all(row["seconds"] > 0 and row["ratio"] > 1 for row in data["files"])
    assert [each["files"] for each in data["many"]] == [2, 2]
