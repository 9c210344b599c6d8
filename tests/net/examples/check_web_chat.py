"""Tests the chat server for browsers, with two clients and a browser: check_web_chat.py PROGRAM PAGE."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

from server import running
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

PROGRAM, PAGE = sys.argv[1:]
BROWSER = "chromium-headless-shell"

# Says something in the page's own form, and then what the page shows.
SAY = """
<script>
    const say = (text) => {
        input.value = text;
        document.querySelector("form").requestSubmit();
    };
    socket.addEventListener("open", () => say("<b>h\\u00e4</b>"));
    socket.addEventListener("message", () => {
        const shown = [...document.querySelectorAll("#said li")].map((line) => line.textContent);
        if (shown.length === 2)
            say("shown " + JSON.stringify(shown));
    });
</script>
</html>"""


def check_talk(port: int) -> None:
    url = f"ws://127.0.0.1:{port}/chat"
    with connect(url) as one:
        own = f"127.0.0.1:{one.local_address[1]}"
        assert one.recv(timeout=20) == f"* {own} comes"
        with connect(url, origin=Origin(f"http://127.0.0.1:{port}")) as two:
            name = f"127.0.0.1:{two.local_address[1]}"
            assert one.recv(timeout=20) == f"* {name} comes"
            two.send("hällo")
            assert one.recv(timeout=20) == f"{name}: hällo"
        assert one.recv(timeout=20) == f"* {name} goes"
        try:
            with connect(url, origin=Origin("http://elsewhere.example")):
                raise AssertionError("the page of another site has come in")
        except InvalidStatus as refused:
            assert refused.response.status_code == 403
        one.send("x" * 1001)
        try:
            one.recv(timeout=20)
            raise AssertionError("the room has taken a message above its limit")
        except ConnectionClosed as closed:
            assert closed.rcvd and closed.rcvd.code == 1009


def check_browser(folder: Path) -> None:
    page = folder / "page.html"
    page.write_text(Path(PAGE).read_text().replace("</html>", SAY))
    with running(PROGRAM, "0", str(page)) as (_, port), connect(f"ws://127.0.0.1:{port}/chat") as guest:
        guest.recv(timeout=20)  # that it has come itself
        command = [BROWSER, "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-port=0"]
        command += [f"--user-data-dir={folder}/data", f"http://127.0.0.1:{port}/"]
        quiet = subprocess.DEVNULL
        browser = subprocess.Popen(command, stdout=quiet, stderr=quiet, start_new_session=True)
        try:
            comes = str(guest.recv(timeout=60))
            assert comes.endswith(" comes"), comes
            name = comes.split()[1]
            assert guest.recv(timeout=20) == f"{name}: <b>hä</b>"
            told = str(guest.recv(timeout=20))
            start = f"{name}: shown "
            assert told.startswith(start), told
            assert json.loads(told.removeprefix(start)) == [comes, f"{name}: <b>hä</b>"]
        finally:
            os.killpg(browser.pid, signal.SIGKILL)  # the command is a script, and the browser has many processes
            browser.wait(20)
        assert guest.recv(timeout=20) == f"* {name} goes"


def main() -> None:
    with running(PROGRAM, "0", PAGE) as (_, port):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=20) as answer:
            assert answer.read() == Path(PAGE).read_bytes()
        check_talk(port)
    if not shutil.which(BROWSER):
        print(f"{BROWSER} is not installed: the page was not opened")
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        check_browser(Path(folder))


main()
