"""The examples of the pages about migration, and of constructs.md, are what the tool makes, and compile.

`tests/actorc/migrate/examples.py --write` puts in what the tool makes today.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conversions import converted
from trees import TOP, migrated

from actorc_migrate.notes import Hazard
from common.precompiled import precompiled
from examples import CODES, CONSTRUCTS, DOCUMENTS, GUIDE, HEADERS, ROOT, examples, made_of, rendered

_COMPILER = shutil.which("clang++-19") or shutil.which("g++") or "c++"
_NAMES = [path.name for path in DOCUMENTS]


# That of the page has commands that compile and run programs.
@pytest.mark.parametrize(
    "document",
    [pytest.param(each, marks=pytest.mark.pages if each == GUIDE else (), id=each.name) for each in DOCUMENTS],
)
def test_is_what_the_tool_makes(document: Path) -> None:
    text = document.read_text()
    assert rendered(text) == text


@pytest.mark.parametrize(("target", "style"), [("flow", "exact"), ("flow", "idiomatic"), ("foundationdb", "idiomatic")])
@pytest.mark.parametrize("document", DOCUMENTS, ids=_NAMES)
def test_compiles(document: Path, target: str, style: str, tmp_path: Path) -> None:
    text = "#include <functional>\n" + "".join(f'#include "{header}"\n' for header in HEADERS[target])
    text += "using namespace flow;\n" if target == "flow" else ""
    for number, example in enumerate(examples(document.read_text())):
        made = made_of(example.before, [f"--style={style}", f"--target={target}"])
        text += f"namespace example{number} {{\n{example.prelude}{made}}}\n"
    source = tmp_path / "examples.cpp"
    source.write_text(text)
    command = [_COMPILER, "-std=c++20", "-Wall", "-Wextra", "-Werror"]
    command += [f"-I{ROOT}/flow/compat"] if target == "foundationdb" else []
    options = precompiled(*command, headers=HEADERS[target])
    command += [*options, f"-I{ROOT}", "-Wno-unused", "-fsyntax-only", str(source)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("style", ["exact", "idiomatic"])
def test_a_second_run_changes_nothing(style: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    every = [example for document in DOCUMENTS for example in examples(document.read_text())]
    files = {f"example{number}.actor.cpp": TOP + each.before for number, each in enumerate(every)}
    found = migrated(tmp_path, files, f"--style={style}", status=1)  # H11 leaves a declaration to the reader
    assert list(found) == sorted(name.replace(".actor", "") for name in files)


def test_every_code_has_its_section() -> None:
    text = CODES.read_text()
    sections = dict(re.findall(r"^## (H\d+): .*\n((?:(?!^#).*\n)*)", text, re.MULTILINE))
    assert list(sections) == [hazard.code for hazard in Hazard]
    for code, section in sections.items():
        assert "```cpp before" in section, code
        assert re.search(rf"^example.*: {code}: ", section, re.MULTILINE) or "never reported" in section, code


@pytest.mark.parametrize("style", ["exact", "idiomatic"])
@pytest.mark.parametrize("target", ["flow", "foundationdb"])
def test_comments_survive(style: str, target: str) -> None:
    """One above each line of every example, and one behind."""
    lost = []
    for example in examples(CONSTRUCTS.read_text()):
        commented = ""
        for number, line in enumerate(example.before.splitlines()):
            commented += f"// [{number}]\n{line} // <{number}>\n"
        made = converted(commented, style, target).text
        lost += [
            line
            for number, line in enumerate(example.before.splitlines())
            if f"// [{number}]\n" not in made or f"// <{number}>\n" not in made
        ]
        # Comments are part of a description, and a branch with nothing else in it stays.
        if "DESCR" not in example.before and not re.search(r"\{\s*\}", example.before):
            assert _words(made) == _words(converted(example.before, style, target).text)
    assert lost == []


def _words(text: str) -> str:
    """Without comments, so that one sees if a comment took words with it, and without blanks."""
    return re.sub(r"//.*|\s", "", text)
