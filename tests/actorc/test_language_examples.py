"""The examples of actorc/docs/language: each compiles as it stands, by both back ends."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from common.precompiled import precompiled

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "actorc" / "docs"
INDEX = (DOCS / "language.md").read_text(encoding="utf-8")
PAGES = {name: (DOCS / name).read_text(encoding="utf-8") for name in re.findall(r"\]\((language/\w+\.md)\)", INDEX)}
EXAMPLES = re.findall(r"^```cpp\n(.*?)^```$", INDEX + "".join(PAGES.values()), re.DOTALL | re.MULTILINE)

# What a reader's file would have, and the page leaves away.
INCLUDES = "".join(f"#include <{name}>\n" for name in ("cstdio", "map", "memory", "stdexcept", "string", "vector"))
INCLUDES += '#include "flow/bench.h"\n#include "flow/test.h"\n'


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All examples in the order of the pages: later ones use what earlier ones have declared."""
    path = tmp_path_factory.mktemp("readme") / "examples.actor.cpp"
    assert EXAMPLES[0].startswith('#include "flow/flow.h"\n')  # which is precompiled below
    path.write_text(INCLUDES + "\n".join(EXAMPLES), encoding="utf-8")
    return path


@pytest.mark.parametrize("backend", ["state-machine", "coroutine"])
def test_the_examples_compile(program: Path, backend: str) -> None:
    output = program.with_name(f"{backend}.g.cpp")
    compiled = subprocess.run(
        [ROOT / "tools" / "actorc", program, output, "--backend", backend], capture_output=True, text=True, check=False
    )
    assert (compiled.returncode, compiled.stderr) == (0, "")
    command = ["clang++-19", "-std=c++20", "-Wall", "-Wextra", "-Werror"]
    command += [*precompiled(*command), "-fsyntax-only", "-Wno-unused-function", f"-I{ROOT}", str(output)]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_every_word_of_the_language_has_an_example() -> None:
    words = set(re.findall(r"\w+", "".join(EXAMPLES)))
    language = {
        "ACTOR", "DESCR", "TEST_CASE", "UNCANCELLABLE", "choose", "loop", "state", "wait", "waitNext", "when",
        "switch", "do", "catch", "throw", "return", "Never", "template", "static",
    }  # fmt: skip
    assert language <= words


def test_each_mistake_of_the_language_is_on_one_page_by_its_title() -> None:
    listed = re.findall(r"^\| \[(A\d+)\]\(\S+\) \| (.*) \|$", "".join(PAGES.values()), re.MULTILINE)
    explanations = ROOT / "actorc" / "actorc" / "report" / "explanations"
    first = [path.read_text(encoding="utf-8").split("\n", 1)[0] for path in sorted(explanations.glob("A0[1-6]*.md"))]
    assert sorted(f"# {code}: {title}" for code, title in listed) == first
