"""A struct that is not plain, and has no member `serialize`, is one error, which says what to write."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
MEMBER = "needs a member `template <class Ar> void serialize(Ar& ar)`"
MISTAKES = [
    ("struct B { int a; }; struct S1 : B { int b; };", f"a struct with a base class {MEMBER}"),
    ("struct S2 { int a; char b[8]; };", "an array in a struct without a member `serialize`: make it a std::array"),
    (f"struct S3 {{ {' '.join(f'int m{i};' for i in range(33))} }};", f"a struct of so many members {MEMBER}"),
    ("class S4 { int a = 0; };", f"this type {MEMBER}"),
]


@pytest.mark.parametrize("compiler", ["clang++-19", "g++"])
def test_mistakes(compiler: str) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"there is no {compiler}")
    text = '#include "flow/memory/object.h"\n' + "\n".join(mistake for mistake, _ in MISTAKES)
    text += "\nauto written(auto value) { return flow::ObjectWriter::toValue(value, flow::Unversioned()); }\n"
    text += "void write() { " + " ".join(f"(void)written(S{i + 1}());" for i in range(len(MISTAKES))) + " }\n"
    command = [compiler, "-std=c++20", f"-I{ROOT}", "-fsyntax-only", "-xc++", "-"]
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    errors = [line for line in run.stderr.splitlines() if "error:" in line]
    assert len(errors) == len(MISTAKES), run.stderr
    for _, message in MISTAKES:
        assert sum(message in error for error in errors) == 1, run.stderr
