"""The pages of `--explain`: each example does what its page says."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from front import OF_COMPILER, analysed

from actorc.__main__ import main
from actorc.diagnostics import RETIRED, Fault
from actorc.driver import BACKENDS, compile_text
from actorc.report.explain import FOLDER, page
from actorc.source import Source
from common.precompiled import precompiled

ROOT = Path(__file__).parents[2]
PREAMBLE = """\
#include <array>
#include <cstdio>
#include <string>
#include <vector>
#include "flow/flow.h"
using namespace flow;
#include "flow/actorcompiler.h"
"""

every_fault = pytest.mark.parametrize("fault", list(Fault), ids=lambda fault: fault.code)
every_fault_of_actors = pytest.mark.parametrize("fault", OF_COMPILER, ids=lambda fault: fault.code)


def codes(text: str) -> set[str]:
    _, source, diagnostics = analysed(text.replace("<E9>", "\udce9"))
    diagnostics.drop_allowed(source)
    return {found.code for found in diagnostics}


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {f"{fault.code}.md" for fault in Fault}


def test_a_retired_code_is_not_used_again() -> None:
    assert not set(RETIRED) & {fault.code for fault in Fault}
    assert all(reason.endswith(".") for reason in RETIRED.values())


@every_fault
def test_a_page_has_its_title_an_explanation_and_examples(fault: Fault) -> None:
    lines = page(fault.code).text.splitlines()
    assert lines[0] == f"# {fault.code}: {fault.title}"
    assert len(" ".join(lines[1 : lines.index("## Wrong")])) > 80
    assert page(fault.code).wrong
    assert page(fault.code).right
    assert max(map(len, lines)) <= 120


@every_fault_of_actors
def test_wrong_examples_yield_exactly_that_code(fault: Fault) -> None:
    for example in page(fault.code).wrong:
        assert codes(example) == {fault.code}


@every_fault_of_actors
def test_right_examples_yield_nothing(fault: Fault) -> None:
    for example in page(fault.code).right:
        assert codes(example) == set()


@pytest.mark.parametrize("backend", BACKENDS)
def test_right_examples_compile(backend: str, tmp_path: Path) -> None:
    """All in one file, each in a namespace of its own."""
    compiler = shutil.which("clang++-19") or shutil.which("g++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    examples = [example for fault in OF_COMPILER for example in page(fault.code).right]
    text = PREAMBLE + "".join(f"namespace page{n} {{\n{text}}}\n" for n, text in enumerate(examples))
    emitted = tmp_path / "pages.cpp"
    emitted.write_text(compile_text(Source("pages.actor.cpp", text), backend, str(emitted)))
    command = [compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror"]  # as of other tests, for the headers
    command += [*precompiled(*command), "-fsyntax-only", "-w", "-I", str(ROOT), str(emitted)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr


def explained(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as exit_:
        main([*argv])
    return exit_.value.code or 0, *capsys.readouterr()


def test_explain_prints_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert explained(capsys, "--explain", "a0401") == (0, page("A0401").text, "")


def test_explain_prints_several_pages(capsys: pytest.CaptureFixture[str]) -> None:
    pages = f"{page('A0401').text}\n{page('A0402').text}"
    assert explained(capsys, "--explain", "A0401", "A0402") == (0, pages, "")
    assert explained(capsys, "--explain", "A0401", "A9999")[0] == 100


@pytest.mark.parametrize("argv", [["--explain"], ["--explain", "all"]])
def test_explain_lists_the_codes(capsys: pytest.CaptureFixture[str], argv: list[str]) -> None:
    status, out, err = explained(capsys, *argv)
    assert (status, err) == (0, "")
    assert re.findall(r"^A\d{4}", out, re.MULTILINE) == [fault.code for fault in Fault]
    assert "A0506  warning  actor does not contain a wait" in out


def test_explain_of_an_unknown_code_says_so_and_lists_the_codes(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = explained(capsys, "--explain", "A9999")
    assert (status, out) == (100, "")
    assert err.startswith("actorc: there is no code `A9999`")
    assert "A0401" in err


def test_explain_of_a_retired_code_says_why(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(RETIRED, "A9998", "it was never one.")
    assert explained(capsys, "--explain", "A9998")[1] == "# A9998\n\nThis code is not in use: it was never one.\n"


@pytest.mark.parametrize(
    ("before", "after"), [("// actorc: allow A0506\n", ""), ("", " // actorc: allow A0401, A0506")]
)
def test_a_comment_allows_a_warning_on_its_line_or_the_next(before: str, after: str) -> None:
    text = f"{before}ACTOR Future<Void> a() {{{after}\n return Void(); }}\n"
    assert codes(text) == set()
    assert codes(text.replace("A0506", "A0601")) == {"A0506"}


def test_no_comment_allows_an_error() -> None:
    assert codes("// actorc: allow A0003\n/* no end") == {"A0003"}
