"""The page of tools/bench report as a browser shows it: without network, wide and narrow, light and dark."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from benchlib.report import shots
from benchlib.report.assemble import assemble
from benchlib.report.gather import Measured
from millrace.common.failure import Failure
from millrace.pages.model import Chart, Drawing, Flame, Grid, Report, Section
from millrace.pages.page import render

HEIGHT = 9000  # the whole page at once
WIDTHS = {"desktop": 1280, "phone": 390}
SCHEMES = {"dark": 0, "light": 1}
INK = {"light": (0x1B, 0x1F, 0x24), "dark": (0xE4, 0xE8, 0xEC)}
PAPER = {"light": (0xFF, 0xFF, 0xFF), "dark": (0x14, 0x17, 0x1B)}
ACTOR = {"light": (0x1F, 0x66, 0xC9), "dark": (0x6A, 0xA8, 0xFF)}  # as in page.css

# Runs in the page: sorts a table, and writes down what it finds when all charts are drawn.
PROBE = """
<script>
const errors = [];
addEventListener("error", (event) => errors.push(event.message));
addEventListener("unhandledrejection", (event) => errors.push(String(event.reason)));
function rectangle(element) {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    return [left, top, right, bottom];
}
// Each frame of a flame graph by its name, before and after the search for one of them.
function flame(figure) {
    const slices = () => Object.fromEntries([...figure.querySelectorAll(".slice")].map((slice) => {
        const path = slice.querySelector("path.surface");
        return [slice.querySelector(".slicetext")?.textContent, [...rectangle(path), getComputedStyle(path).fill]];
    }));
    const before = slices();
    const input = figure.querySelector("input");
    input.value = "^run<b>$";
    input.dispatchEvent(new Event("input"));
    const after = slices();
    input.value = "(";
    input.dispatchEvent(new Event("input"));
    const complains = input.validationMessage !== "";
    input.value = "";
    input.dispatchEvent(new Event("input"));
    const click = (name) => {
        const found = [...figure.querySelectorAll(".slice")]
            .find((slice) => slice.querySelector(".slicetext")?.textContent === name);
        found.querySelector("path").dispatchEvent(new MouseEvent("click", { bubbles: true }));
        return slices();
    };
    const zoomed = click("allocate()");
    const level = figure.querySelector(".plot").data[0].level;
    return { before, after, zoomed, level, complains,
             legend: [...figure.querySelectorAll(".legend li")].map((item) => item.textContent) };
}
function probe() {
    const marks = (figure) => [...figure.querySelectorAll(".plot .trace path, .plot .point path")]
        .filter((path) => (path.getAttribute("d") ?? "").length > 5).length;
    const charts = [...document.querySelectorAll("figure.chart")].map((figure) => (
        { id: figure.id, marks: marks(figure), plot: rectangle(figure.querySelector(".plot")),
          label: figure.querySelector(".plot").getAttribute("aria-label") }));
    const wide = [...document.body.querySelectorAll("*")].filter((element) =>
        element.getBoundingClientRect().right > innerWidth + 0.5 && !element.parentElement.closest(".box"));
    const frames = [...document.querySelectorAll("table.frame")].map(rectangle);
    const flames = [...document.querySelectorAll("figure.flame")].map(flame);
    const headings = [...document.querySelectorAll("table.sortable th")];
    const heading = headings.find((th) => th.textContent.includes("ACTOR"));
    heading.querySelector("button").click();
    heading.querySelector("button").click();
    const rows = [...heading.closest("table").tBodies[0].rows];
    const found = { errors, charts, frames, flames, wide: wide.map((element) => element.outerHTML.slice(0, 200)),
                    page: document.documentElement.scrollWidth, width: innerWidth,
                    sorted: rows.map((row) => row.cells[heading.cellIndex].textContent),
                    direction: heading.getAttribute("aria-sort") };
    const pre = document.createElement("pre");
    pre.id = "probe";
    pre.hidden = true;
    pre.textContent = JSON.stringify(found);
    document.body.append(pre);
}
const waiting = setInterval(() => {
    if (document.documentElement.dataset.drawn === undefined) return;
    clearInterval(waiting);
    probe();
}, 50);
</script>
"""


@dataclass(slots=True)
class Browser:
    chromium: str
    folder: Path
    page: Path
    probes: dict[str, dict[str, Any]] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)  # on the console, in the last run

    def run(self, width: str, scheme: str, *options: str) -> str:
        command = [
            self.chromium,
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--virtual-time-budget=20000",
            f"--user-data-dir={self.folder / 'profile'}",
            f"--window-size={WIDTHS[width]},{HEIGHT}",
            f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}",
            "--enable-logging=stderr",
            *options,
            self.page.as_uri(),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        self.said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        return done.stdout

    def probe(self, width: str) -> dict[str, Any]:
        """What PROBE found. Light and dark differ in colours only."""
        if width not in self.probes:
            text = self.run(width, "light", "--dump-dom")
            assert self.said == []
            found = re.search(r'<pre id="probe" hidden="">(.*?)</pre>', text, re.DOTALL)
            assert found, "the charts were never drawn"
            self.probes[width] = json.loads(unescape(found[1]))
        return self.probes[width]

    def screenshot(self, width: str, scheme: str) -> Image.Image:
        file = self.folder / f"{width}-{scheme}.png"
        self.run(width, scheme, f"--screenshot={file}")
        assert self.said == []
        return Image.open(file).convert("RGB")


@pytest.fixture(scope="module")
def report(measured: Measured) -> Report:
    return assemble(measured)


@pytest.fixture(scope="module")
def browser(chromium: str, report: Report, tmp_path_factory: pytest.TempPathFactory) -> Browser:
    folder = tmp_path_factory.mktemp("browser")
    page = folder / "report.html"
    page.write_text(render(report).replace("<head>", "<head>" + PROBE, 1), encoding="utf-8")
    return Browser(chromium, folder, page)


def share(image: Image.Image, colour: tuple[int, int, int]) -> float:
    """The share of the pixels that have this colour, or nearly so."""
    counts: Any = image.getcolors(image.width * image.height)
    near = [count for count, other in counts if max(abs(a - b) for a, b in zip(other, colour, strict=True)) <= 6]
    return float(sum(near) / (image.width * image.height))


@pytest.mark.parametrize("width", WIDTHS)
def test_each_chart_is_drawn_and_nothing_is_too_wide(browser: Browser, report: Report, width: str) -> None:
    found = browser.probe(width)
    assert found["errors"] == []
    assert found["width"] == WIDTHS[width]
    points = {chart.id: sum(len(line.points) for line in chart.lines) for chart in report.charts()}
    assert {chart["id"] for chart in found["charts"]} == points.keys()
    assert [chart for chart in found["charts"] if chart["marks"] < points[chart["id"]]] == []
    assert all(chart["label"] for chart in found["charts"])
    assert found["wide"] == []
    assert found["page"] <= WIDTHS[width]


def test_halves_of_a_drawing_stand_side_by_side_or_one_below_the_other(browser: Browser) -> None:
    """Whatever there is space for; either half can be seen without scrolling sideways."""
    for width, is_below in (("desktop", False), ("phone", True)):
        (_, top, right, bottom), second = browser.probe(width)["frames"]
        assert second[1] >= bottom if is_below else (second[1], second[0] >= right) == (top, True)
        assert max(right, second[2]) <= WIDTHS[width]


def test_in_a_flame_graph_callees_stand_on_callers(browser: Browser) -> None:
    for flame in browser.probe("desktop")["flames"]:
        frames = flame["before"]
        callee, caller = frames["allocate()"], frames["run<b>"]
        assert callee[3] <= caller[1] + 2, "its lower edge is the caller's upper one"
        assert caller[0] - 1 <= callee[0] <= callee[2] <= caller[2] + 1
    actor = browser.probe("desktop")["flames"][0]["before"]
    widths = {name: right - left for name, (left, _, right, _, _) in actor.items()}
    assert widths["resume path()"] == pytest.approx(2 * widths["allocate()"], rel=0.05)


def test_a_click_looks_into_a_frame(browser: Browser) -> None:
    flame = browser.probe("desktop")["flames"][0]
    left, _, right, _, _ = flame["before"]["all"]
    zoomed = flame["zoomed"]["allocate()"]
    assert zoomed[2] - zoomed[0] == pytest.approx(right - left, rel=0.01)
    assert "resume path()" not in flame["zoomed"]
    assert flame["level"] == "3"


def test_colours_of_a_flame_graph_are_causes_and_the_search_marks_frames(browser: Browser) -> None:
    actor, coroutine, difference = browser.probe("desktop")["flames"]
    assert actor["legend"] == ["allocate", "resume path"]
    assert difference["legend"] == ["coroutine takes more", "coroutine takes less than ACTOR"]
    colour = {name: frame[4] for name, frame in actor["before"].items()}
    assert colour["allocate()"] != colour["resume path()"]
    assert colour["allocate()"] == coroutine["before"]["allocate()"][4]
    for flame in (actor, difference):
        changed = [name for name, frame in flame["after"].items() if frame[4] != flame["before"][name][4]]
        assert changed == ["run<b>"]
        assert flame["complains"]


@pytest.mark.parametrize("section", ["flames", "charts", "plotly"])
def test_sections_of_any_name_have_their_graphs(browser: Browser, report: Report, section: str) -> None:
    page = browser.folder / f"{section}.html"
    page.write_text(render(Report("", "", [], [Section(section, "", "", list(report.flames()))])), encoding="utf-8")
    other = Browser(browser.chromium, browser.folder, page)
    assert 'data-drawn="3"' in other.run("desktop", "light", "--dump-dom")
    assert other.said == []


def test_parts_are_pictures(report: Report, tmp_path: Path) -> None:
    wanted = [part for part in report.parts() if isinstance(part, Chart | Drawing | Flame | Grid)]
    names = ("frame-", "frames-table", "flame-NET2-4096-clang-d", "growth-NET2")
    few = {part.id: part for part in wanted if part.id.startswith(names)}
    one = Report("", "", [], [Section("s", "", "", list(few.values()))])
    files = shots.write_shots(one, tmp_path, shots.browser())
    assert [file.stem for file in files] == list(few)
    assert len(files) == len(names)
    for file in files:
        image = Image.open(file).convert("RGB")
        assert 100 < image.height < 2000
        assert 200 < image.width <= 1240
        assert share(image, INK["light"]) > 0.0005


def test_a_browser_that_draws_nothing_is_a_failure(report: Report, tmp_path: Path) -> None:
    with pytest.raises(Failure, match="has drawn no picture"):
        shots.write_shots(report, tmp_path, "true")


def test_a_click_on_a_heading_sorts(browser: Browser) -> None:
    found = browser.probe("desktop")
    assert found["direction"] == "descending"
    times = [float(text) for text in found["sorted"]]
    assert len(times) == 6
    assert times == sorted(times, reverse=True)


def test_a_browser_that_cannot_unpack_the_charts_shows_their_figures(browser: Browser) -> None:
    page = browser.folder / "old.html"
    old = "<head><script>delete window.DecompressionStream</script>"
    page.write_text(browser.page.read_text(encoding="utf-8").replace("<head>", old, 1), encoding="utf-8")
    text = Browser(browser.chromium, browser.folder, page).run("phone", "light", "--dump-dom")
    assert "No chart: DecompressionStream is not defined. Its figures follow." in text
    assert '<details open="">' in text


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_screenshot_shows_the_charts(browser: Browser, width: str, scheme: str) -> None:
    image = browser.screenshot(width, scheme)
    assert image.size == (WIDTHS[width], HEIGHT)
    assert share(image, PAPER[scheme]) > 0.5
    assert share(image.crop((0, 0, image.width, 120)), INK[scheme]) > 0.001, "the title"
    # Plots stand in the same places in either scheme.
    for chart in browser.probe(width)["charts"]:
        left, top, right, bottom = (round(edge) for edge in chart["plot"])
        assert bottom < HEIGHT
        plot = image.crop((left, top, right, bottom))
        assert share(plot, ACTOR[scheme]) > 0.0005, f"{chart['id']} shows no ACTOR"
        assert share(plot, PAPER[scheme]) > 0.3, f"{chart['id']} has the wrong background"
