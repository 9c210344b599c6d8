"""tools/bench frames: which frame belongs to which benchmark, and what is said of them."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from actorc_frames.layout import COROUTINE, KINDS, STATE_MACHINE, Layout, Member, filled
from benchlib.frames.command import document, heading, main, show, table
from benchlib.frames.gather import choose, disagreements, function_of, item_of, side_by_side, style_of, subject
from millrace.bench.results import Name
from millrace.common.arguments import UsageError
from millrace.pages import page
from millrace.pages.drawing import BYTES, kinds_of, rows_of_bytes

ACTORS = "/home/x/bench/actors/tasks.actor.cpp"
WRITTEN = "/home/x/bench/coroutines/tasks.cpp"


def layout(function: str, file: str = ACTORS, style: str = STATE_MACHINE, size: int = 88) -> Layout:
    members = [Member("cell", 0, 72, "cell"), Member("x", 72, 8, "parameter", "int*")]
    return Layout(function, file, 3, style, "clang", size, filled(members, size))


ACTOR = layout("state_machine::increment")
EMITTED = layout("coroutine::increment", style=COROUTINE)
BY_HAND = layout("increment", WRITTEN, COROUTINE, 104)
OTHER = layout("state_machine::driveDelay")
FRAMES = {(subject(each.file), function_of(each), style_of(each)): each for each in (ACTOR, EMITTED, BY_HAND, OTHER)}


def test_a_frame_is_known_by_file_function_and_style() -> None:
    assert set(FRAMES) == {
        ("tasks", "increment", "actor"),
        ("tasks", "increment", "actorc-coroutine"),
        ("tasks", "increment", "coroutine"),
        ("tasks", "driveDelay", "actor"),
    }


@pytest.mark.parametrize(
    ("benchmark", "function"),
    [("NET2", "increment"), ("DELAY", "driveDelay"), ("race_ready", "driveRaceReady"), ("chain", "passOn")],
)
def test_every_benchmark_has_an_item(benchmark: str, function: str) -> None:
    assert item_of(benchmark) == function


@pytest.mark.parametrize("pattern", ["increment", "NET2", "incr.*t"])
def test_a_filter_is_of_functions_and_of_benchmarks(pattern: str) -> None:
    assert {function for _, function, _ in choose(FRAMES, pattern)} == {"increment"}


def test_an_unknown_frame_gets_the_nearest_names() -> None:
    with pytest.raises(UsageError, match="there is no frame 'incremnt'; did you mean increment"):
        choose(FRAMES, "incremnt")


def test_what_a_program_counts_must_be_what_is_shown() -> None:
    assert disagreements(FRAMES, {Name("NET2", 1, "actor"): 96, Name("DELAY", 64, "actor"): 96}) == []
    assert disagreements(FRAMES, {Name("NET2", 1, "coroutine"): 96, Name("post", 1, "actor"): 96}) == [
        "NET2/coroutine: the program says 96, its debug information 112",
        "post/actor: the program says 96, its debug information nothing",
    ]


def test_styles_stand_side_by_side() -> None:
    rows = side_by_side([FRAMES])
    assert list(rows) == ["tasks increment", "tasks driveDelay"]
    assert [heading(each) for each in rows["tasks increment"]] == [
        "ACTOR clang",
        "coroutine clang",
        "actorc-coroutine clang",
    ]


def test_the_table_has_a_line_for_each_frame() -> None:
    out = io.StringIO()
    Console(file=out, width=200).print(table(side_by_side([FRAMES]), plain=True))
    lines = out.getvalue().splitlines()
    line = next(each for each in lines if "coroutine clang" in each and "actorc" not in each)
    assert [cell.strip() for cell in line.strip("| ").split("|")][1:6] == ["coroutine clang", "104", "112", "32", "72"]


def test_of_a_few_functions_each_member_is_shown() -> None:
    out = io.StringIO()
    show(side_by_side([FRAMES]), Console(file=out, width=200))
    assert "coroutine clang: 104 bytes in a block of 112, waste 32" in out.getvalue()
    assert "parameter  x, int*" in out.getvalue()


def test_every_byte_of_a_drawing_is_drawn_once_and_each_member_named_once() -> None:
    members = [Member("cell", 0, 32, "cell"), Member("resume", 32, 8, "header"), Member("a", 40, 4, "parameter", "int")]
    members.append(Member("table", 48, 20, "variable"))
    found = Layout("f", "f.cpp", 3, STATE_MACHINE, "clang", 72, filled(members, 72))
    rows = rows_of_bytes(found)
    assert [sum(piece.count for piece in row) for row in rows] == [BYTES] * (found.block // BYTES)
    assert [[(piece.count, piece.kind, piece.text) for piece in row] for row in rows[4:9]] == [
        [(8, "header", "resume")],
        [(4, "parameter", "a"), (4, "padding", "padding")],
        [(8, "variable", "table")],
        [(8, "variable", "")],
        [(4, "variable", ""), (4, "padding", "padding")],
    ]
    assert rows[5][0].says == "a: 4 bytes at 40, int"
    assert list(kinds_of([found])) == ["cell", "header", "parameter", "variable", "padding", "rounding"]


def test_every_kind_has_a_colour() -> None:
    style = Path(page.__file__).with_name("templates") / "page.css"
    drawn = re.search(r"\.drawing \.cell .*?\n\n", style.read_text(encoding="utf-8"), re.DOTALL)
    assert drawn
    assert {kind for kind in KINDS if f".{kind}" in drawn[0]} == set(KINDS)


def test_the_document_has_style_and_sizes() -> None:
    frames = document(side_by_side([FRAMES]))["frames"]
    assert isinstance(frames, list)
    assert {(each["bench_style"], each["size"], each["block"]) for each in frames} == {
        ("actor", 88, 96),
        ("coroutine", 104, 112),
        ("actorc-coroutine", 88, 96),
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["("], "no regular expression"), (["--json", "/nowhere/x"], "cannot write"), (["--loop", "sim"], "--loop")],
)
def test_wrong_arguments(arguments: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        main(arguments, Console(file=io.StringIO()), Console(file=io.StringIO()))
