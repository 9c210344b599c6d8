"""Rendered messages, against golden files: UPDATE_GOLDEN=1 writes them anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from front import OF_COMPILER, analysed

from actorc.diagnostics import Diagnostics, Edit, Fault, Note, apply_edits
from actorc.report.report import as_text, render
from actorc.source import Source
from actorc.syntax import Span

GOLDEN = sorted((Path(__file__).parent.parent / "golden").glob("*.actor.cpp"))

golden = pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.name.split(".")[0])


def read(path: Path) -> str:
    return path.read_bytes().decode("utf-8", errors="surrogateescape")


@golden
def test_golden_messages(path: Path) -> None:
    _, source, diagnostics = analysed(read(path))
    rendered = as_text(diagnostics, source).replace(source.path, path.name)
    expected = path.with_name(path.name.replace(".actor.cpp", ".expected"))
    if os.environ.get("UPDATE_GOLDEN"):
        expected.write_text(rendered, encoding="utf-8")
    assert rendered == expected.read_text(encoding="utf-8")


def test_every_code_is_in_a_golden_file() -> None:
    text = "".join(path.with_name(path.name.replace(".actor.cpp", ".expected")).read_text() for path in GOLDEN)
    assert [fault.code for fault in OF_COMPILER if f"[{fault.code}]" not in text] == []


@golden
def test_every_message_says_what_to_do(path: Path) -> None:
    assert [found.message for found in analysed(read(path))[2] if found.hint is None and not found.fixes] == []


@golden
def test_each_fix_removes_what_it_is_for(path: Path) -> None:
    text = read(path)
    for found in analysed(text)[2]:
        for fix in found.fixes:
            before, after = (count(found.code, one) for one in (text, fix.apply(text)))
            assert after == before - 1, f"{found.code}: {fix.message}\n{fix.apply(text)}"


@golden
def test_all_fixes_together_leave_nothing_that_can_be_fixed(path: Path) -> None:
    """Applied as an editor would: the first of the alternatives each, unless it overlaps with one before it."""
    text = read(path)
    edits: list[Edit] = []
    for found in analysed(text)[2]:
        wanted = found.fixes[0].edits if found.fixes else ()
        if not any(overlap(new.span, old.span) for new in wanted for old in edits):
            edits += wanted
    fixed = analysed(apply_edits(text, edits))[2]
    assert [found.code for found in fixed if found.fixes] == []


def overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def count(code: str, text: str) -> int:
    return sum(found.code == code for found in analysed(text)[2])


def test_codes_are_unique_and_titled() -> None:
    codes = [fault.code for fault in Fault]
    assert len(set(codes)) == len(codes)
    assert all(fault.title and not fault.title.endswith(".") for fault in Fault)


@pytest.mark.parametrize(
    ("text", "start", "end", "lines"),
    [
        ("abc def", 4, 7, ["f:1:5: error: m [A0501]", "    abc def", "        ^~~"]),
        ("abc\n\tx\ty\n", 7, 8, ["f:2:4: error: m [A0501]", "    \tx\ty", "    \t \t^"]),
        ("abc\ndef", 1, 6, ["f:1:2: error: m [A0501]", "    abc", "     ^~"]),
        ("abc\r\n", 3, 3, ["f:1:4: error: m [A0501]", "    abc", "       ^"]),
        ("abc", 3, 3, ["f:1:4: error: m [A0501]", "    abc", "       ^"]),
        ("", 0, 0, ["f:1:1: error: m [A0501]", "    ", "    ^"]),
        ("\ufeffab", 2, 3, ["f:1:2: error: m [A0501]", "    ab", "     ^"]),
        ("a\x1b[\udce9\0z", 5, 6, ["f:1:6: error: m [A0501]", "    a?[??z", "         ^"]),
    ],
)
def test_places(text: str, start: int, end: int, lines: list[str]) -> None:
    diagnostics = Diagnostics()
    diagnostics.error(Fault.OUTSIDE_LOOP, "m", Span(start, end))
    assert as_text(diagnostics, Source("f", text)).splitlines() == lines


def test_a_very_long_line_is_shown_around_the_place() -> None:
    diagnostics = Diagnostics()
    diagnostics.error(Fault.OUTSIDE_LOOP, "m", Span(5000, 5003))
    _, line, marks = as_text(diagnostics, Source("f", "x" * 5000 + "bad" + "y" * 5000)).splitlines()
    start = marks.index("^")
    assert line[start : start + 3] == "bad"
    assert marks[start:] == "^~~"
    assert len(line) < 200


def test_hint_and_notes_follow_the_message() -> None:
    source = Source("f", "a b")
    diagnostics = Diagnostics()
    diagnostics.error(Fault.OUTSIDE_LOOP, "m", Span(2, 3), hint="write `c`", notes=(Note("n", Span(0, 1)),))
    [found] = diagnostics
    assert render(found, source).splitlines()[3:] == ["hint: write `c`", "f:1:1: note: n", "    a b", "    ^"]


def test_source_that_a_message_quotes_is_put_in_one_line() -> None:
    diagnostics = Diagnostics()
    diagnostics.error(Fault.OUTSIDE_LOOP, "`a\n\tb`", Span(0, 1), hint="write `c,\n  d`")
    lines = as_text(diagnostics, Source("f", "x")).splitlines()
    assert (lines[0], lines[3]) == ("f:1:1: error: `a b` [A0501]", "hint: write `c, d`")


def test_errors_come_in_source_order_and_once_each() -> None:
    diagnostics = Diagnostics()
    diagnostics.error(Fault.OUTSIDE_LOOP, "second", Span(5, 6))
    diagnostics.warning(Fault.NO_WAIT, "first", Span(1, 2))
    diagnostics.error(Fault.OUTSIDE_LOOP, "again", Span(5, 6))
    assert [found.message for found in diagnostics] == ["first", "second"]
    assert [found.message for found in diagnostics.errors] == ["second"]
    source = Source("f", "abcdefgh")
    assert "first" in as_text(diagnostics, source)
    assert "first" not in as_text(diagnostics, source, warnings=False)
