"""The site that tools/docs builds: nothing of a page is lost, and each link leads to something."""

from __future__ import annotations

import html
import posixpath
import re
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from docslib import site  # noqa: E402

FENCE = re.compile(r"^ *```(?=\w|$)", re.MULTILINE)
IN_ANGLES = re.compile(r"<[\w:]+[^<>|`\n]*>")
BACKSLASH = re.compile(r"\\[<_*\[\]]")
# What Python-Markdown and the theme write, and nothing of a page's own.
TAGS = re.compile(r"a|article|br|code|div|em|h[1-4]|hr|li|ol|p|path|pre|span|strong|svg|table|tbody|t[dhr]|thead|ul")


@dataclass
class Page(HTMLParser):
    path: Path
    parts: list[tuple[str, bool]] = field(default_factory=list)  # of the article's text, and whether it is code
    blocks: int = 0
    links: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    tags: set[str] = field(default_factory=set)
    inside: bool = False
    code: int = 0

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors |= {name for name in (given.get("id"), given.get("name") if tag == "a" else None) if name}
        self.links += [link for link in (given.get("href"), given.get("src")) if link]
        self.inside |= tag == "article"
        if self.inside:
            self.tags.add(tag)
            self.blocks += tag == "pre"
            self.code += tag == "code"

    def handle_endtag(self, tag: str) -> None:
        self.code -= self.inside and tag == "code"
        self.inside &= tag != "article"

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.parts.append((data, self.code > 0))

    @cached_property
    def text(self) -> str:
        return "".join(part for part, _ in self.parts)

    @cached_property
    def prose(self) -> str:
        return "".join(part for part, is_code in self.parts if not is_code)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Page]:
    """By their paths in the site."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, str(ROOT / "tools" / "docs.py"), "--output", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"site: {folder / 'index.html'}\n", "")
    return {path.relative_to(folder).as_posix(): Page(path) for path in sorted(folder.rglob("*.html"))}


def with_sources(pages: dict[str, Page]) -> list[tuple[str, Page, str]]:
    """Each page with the text that MkDocs made it of."""
    found = []
    for source in sorted(site.SOURCES.rglob("*.md")):
        path = source.relative_to(site.SOURCES).with_suffix(".html")
        name = (path.with_name("index.html") if source.name == "README.md" else path).as_posix()
        found.append((name, pages[name], source.read_text(encoding="utf-8")))
    return found


def test_there_is_a_page_for_each_page_and_header(pages: dict[str, Page]) -> None:
    assert "Millrace" in pages["index.html"].text
    assert "Semaphore" in pages["reference/flow/sync/semaphore.h.html"].text
    shown = pages["reference/flow/sync/semaphore.h.html"].path.read_text(encoding="utf-8")
    assert "<title>flow/sync/semaphore.h - Millrace</title>" in shown


def test_each_block_of_code_is_shown_as_one(pages: dict[str, Page]) -> None:
    assert [name for name, page in pages.items() if "```" in page.text] == []
    shown = [(name, page.blocks, len(FENCE.findall(text)) / 2) for name, page, text in with_sources(pages)]
    assert len(shown) > 300 and [each for each in shown if each[1] != each[2]] == []


def test_no_text_becomes_a_tag(pages: dict[str, Page]) -> None:
    tags = {(name, tag) for name, page in pages.items() for tag in page.tags if not TAGS.fullmatch(tag)}
    assert tags == set()
    lost = {
        (name, text)
        for name, page, source in with_sources(pages)
        for text in IN_ANGLES.findall(html.unescape(source))
        if text not in page.text
    }
    assert lost == set()


def test_no_escape_is_shown(pages: dict[str, Page]) -> None:
    assert [(name, found) for name, page in pages.items() if (found := BACKSLASH.findall(page.prose))] == []
    assert [name for name, page in pages.items() if "&lt;" in page.text] == []


def test_each_link_leads_to_something(pages: dict[str, Page]) -> None:
    folder = next(iter(pages.values())).path.parent
    assert folder.name.startswith("site")
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
    dead = set()
    for name, page in pages.items():
        for link in page.links:
            file, _, anchor = unquote(link).partition("#")
            if name == "404.html" or re.match(r"https?:|data:", file):  # 404.html has links from the root of a server
                continue
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), file)) if file else name
            is_there = target == "." or target in files
            if not is_there or (anchor and target in pages and anchor not in pages[target].anchors):
                dead.add((name, link))
    assert dead == set()


def test_a_link_that_leads_nowhere_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(site, "SOURCES", tmp_path / "sources")
    monkeypatch.setattr(site, "NAVIGATION", [("Start", [("Millrace", "README.md")])])
    monkeypatch.setattr(site, "public_headers", list)
    monkeypatch.setattr(site, "diagnostics", list)
    monkeypatch.setattr(site, "site_page", lambda text, *_: "[page](none.md) [folder](none) [place](#none)")
    assert site.build_site(tmp_path / "site") == 1
    printed = capsys.readouterr().err
    assert [line for line in ("'none.md'", "'none'", "'#none'") if line not in printed] == []


def test_links_to_headers_lead_to_their_pages(pages: dict[str, Page]) -> None:
    assert "../../reference/flow/core/frame.h.html" in pages["flow/docs/internals.html"].links
    assert "../../reference/net/console.h.html" in pages["flow/docs/writing_a_service.html"].links


def test_diagnostics_have_titles(pages: dict[str, Page]) -> None:
    assert "return type is not Future<T> or void" in pages["reference/diagnostics.html"].text
    shown = pages["actorc/actorc/report/explanations/A0103.html"].path.read_text(encoding="utf-8")
    assert "A0001: byte that is not UTF-8" in shown
