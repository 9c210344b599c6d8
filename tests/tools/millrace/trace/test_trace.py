"""millrace trace: what it reads, and its page in a browser. tests/tools/check_perfetto.py has a real trace."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from common.tree import ROOT
from millrace.common.failure import Failure
from millrace.trace.command import page
from millrace.trace.read import document


def message(*fields: tuple[int, int | bytes]) -> bytes:
    """In the encoding of protocol buffers; flows are fixed64."""

    def varint(value: int) -> bytes:
        return bytes([value & 0x7F | 0x80]) + varint(value >> 7) if value > 0x7F else bytes([value])

    def one(number: int, value: int | bytes) -> bytes:
        if isinstance(value, bytes):
            return varint(number << 3 | 2) + varint(len(value)) + value
        if number in (47, 48):
            return varint(number << 3 | 1) + value.to_bytes(8, "little")
        return varint(number << 3) + varint(value)

    return b"".join(one(*field) for field in fields)


def event(time: int, kind: int, name: int = 0, *more: tuple[int, int | bytes]) -> bytes:
    return message((1, message((8, time), (10, 1), (11, message((9, kind), (10, name), (11, 7), *more)))))


NAMES = [b"serve", b"</script><b>timer", b"lookUp"]
INTERNED = b"".join(message((2, message((1, number), (2, name)))) for number, name in enumerate(NAMES, 1))
PRIORITY = (4, message((10, b"priority"), (4, 7000)))
TRACE = (
    message((1, message((10, 1), (12, INTERNED))))
    + message((1, message((10, 1), (60, message((1, 3), (3, message((1, 4711), (6, b"server"))))))))
    + message((1, message((10, 1), (60, message((1, 7), (2, b"main"), (5, 3))))))
    + event(900, 2)  # its begin is lost
    + event(1000, 3, 2, (47, 12), (22, b"wake"))
    + event(1500, 1, 1, (48, 12), PRIORITY)
    + event(1600, 1, 3)
    + event(1700, 2)
    + event(2500, 2)
    + event(3500, 1, 1)
    + event(4000, 3, 3)
)


def test_steps_marks_and_arrows_are_read() -> None:
    found = document(TRACE)
    assert found["tracks"] == ["server: main"]
    texts = found["texts"]
    rows = [(at, length, texts[name], texts[detail], depth) for _, at, length, name, detail, depth in found["rows"]]
    assert rows == [
        (0, -1, "</script><b>timer", "wake", 0),
        (500, 1000, "serve", "priority 7000", 0),
        (600, 100, "lookUp", "", 1),
        (2500, 500, "serve", "", 0),  # without an end
        (3000, -1, "lookUp", "", 1),
    ]
    assert found["arrows"] == [[0, 1]]


@pytest.mark.parametrize("data", [b"", b"no trace at all", TRACE[:-3], b"\xff" * 99, message((1, 5))])
def test_what_is_no_trace(data: bytes) -> None:
    with pytest.raises(Failure, match="x is no whole trace"):
        page("x", data)


def test_the_command_writes_the_page_beside_the_trace(tmp_path: Path) -> None:
    (tmp_path / "a.pftrace").write_bytes(TRACE)
    command = [sys.executable, ROOT / "tools" / "millrace", "trace", "a.pftrace"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "page: a.html\n"
    assert "<title>a.pftrace</title>" in (tmp_path / "a.html").read_text(encoding="utf-8")


PROBE = """<script>
const errors = [];
addEventListener("error", (event) => errors.push(event.message));
addEventListener("load", () => setTimeout(() => {
    const said = [];
    const point = (at, row) => [x(at), TOP + row * ROW + ROW / 2];
    choose(stepAt(...point(700, 0)));
    said.push($("about").textContent);
    choose(stepAt(...point(650, 1)));
    said.push($("about").textContent);
    $("find").value = "SERVE";
    $("find").oninput();
    $("find").onkeydown({ key: "Enter" });
    $("find").onkeydown({ key: "Enter" });
    said.push($("found").textContent, $("about").textContent);
    said.push(String(start < 2500 && start + span > 3000));
    $("by").value = "actors";
    arrange();
    said.push(lanes.map((lane) => lane.title).join(","));
    const before = x(2600);
    view.onwheel({ preventDefault() {}, deltaY: -500, deltaX: 0, offsetX: before, shiftKey: false });
    said.push(String(Math.abs(x(2600) - before) < 1 && span < 2500));
    draw();
    document.body.dataset.probe = JSON.stringify([errors, said]);
}, 50));
</script>"""


def test_the_page_in_a_browser(chromium: str, tmp_path: Path) -> None:
    text = page("a trace", TRACE)
    assert "http:" not in text and "https:" not in text
    file = tmp_path / "page.html"
    file.write_text(text.replace('<meta charset="utf-8">', f'<meta charset="utf-8">{PROBE}', 1), encoding="utf-8")
    command = [chromium, "--no-sandbox", "--disable-gpu", "--window-size=1000,600", "--virtual-time-budget=3000"]
    command += [f"--user-data-dir={tmp_path}/profile", "--dump-dom", file.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    shown = re.search(r'data-probe="([^"]*)"', done.stdout)
    assert shown, done.stdout[-2000:]
    errors, said = json.loads(unescape(shown[1]))
    assert errors == []
    serve, look_up, place, second, in_view, lanes, zoomed = said
    assert serve.splitlines()[:2] == [
        "serve 1 µs from 500 ns (priority 7000), in server: main; 2 of this name take 1.5 µs",
        "made ready by: </script><b>timer 0 ns (wake)",
    ]
    assert look_up.startswith("lookUp 100 ns from 600 ns")
    assert (place, in_view, zoomed) == ("2 of 2", "true", "true")
    assert second.startswith("serve 500 ns from 2.5 µs")
    assert lanes == "serve,lookUp,</script><b>timer"
