"""The reports for programs and for reviewers: JSON and HTML."""

from __future__ import annotations

import json
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from trees import KEYWORDS, make, migrate

from actorc_migrate.document import as_json
from actorc_migrate.page import as_html
from actorc_migrate.project import Project
from actorc_migrate.report import summary
from actorc_migrate.results import FrameSizes
from actorc_migrate.settings import Settings

SOURCE = (
    KEYWORDS
    + """\
ACTOR Future<Void> f(std::vector<int> n) {
    Lock guard(mutex); // < & >
    wait(delay(n));
    return Void();
}
int between;
ACTOR UNCANCELLABLE Future<Void> g() {
    wait(delay(1));
    return Void();
}
ACTOR Future<Void> left() {
    return Void();
}
"""
)
FILES = {
    "a.actor.cpp": SOURCE,
    "bad.actor.cpp": "ACTOR Future<Void> bad() { wait(; }\n",
    "b.cpp": '#include "a.actor.cpp"\nauto x = y.g;\nauto z = &g;\n',
    "d/moved.actor.h": "int x;\n",
    "CMakeLists.txt": "project(x)\n\nset(S ${X}.actor.cpp\n  d/moved.actor.g.h)\n",
}


def written(folder: Path, name: str) -> str:
    make(folder, FILES)
    assert migrate(".", "--report", name) == 1
    return (folder / name).read_text()


@pytest.fixture
def document(around: Path) -> Any:
    return json.loads(written(around, "out.json"))


def test_the_document_has_the_figures(document: Any) -> None:
    assert document["version"] == 1
    assert (document["target"], document["style"]) == ("flow", "exact")
    totals = document["totals"]
    assert totals["files"] == {"migrated": 1, "kept": 1, "rejected": 1, "unchanged": 2}
    assert totals["actors"] == {"migrated": 2, "left": 2}
    assert totals["constructs"] == {"wait": 2}
    assert totals["hazards"] == {"H2": 1, "H8": 1}
    assert totals["places"] == 2
    assert document["hazards"]["H2"] == "a plain local is destroyed at the next wait, in a coroutine with its block"
    assert document["frames"] == []
    assert document["failures"] == []


def test_the_document_has_every_file(document: Any) -> None:
    files = {file["path"]: file for file in document["files"]}
    assert sorted(files) == ["CMakeLists.txt", "a.actor.cpp", "b.cpp", "bad.actor.cpp", "d/moved.actor.h"]
    file = files["a.actor.cpp"]
    assert (file["newPath"], file["status"], file["changed"]) == ("a.actor.cpp", "kept", True)
    assert file["reason"] == "1 of its actors cannot be migrated"
    assert [(actor["name"], actor["left"]) for actor in file["actors"]] == [
        ("f", None),
        ("g", None),
        ("left", "its name begins with left"),
    ]
    (note,) = file["notes"]
    assert (note["code"], note["actor"], note["instead"]) == ("H2", "f", "a block around it")
    assert note["range"]["start"] == {"line": 3, "column": 10, "offset": SOURCE.index("guard")}
    assert files["bad.actor.cpp"]["status"] == "rejected"
    assert files["b.cpp"]["notes"][0]["code"] == "H8"
    assert [place["range"]["start"]["line"] for place in files["CMakeLists.txt"]["places"]] == [3, 4]


class _Parsed(HTMLParser):
    """The hunks of a page with their texts; and whatever a page must not have."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.hunks: list[dict[str, str]] = []
        self.links: list[str] = []
        self._is_text = True
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.links += [value for name, value in found.items() if name in ("src", "href")]
        self._is_text = tag != "script"
        if found.get("class") == "hunk":
            self.hunks.append({"codes": found["data-codes"], "key": found["data-key"], "text": ""})

    def handle_data(self, data: str) -> None:
        if self.hunks and self._is_text:
            self.hunks[-1]["text"] += data


def test_the_page_has_a_hunk_for_each_actor_and_place(around: Path) -> None:
    text = written(around, "out.html")
    page = _Parsed(text)
    assert page.links == []  # nothing comes from elsewhere
    assert [hunk["codes"] for hunk in page.hunks] == ["look", "H2", "", "left", "H8", "left"]
    by_codes = {hunk["codes"]: hunk["text"] for hunk in page.hunks}
    assert "Lock guard(mutex); // < & >" in by_codes["H2"]
    assert "`guard` is destroyed at the end of its block" in by_codes["H2"]
    assert "int between;" in by_codes[""]
    assert "its name begins with left" in page.hunks[3]["text"]
    assert "an error in line 1: this `(` is never closed [A0004]" in page.hunks[5]["text"]
    assert "auto z = &g;" in by_codes["H8"]
    marked = re.findall(r"<mark>(.*?)</mark>", text)
    assert "wait" in marked
    assert "co_await " in marked
    assert "guard" not in " ".join(marked)
    assert len({hunk["key"] for hunk in page.hunks}) == len(page.hunks)


def test_a_hunk_keeps_its_key_while_its_text_is_the_same(around: Path) -> None:
    before = {hunk["codes"]: hunk["key"] for hunk in _Parsed(written(around, "out.html")).hunks}
    (around / "a.actor.cpp").write_text(SOURCE.replace("int between;", "int between;\nint more;"))
    (around / "b.cpp").write_text('#include "a.actor.cpp"\nauto z = &g;\n')
    migrate(".", "--report=out.html")
    after = {hunk["codes"]: hunk["key"] for hunk in _Parsed((around / "out.html").read_text()).hunks}
    assert after["H2"] == before["H2"]
    assert after[""] != before[""]


def test_frame_sizes_are_shown_where_they_were_measured(around: Path) -> None:
    make(around, FILES)
    result = Project(["."], Settings(), lambda text: None).migrated()
    assert "Frames" not in as_html(result)
    assert "frames" not in summary(result)
    result.frames.append(FrameSizes("f", "clang 19", 120, 96))
    assert json.loads(as_json(result))["frames"] == [{"actor": "f", "compiler": "clang 19", "before": 120, "after": 96}]
    assert re.search(r"frames, in bytes:\n.*\n  f +clang 19 +120 +96\n", summary(result))
    assert re.search(r">f</td><td>clang 19</td><td class=\"number\">120</td><td class=\"number\">96<", as_html(result))


def test_a_report_that_cannot_be_written(around: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(around, {"a.actor.cpp": "int x;\n"})
    assert migrate("a.actor.cpp", "--report", "none/out.json") == 1
    assert "actorc: none/out.json: the folder does not exist" in capsys.readouterr().err


def test_nothing_is_written_of_which_there_can_be_no_report(around: Path) -> None:
    make(around, {"a.actor.cpp": "int x;\n"})
    assert migrate("a.actor.cpp", "--write", "--report", "none/out.json") == 1
    assert (around / "a.actor.cpp").exists()


def test_a_page_by_the_launcher(tmp_path: Path) -> None:
    """It starts Python without the packages that are installed."""
    make(tmp_path, {"a.actor.cpp": "int x;\n"})
    launcher = Path(__file__).parents[3] / "tools" / "actorc"
    line = [launcher, "migrate", ".", "--write", "--report", "out.html"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "a.actor.cpp" in (tmp_path / "out.html").read_text()
    assert (tmp_path / "a.cpp").exists()
