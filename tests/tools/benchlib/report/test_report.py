"""tools/bench report: the page and the pictures, what a failure leaves, and mistakes in the arguments."""

from __future__ import annotations

import io
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console

from benchlib.report import command, gather
from benchlib.report.assemble import assemble
from benchlib.report.environment import machine
from benchlib.report.gather import Measured, attempt
from common.build import BuildError
from millrace.bench.suite import RunError
from millrace.common.arguments import UsageError
from millrace.common.failure import Failure
from millrace.pages.model import Missing
from millrace.pages.page import render, script_data

MAX_PAGE = 5 << 20
SILENT = Console(file=io.StringIO())


class Links(HTMLParser):
    """What a page points at, and what can be pointed at."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src"):
                self.targets.append(value or "")
            if name == "id":
                self.ids.append(value or "")


@pytest.fixture(scope="module")
def html(measured: Measured) -> str:
    return render(assemble(measured))


def test_the_page_needs_nothing_else(html: str) -> None:
    assert len(html) < MAX_PAGE
    page = Links()
    page.feed(html)
    assert [target for target in page.targets if not target.startswith(("#", "data:"))] == []
    assert "@import" not in html
    assert re.search(r"url\((?!#)", html) is None


def test_each_link_leads_somewhere(html: str) -> None:
    page = Links()
    page.feed(html)
    inside = [target.removeprefix("#") for target in page.targets if target.startswith("#")]
    assert "times" in inside
    assert set(inside) <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))


def test_text_is_escaped(html: str) -> None:
    assert "A &amp; B" in html
    assert "&lt;not found&gt;" in html
    assert "<not found>" not in html
    assert script_data({"a": "</script>"}) == '{"a":"\\u003c/script>"}'


def test_problems_stand_at_the_top(html: str) -> None:
    assert html.index("The build with gcc failed: g++-12") < html.index('id="times"')


def test_a_page_without_charts_has_no_plotly() -> None:
    page = render(assemble(Measured("r", "now", {}, suite={"clang": Missing("No.")})))
    assert len(page) < 100_000
    assert "No." in page


def test_what_fails_is_missing_with_its_reason() -> None:
    def fail() -> None:
        raise RunError("first line\nsecond line")

    found = Measured("r", "now", {})
    missing = attempt("The suite with clang", fail, found)
    assert missing == Missing("The suite with clang failed.", "first line\nsecond line")
    assert found.problems == ["The suite with clang failed: first line"]


def test_of_a_build_that_fails_the_first_error_is_said() -> None:
    def fail() -> None:
        raise BuildError("abc does not build:\nflow.h:1: error: no\nmore")

    found = Measured("r", "now", {})
    attempt("Counting", fail, found)
    assert found.problems == ["Counting failed: abc does not build: flow.h:1: error: no"]


def test_a_failing_build_leaves_a_page_and_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail(*_: object) -> None:
        raise BuildError("flow.h:1: error: no")

    monkeypatch.setattr(gather, "build", fail)
    out = Console(file=io.StringIO(), width=200)
    file = tmp_path / "report.html"
    assert command.main(["--out", str(file), "--quick"], SILENT, out) == 1
    assert "flow.h:1: error: no" in file.read_text()
    printed = out.file.getvalue()  # type: ignore[attr-defined]
    assert "error: The build with clang failed: flow.h:1: error: no" in printed
    assert f"page: {file}" in printed


def test_mistakes_are_found_before_the_build(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for arguments, message in {
        ("--frobnicate",): "tools/bench report --help",
        ("--compiler", "msvc"): "invalid choice",
        ("--out", str(tmp_path / "nowhere" / "x.html")): "cannot write .*nowhere",
        ("--out", str(tmp_path / "x.html"), "--png", str(tmp_path / "file" / "png")): "cannot make the folder",
    }.items():
        with pytest.raises(UsageError, match=message):
            command.main(arguments, SILENT, SILENT)


def test_that_pictures_need_a_browser_is_said_before_the_build(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Failure, match="tools/setup tests"):
        command.main(["--out", str(tmp_path / "x.html"), "--png", str(tmp_path)], SILENT, SILENT)


def test_the_machine_is_described_by_its_kernel(tmp_path: Path) -> None:
    texts = {
        "proc/cpuinfo": "model name\t: Some Processor\nflags\t: fpu hypervisor sse\n",
        "proc/meminfo": "MemTotal:        8388608 kB\n",
        "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
        "etc/os-release": 'PRETTY_NAME="Some Linux"\n',
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    facts = machine(tmp_path)
    assert re.fullmatch(r"\d+, of a virtual machine", facts.pop("Cores"))
    facts.pop("Kernel")
    assert facts == {
        "Processor": "Some Processor",
        "Governor": "performance",
        "Memory": "8.0 GiB",
        "Huge pages": "madvise",
        "System": "Some Linux",
    }


def test_a_machine_that_tells_nothing_is_described_all_the_same(tmp_path: Path) -> None:
    facts = machine(tmp_path)
    assert facts["Governor"] == "not shown by this kernel"
    assert facts["Memory"] == "unknown"
