"""tools/docs: the site, and the pages that are made of headers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import docs  # noqa: E402
from docslib import generated, headers, site  # noqa: E402


def test_the_site_is_built_without_a_warning(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert site.build_site(tmp_path) == 0
    printed = capfd.readouterr()
    assert printed.out + printed.err == ""
    assert "Millrace" in (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "FlowLock" in (tmp_path / "reference" / "flow" / "lib" / "flow_lock.h.html").read_text(encoding="utf-8")


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


def test_every_fault_is_on_its_page() -> None:
    header = (ROOT / "flow" / "sim" / "faults.h").read_text(encoding="utf-8")
    named = header.split("#define FLOW_FAULTS(X)")[1].split("enum class")[0].count("X(")
    assert named == len(generated.faults()) > 30
    assert "| `shortRead` | per read of a connection | it gives less than has come | 0.1 |" in generated.faults_page()


def test_every_program_is_on_the_page_of_command_lines() -> None:
    scripts = {f"tools/{path.name}" for path in (ROOT / "tools").iterdir() if path.is_file() and not path.suffix}
    assert scripts - set(generated.commands()) == {"tools/actorc", "tools/cross", "tools/setup"}  # without --help
    assert "usage: actorc check" in generated.help_of("actorc check")


def test_an_output_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    command = [str(ROOT / "tools" / "docs"), "--output", str(tmp_path / "file")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, f"tools/docs: {tmp_path / 'file'}: File exists\n")
