"""The reviewers' page in a browser: from a file, without network, wide and narrow."""

from __future__ import annotations

import json
import re
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from trees import KEYWORDS, make, migrate

LONG = "x" * 300
SOURCE = (
    KEYWORDS
    + f"""\
ACTOR Future<Void> f() {{
    Lock guard({LONG}, "{LONG}");
    wait(delay(1));
    return Void();
}}
ACTOR Future<Void> g() {{
    wait(delay(1));
    return Void();
}}
ACTOR Future<Void> left_{LONG}() {{
    return Void();
}}
"""
)

# Ticks the first hunk off, then shows the open ones, then those with H2, and writes down what is seen after each step.
# Then loads the page again in the same browser: what another one finds depends on when the first one writes its files.
PROBE = """
<script>
const errors = [];
addEventListener("error", (event) => errors.push(event.message));
addEventListener("load", () => {
    const seen = () => [...document.querySelectorAll(".hunk")].map((hunk) =>
        hunk.hidden ? "hidden" : hunk.classList.contains("done") ? "done" : "open");
    const set = (id, change) => {
        const element = document.getElementById(id);
        change(element);
        element.dispatchEvent(new Event("change"));
    };
    const before = sessionStorage.getItem("probe");
    const steps = before === null ? { first: seen() } : JSON.parse(before);
    if (before === null) {
        document.querySelector(".hunk input").click();
        steps.ticked = seen();
        set("open", (element) => { element.checked = true; });
        steps.open = seen();
        set("open", (element) => { element.checked = false; });
        set("code", (element) => { element.value = "H2"; });
        steps.hazard = seen();
        sessionStorage.setItem("probe", JSON.stringify(steps));
        location.reload();
        return;
    }
    steps.again = seen();
    const wide = [...document.querySelectorAll("main .file *")].filter((element) =>
        element.getBoundingClientRect().right > innerWidth + 0.5).map((element) => element.outerHTML.slice(0, 200));
    const pre = document.createElement("pre");
    pre.id = "probe";
    pre.textContent = JSON.stringify({ errors, steps, wide, page: document.documentElement.scrollWidth,
        width: innerWidth, count: document.getElementById("count").textContent });
    document.body.append(pre);
});
</script>
"""


def probe(chromium: str, page: Path, width: int) -> dict[str, Any]:
    command = [chromium, "--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND"]
    command += [f"--user-data-dir={page.parent}/browser", "--dump-dom", f"--window-size={width},900"]
    command += ["--virtual-time-budget=5000", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    match = re.search(r'<pre id="probe">(.*?)</pre>', done.stdout, re.DOTALL)
    assert match, done.stderr
    result: dict[str, Any] = json.loads(unescape(match[1]))
    return result


@pytest.mark.parametrize("width", [1280, 390])
def test_hunks_are_ticked_off_and_stay_so(chromium: str, width: int, around: Path) -> None:
    make(around, {"a.actor.cpp": SOURCE})
    assert migrate("a.actor.cpp", "--report=page.html") == 1
    page = around / "page.html"
    page.write_text(page.read_text().replace("<head>", "<head>" + PROBE, 1))
    found = probe(chromium, page, width)
    assert found["errors"] == []
    assert found["steps"] == {
        "first": ["open", "open", "open"],
        "ticked": ["done", "open", "open"],
        "open": ["hidden", "open", "open"],
        "hazard": ["done", "hidden", "hidden"],
        "again": ["done", "open", "open"],
    }
    assert found["count"] == "1 of 3 ticked off"
    assert found["wide"] == []
    assert found["page"] <= found["width"]
