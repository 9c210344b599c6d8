"""tools/docs: the site, and the pages that are made of headers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import docs  # noqa: E402
from docslib import generated, headers, markdown, site  # noqa: E402


def test_the_place_of_the_site_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["tools/docs", "--output", str(tmp_path)])
    for code, printed in ((0, f"site: {tmp_path / 'index.html'}\n"), (1, "")):
        monkeypatch.setattr(site, "build_site", lambda _, code=code: code)
        assert docs.main() == code
        assert capsys.readouterr().out == printed


def test_every_page_is_in_the_navigation() -> None:
    taken = {path for _, pages in site.NAVIGATION for _, path in pages}
    written = [*ROOT.glob("*/docs/**/*.md"), *ROOT.glob("flow/*/README.md"), *ROOT.glob("net/*/README.md")]
    assert [path for path in (page.relative_to(ROOT).as_posix() for page in written) if path not in taken] == []


def test_the_opening_comment_becomes_a_page() -> None:
    text = "#pragma once\n// Lock: one at a time. More.\n//\n//     Lock lock;\n//\n// End.\n\nx\n"
    comment = headers.opening_comment(text)
    assert comment == ["Lock: one at a time. More.", "", "    Lock lock;", "", "End."]


def test_a_header_without_one_has_no_page() -> None:
    assert headers.opening_comment("#pragma once\n#include <map>\n// later\n") == []


PAGES = {"flow/core/frame.h": "reference/flow/core/frame.h.md"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("```cpp before\nA<int> a;\n```", '```cpp title="before"\nA<int> a;\n```'),
        ("```cpp exact foundationdb\n```", '```cpp title="exact, foundationdb"\n```'),
        ("```cmake file=store/CMakeLists.txt\n```", '```cmake title="store/CMakeLists.txt"\n```'),
        ('```cpp title="sum.cpp"\n```', '```cpp title="sum.cpp"\n```'),
        ('```text title="example"\n```', "```text\n```"),
        ("x\n\n    a<b>\n      c\n\ny", "x\n\n```text\na<b>\n  c\n```\n\ny"),
        ("- item\n\n    more of it", "- item\n\n    more of it"),
        ("# No Future<T>, `Future<T>`\nor `a\nb<c>`", "# No Future&lt;T>, `Future<T>`\nor `a\nb<c>`"),
        ("[`frame.h`](../core/frame.h)", "[`frame.h`](../../reference/flow/core/frame.h.md)"),
        ("[a](../../tests) [b](x.md#y) [c](#z) [d](https://e.org)", "a [b](x.md#y) [c](#z) [d](https://e.org)"),
    ],
)
def test_markdown_is_made_fit_for_the_site(text: str, shown: str) -> None:
    assert markdown.site_page(text, "flow/docs/internals.md", PAGES).rstrip("\n") == shown


def test_comments_are_escaped_outside_of_code() -> None:
    assert markdown.escaped("a_b<T> [=] *x `c_d<T>`\n#e") == r"a\_b&lt;T> \[=\] \*x `c_d<T>`" "\n\\#e"


def test_headers_in_comments_become_links() -> None:
    text = "flow/core/frame.h `flow/core/frame.h` flow/none.h"
    linked = markdown.with_links_to_headers(text, "reference/flow/combine/a.h.md", PAGES)
    assert linked == "[flow/core/frame.h](../core/frame.h.md) `flow/core/frame.h` flow/none.h"
    assert markdown.with_links_to_headers(text, PAGES["flow/core/frame.h"], PAGES) == text


def test_lists_and_code_of_a_comment_stay_what_they_are() -> None:
    page = headers.header_page("flow/a.h", ["Bounds:", "- one", "  more", "- two", "", "    A<T> a;"], [])
    assert "Bounds:\n\n- one\n  more\n- two\n\n" in page and "```cpp\nA<T> a;\n```" in page


def test_a_summary_keeps_the_names() -> None:
    assert headers.summary(["Lock<T>: one at a", "time. More."]) == "Lock&lt;T>: one at a time."


def test_the_cheat_sheet_has_names_and_one_heading_for_each_folder() -> None:
    page = site.cheat_sheet(headers.public_headers())
    for name in (
        "timeoutError()",
        "all()",
        "some()",
        "wallTime()",
        "FLOW_ERROR()",
        "FLOW_ASSERT_NEAR()",
        "Semaphore",
    ):
        assert f"`{name}`" in page, name
    headings = [line for line in page.splitlines() if line.startswith("## ")]
    assert len(headings) == len(set(headings)) > 20 and headings[-1].startswith("## net/examples")
    assert "compat" not in page


def test_every_fault_is_on_its_page() -> None:
    header = (ROOT / "flow" / "sim" / "faults.h").read_text(encoding="utf-8")
    named = header.split("#define FLOW_FAULTS(X)")[1].split("enum class")[0].count("X(")
    assert named == len(generated.faults()) > 30
    assert "| `shortRead` | per read of a connection | it gives less than has come | 0.1 |" in generated.faults_page()


def test_every_program_is_on_the_page_of_command_lines() -> None:
    scripts = {f"tools/{path.name}" for path in (ROOT / "tools").iterdir() if path.is_file() and not path.suffix}
    assert scripts - set(generated.commands()) == {"tools/actorc"}  # the same as actorc
    assert "usage: actorc check" in generated.help_of("actorc check")
    assert "usage: tools/setup" in generated.help_of("tools/setup")
    assert "tools/cross debian12 | debian13" in generated.help_of("tools/cross")


def test_every_diagnostic_is_on_the_index() -> None:
    pages = {path.stem for path in (ROOT / generated.EXPLANATIONS).glob("*.md")}
    assert pages == {code for code, _ in generated.diagnostics()}
    assert "A0103.md) | return type is not Future&lt;T> or void |" in generated.diagnostics_page()


def test_an_output_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    # Not tools/docs, which may install the environment anew that this test runs in.
    command = [sys.executable, str(ROOT / "tools" / "docs.py"), "--output", str(tmp_path / "file")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, f"tools/docs: {tmp_path / 'file'}: File exists\n")
