"""Drawings of frames: well-formed, every byte in its place, readable in both colour schemes."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from actorc_frames.layout import COROUTINE, KINDS, STATE_MACHINE, Layout, Member, filled
from benchlib.frames.drawing import BYTE, COLOURS, layout_svg

SVG = "{http://www.w3.org/2000/svg}"
MEMBERS = [
    Member("cell", 0, 32, "cell"),
    Member("resume", 32, 8, "header"),
    Member("a < b & c", 40, 4, "parameter", "Map<int, int>"),
    Member("table", 48, 20, "variable"),
]


def layout(style: str, compiler: str, size: int = 72) -> Layout:
    return Layout("f", "f.cpp", 3, style, compiler, size, filled(MEMBERS, size))


def boxes(svg: str, kind: str) -> list[ElementTree.Element]:
    return [each for each in ElementTree.fromstring(svg).iter(f"{SVG}rect") if f"fl-{kind} " in each.get("class", "")]


def test_a_drawing_is_well_formed_and_needs_nothing_else() -> None:
    svg = layout_svg([layout(STATE_MACHINE, "clang++-19"), layout(COROUTINE, "g++-12", 88)], "NET2 <64>")
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    texts = [each.text or "" for each in root.iter(f"{SVG}text")]
    assert "NET2 <64>" in texts
    assert "ACTOR, clang++-19" in texts
    assert "coroutine, g++-12" in texts
    assert "72 bytes, block 80, waste 16" in texts
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")
    assert "<script" not in svg
    assert "prefers-color-scheme:dark" in svg


@pytest.mark.parametrize("row", [8, 16])
def test_every_byte_is_drawn_once(row: int) -> None:
    found = layout(STATE_MACHINE, "clang++-19")
    svg = layout_svg([found], row=row)
    kinds = {member.kind for member in found.members}
    widths = [float(each.get("width", "0")) for kind in kinds for each in boxes(svg, kind)]
    drawn = sum(width for width in widths if width != 14)  # of that width are those of the legend
    assert drawn == found.block * BYTE
    table = [each for each in boxes(svg, "variable") if each.get("width") != "14"]
    assert len(table) == {8: 3, 16: 2}[row]


def test_a_row_has_8_or_16_bytes() -> None:
    with pytest.raises(ValueError, match="8 or 16"):
        layout_svg([layout(STATE_MACHINE, "clang++-19")], row=10)


def test_every_kind_has_a_colour_for_both_schemes() -> None:
    assert set(COLOURS) == set(KINDS)
    assert all(light != dark for light, dark in COLOURS.values())


def test_nothing_to_draw_is_an_empty_drawing() -> None:
    ElementTree.fromstring(layout_svg([], "nothing"))
