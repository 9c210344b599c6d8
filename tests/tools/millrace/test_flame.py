"""Flame graphs: what is shown, how wide, and in which colour."""

from __future__ import annotations

from typing import TypeVar

from millrace.flame.graph import Colour, Graph, difference_graph, flame_graph
from millrace.flame.stacks import Stacks

Value = TypeVar("Value")


def stacks(weights: dict[str, float], unit: str = "ns per item") -> Stacks:
    result = Stacks(unit)
    for stack, weight in weights.items():
        result.add(stack.split(";"), weight)
    return result


def by_name(graph: Graph, values: tuple[Value, ...]) -> dict[str, Value]:
    return dict(zip(graph.names, values, strict=True))


def test_a_stack_that_is_added_twice_has_both_weights() -> None:
    both = stacks({"a;b": 1})
    both.add(("a", "b"), 2)
    assert list(both) == [(("a", "b"), 3)]


def test_frames_are_as_wide_as_what_they_spent() -> None:
    graph = flame_graph(stacks({"main;f": 60, "main;g": 30, "main": 10}))
    assert by_name(graph, graph.widths) == {"all": 100, "main": 100, "f": 60, "g": 30}


def test_a_frame_has_its_caller_before_it() -> None:
    graph = flame_graph(stacks({"main;f;h": 1, "main;g": 2}))
    callers = {name: graph.names[caller] for name, caller in by_name(graph, graph.callers).items() if caller >= 0}
    assert callers == {"main": "all", "f": "main", "g": "main", "h": "f"}
    assert all(caller < place for place, caller in enumerate(graph.callers))
    assert graph.levels == 4


def test_what_is_narrower_than_a_pixel_is_left_out() -> None:
    assert flame_graph(stacks({"f": 10_000, "g": 1})).names == ("all", "f")


def test_the_tip_has_share_amount_and_kind() -> None:
    graph = flame_graph(stacks({"main;f": 7.5, "main": 2.5}), kinds={"main": "user", "f": "allocate"})
    assert by_name(graph, graph.tips)["main"] == "main: 100.0%, 10 ns per item, itself 2.5 (user)"
    assert by_name(graph, graph.colours) == {"all": None, "main": 0, "f": 1}
    assert graph.legend == ((0, "user"), (1, "allocate"))


def test_kinds_have_the_same_colours_in_every_graph() -> None:
    graph = flame_graph(stacks({"f": 1}), kinds={"f": "free"}, order=["allocate", "free"])
    assert graph.colours == (None, 1)
    assert graph.legend == ((1, "free"),)


def test_a_difference_is_coloured_by_what_b_takes_more_or_less() -> None:
    a, b = stacks({"m;same": 5, "m;less": 5, "m;gone": 1}), stacks({"m;same": 5, "m;less": 3, "m;new": 8})
    graph = difference_graph(a, b, names=("ACTOR", "coroutine"))
    wanted: dict[str, Colour] = {"all": 0.625, "m": 0.625, "same": None, "less": -0.25, "gone": -0.125, "new": 1.0}
    assert by_name(graph, graph.colours) == wanted
    assert by_name(graph, graph.widths)["new"] == 8
    assert by_name(graph, graph.tips)["less"] == "less: -2 ns per item (5 -> 3; itself 5 -> 3)"


def test_nothing_differs_from_itself() -> None:
    same = stacks({"m;f": 5, "m": 1})
    assert set(difference_graph(same, same).colours) == {None}


def test_no_stack_at_all_is_a_graph_too() -> None:
    assert flame_graph(Stacks()).names == ("all",)
    assert difference_graph(Stacks(), Stacks()).names == ("all",)
