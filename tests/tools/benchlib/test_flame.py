"""Flame graphs: what is drawn where, and that a browser would read it."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from benchlib.flame.graph import WIDTH, difference_svg, flame_svg, shortened
from benchlib.flame.stacks import Stacks
from benchlib.flame.tree import boxes, tree

SVG = "{http://www.w3.org/2000/svg}"


def stacks(weights: dict[str, float], unit: str = "ns per item") -> Stacks:
    result = Stacks(unit)
    for stack, weight in weights.items():
        result.add(stack.split(";"), weight)
    return result


def frames(svg: str) -> dict[str, ElementTree.Element]:
    root = ElementTree.fromstring(svg)
    return {group.get("data-name", ""): group for group in root.iter(f"{SVG}g") if group.get("class") == "frame"}


def rect(group: ElementTree.Element) -> ElementTree.Element:
    found = group.find(f"{SVG}rect")
    assert found is not None
    return found


def place(group: ElementTree.Element) -> tuple[float, float]:
    return float(rect(group).get("x", "")), float(rect(group).get("width", ""))


def test_a_stack_that_is_added_twice_has_both_weights() -> None:
    both = stacks({"a;b": 1})
    both.add(("a", "b"), 2)
    assert list(both) == [(("a", "b"), 3)]


def test_a_frame_knows_what_is_its_own() -> None:
    top = tree([stacks({"a": 1, "a;b": 3}), stacks({"a;c": 5})])
    a = top.children["a"]
    assert (a.own, a.whole) == ([1, 0], [4, 5])
    assert [(box.node.name, box.depth) for box in boxes(top, 0)] == [("all", 0), ("a", 1), ("b", 2), ("c", 2)]


def test_frames_are_as_wide_as_what_they_spent() -> None:
    found = frames(flame_svg(stacks({"main;f": 60, "main;g": 30, "main": 10}), "title"))
    assert place(found["all"]) == (0, WIDTH)
    assert place(found["main"]) == (0, WIDTH)
    assert place(found["f"]) == (0, 0.6 * WIDTH)
    assert place(found["g"]) == (0.6 * WIDTH, 0.3 * WIDTH)


def test_callees_stand_on_callers() -> None:
    found = frames(flame_svg(stacks({"main;f": 1}), "title"))
    heights = [float(rect(found[name]).get("y", "")) for name in ("all", "main", "f")]
    assert heights == sorted(heights, reverse=True)


def test_what_is_narrower_than_a_pixel_is_left_out() -> None:
    found = frames(flame_svg(stacks({"f": 10_000, "g": 1}), "title"))
    assert list(found) == ["all", "f"]


def test_names_are_escaped() -> None:
    found = frames(flame_svg(stacks({'std::vector<int> f(char const*) & "g"': 1}), "a < b & c"))
    assert 'std::vector<int> f(char const*) & "g"' in found


def test_the_tip_has_share_amount_and_kind() -> None:
    svg = flame_svg(stacks({"main;f": 7.5, "main": 2.5}), "title", kinds={"main": "user", "f": "allocate"})
    found = frames(svg)
    title = found["main"].find(f"{SVG}title")
    assert title is not None
    assert title.text == "main: 100.0%, 10 ns per item, itself 2.5 (user)"
    assert rect(found["main"]).get("class") == "k0"
    assert rect(found["f"]).get("class") == "k1"
    assert rect(found["all"]).get("class") == "none"
    legend = ElementTree.fromstring(svg).find(f"{SVG}g[@class='legend']")
    assert legend is not None
    assert [text.text for text in legend.iter(f"{SVG}text")] == ["user", "allocate"]


def test_kinds_have_the_same_colours_in_every_graph() -> None:
    svg = flame_svg(stacks({"f": 1}), "title", kinds={"f": "free"}, order=["allocate", "free"])
    assert rect(frames(svg)["f"]).get("class") == "k1"
    assert "allocate" not in svg


def test_a_difference_is_coloured_by_what_b_takes_more_or_less() -> None:
    a, b = stacks({"m;same": 5, "m;less": 5, "m;gone": 1}), stacks({"m;same": 5, "m;less": 3, "m;new": 8})
    found = frames(difference_svg(a, b, "title", names=("ACTOR", "coroutine")))
    colours = {name: rect(group).get("class") for name, group in found.items()}
    assert colours == {"all": "more3", "m": "more3", "same": "none", "less": "less1", "gone": "less1", "new": "more5"}
    assert place(found["new"])[1] == pytest.approx(WIDTH * 8 / 27, abs=0.01)
    title = found["less"].find(f"{SVG}title")
    assert title is not None
    assert title.text == "less: -2 ns per item (5 -> 3; itself 5 -> 3)"


def test_nothing_differs_from_itself() -> None:
    same = stacks({"m;f": 5, "m": 1})
    assert {rect(group).get("class") for group in frames(difference_svg(same, same, "title")).values()} == {"none"}


def test_no_stack_at_all_is_a_graph_too() -> None:
    assert list(frames(flame_svg(Stacks(), "title"))) == ["all"]
    assert list(frames(difference_svg(Stacks(), Stacks(), "title"))) == ["all"]


def test_nothing_comes_from_elsewhere() -> None:
    svg = flame_svg(stacks({"f": 1}), "title")
    assert (
        svg.replace('xmlns="http://www.w3.org/2000/svg"', "").replace("http://www.w3.org/1999/xhtml", "").count("http")
        == 0
    )


@pytest.mark.parametrize(("width", "label"), [(200, "increment"), (60, "increm…"), (20, "")])
def test_a_label_has_as_much_as_fits(width: float, label: str) -> None:
    assert shortened("increment", width) == label


def test_a_page_in_any_encoding_can_hold_it() -> None:
    svg = flame_svg(stacks({"f → g": 1, "a_long_name": 0.03}), "N → ∞")
    assert svg.isascii()
    assert "f → g" in frames(svg)
