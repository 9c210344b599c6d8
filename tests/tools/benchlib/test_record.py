"""tools/bench record: the page has what the commands print, and the one in the repository names rows that exist."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console

from benchlib.messages import command as messages
from benchlib.net import command as net
from benchlib.overview import command as overview
from benchlib.record import command
from benchlib.record.command import PAGE, SECTIONS, main
from benchlib.record.quoted import cells, tables, updated
from common.tree import ROOT
from millrace.bench.baseline import read
from millrace.common.console import plain


def pretend(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def run(words: Sequence[str], _: Console, out: Console) -> int:
        out.print(f"| {' '.join(words)} |")
        return code

    for module in (overview, net, messages):
        monkeypatch.setattr(module, "main", run)


@pytest.mark.parametrize("code", [0, 1])
def test_what_the_commands_print_is_written(code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, code)
    monkeypatch.setattr(command, "ROOT", tmp_path)
    monkeypatch.setattr(command, "PAGE", tmp_path / "results.md")
    monkeypatch.setattr(command, "QUOTING", tmp_path / "README.md")
    (tmp_path / "README.md").write_text("# A page\n", encoding="utf-8")
    assert main([], plain(), plain()) == code
    text = (tmp_path / "results.md").read_text(encoding="utf-8")
    for section in SECTIONS:
        assert f"\n## {section.title}\n\n`{section.shown}`\n\n| {' '.join(section.words)} |\n" in text
    assert re.search(r"^\| Processor \| .+ \|$", text, re.MULTILINE)
    assert re.search(r"^\| Revision \| .+ \|$", text, re.MULTILINE)


PAGE_NOW = """\
| | |
|---|---|
| Processor | one |

clang 19.1.7, sim loop, 2222
| benchmark |  N | ACTOR |
|-----------|----|-------|
| DELAY     |  1 |   5.0 |
| DELAY     | 64 |   5.1 |
| YIELD     | 64 |   1.0 |
"""
QUOTED = """\
A text, clang 18, sim loop, of another kind.
clang 18.0.0, sim loop, 1111
| benchmark | N | ACTOR |
|-----------|---|-------|
| DELAY | 64 | 9.9 |
| GONE  | 64 | 9.9 |

| another | table |
|---|---|
| DELAY | 64 |

| | |
|---|---|
| no | heading |
"""


def test_a_quoted_row_gets_the_figures_of_the_page() -> None:
    assert (
        updated(QUOTED, PAGE_NOW)
        == """\
A text, clang 18, sim loop, of another kind.
clang 19.1.7, sim loop, 2222
| benchmark |  N | ACTOR |
|-----------|----|-------|
| DELAY     | 64 |   5.1 |

| another | table |
|---|---|
| DELAY | 64 |

| | |
|---|---|
| no | heading |
"""
    )


def test_the_readme_quotes_the_page() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    assert updated(readme, page) == readme
    headings = {cells(table[0]) for table in tables(page)} - {("", "")}
    assert sum(cells(table[0]) in headings for table in tables(readme)) == 2


def test_rows_of_the_page_are_those_that_are_measured() -> None:
    styles = PAGE.read_text(encoding="utf-8").split("## Styles\n")[1].split("\n## ")[0]
    rows = set(re.findall(r"^\| ([A-Z]\w+)(?:/\d+)? +\|", styles, re.MULTILINE))
    assert rows >= {"DELAY", "YIELD", "NET2"}
    known = {name.split("/")[0] for name in read(ROOT / "bench" / "baseline.json", "")["clang"].rows}
    assert rows <= known
