"""A flame graph as a browser runs it: zoom, search, keys, two graphs in one page."""

from __future__ import annotations

import json
import re
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from benchlib.flame.graph import difference_svg, flame_svg
from benchlib.flame.stacks import Stacks

WIDTH = 1000
# Plays a user of the first graph, and writes down after each step how wide the frames are that are seen.
PROBE = """
<script>
const errors = [];
addEventListener("error", (event) => errors.push(event.message));
addEventListener("load", () => {
    const [graph, other] = document.querySelectorAll("svg.flame-graph");
    const frame = (name) => graph.querySelector(`[data-name="${name}"]`);
    const width = graph.clientWidth;
    const widths = () => Object.fromEntries([...graph.querySelectorAll(".frame:not(.hidden)")].map((group) =>
        [group.dataset.name, Math.round(100 * group.querySelector("rect").width.baseVal.value / width)]));
    const press = (target, key) => target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    const found = { errors, steps: {} };
    const step = (name) => { found.steps[name] = widths(); };
    step("first");
    frame("f").dispatchEvent(new MouseEvent("click", { bubbles: true }));
    step("click");
    press(graph, "Escape");
    step("escape");
    frame("main").focus();
    press(frame("main"), "ArrowUp");
    press(document.activeElement, "ArrowRight");
    found.focused = document.activeElement.dataset.name;
    found.detail = graph.querySelector(".detail").textContent;
    press(document.activeElement, "Enter");
    step("enter");
    const input = graph.querySelector("input");
    input.value = "^f|h$";
    input.dispatchEvent(new Event("input"));
    found.marked = [...graph.querySelectorAll(".found")].map((group) => group.dataset.name);
    found.share = graph.querySelector("output").textContent;
    input.value = "(";
    input.dispatchEvent(new Event("input"));
    found.complaint = input.validationMessage !== "";
    graph.querySelector("button").click();
    step("reset");
    found.left = graph.querySelectorAll(".found").length;
    found.other = other.querySelectorAll(".hidden, .found").length;
    found.wide = document.documentElement.scrollWidth > innerWidth;
    const pre = document.createElement("pre");
    pre.id = "probe";
    pre.textContent = JSON.stringify(found);
    document.body.append(pre);
});
</script>
"""


@pytest.fixture(scope="module")
def found(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("flame")
    stacks = Stacks("ns per item")
    for stack, weight in {"main;f": 20, "main;f;h": 20, "main;g": 40, "main": 20}.items():
        stacks.add(stack.split(";"), weight)
    graphs = flame_svg(stacks, "NET2") + difference_svg(stacks, stacks, "the same")
    (folder / "page.html").write_text(f"<!doctype html><body>{PROBE}{graphs}</body>")
    return probe(chromium, folder / "page.html")


def probe(chromium: str, page: Path) -> dict[str, Any]:
    command = [chromium, "--no-sandbox", f"--user-data-dir={page.parent}/browser", "--dump-dom"]
    command += [f"--window-size={WIDTH},800", "--virtual-time-budget=5000", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    match = re.search(r'<pre id="probe">(.*?)</pre>', done.stdout, re.DOTALL)
    assert match, done.stderr
    result: dict[str, Any] = json.loads(unescape(match[1]))
    return result


def test_nothing_fails(found: dict[str, Any]) -> None:
    assert found["errors"] == []


def test_it_is_as_wide_as_the_page(found: dict[str, Any]) -> None:
    assert not found["wide"]
    assert found["steps"]["first"] == {"all": 100, "main": 100, "f": 40, "h": 20, "g": 40}


def test_a_click_makes_a_frame_as_wide_as_the_graph(found: dict[str, Any]) -> None:
    assert found["steps"]["click"] == {"all": 100, "main": 100, "f": 100, "h": 50}


def test_escape_and_reset_show_all_again(found: dict[str, Any]) -> None:
    assert found["steps"]["escape"] == found["steps"]["first"]
    assert found["steps"]["reset"] == found["steps"]["first"]
    assert found["left"] == 0


def test_keys_walk_and_zoom(found: dict[str, Any]) -> None:
    assert found["focused"] == "g"
    assert found["detail"] == "g: 40.0%, 40 ns per item, itself 40"
    assert found["steps"]["enter"] == {"all": 100, "main": 100, "g": 100}


def test_the_search_marks_and_counts_what_stands_on_each_other_once(found: dict[str, Any]) -> None:
    assert found["marked"] == ["f", "h"]
    assert found["share"] == "40.0 %"
    assert found["complaint"]


def test_graphs_in_one_page_do_not_meddle(found: dict[str, Any]) -> None:
    assert found["other"] == 0
