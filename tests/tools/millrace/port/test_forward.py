"""Declarations of Flow's classes in plain headers, and millrace port --fix."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from common.tree import ROOT
from millrace.port.forward import declared_in, with_includes
from millrace.port.vocabulary import compat_folders

FLOW = '#include "flow/forward.h"'
PLAIN = """\
#pragma once
template <class T> class Future; class Void;
class StringRef; // the text
enum class TaskPriority : int;
struct Own;
template <typename T>
class ReplyPromise;
Future<Void> write%s(StringRef text, ReplyPromise<Void>* reply, Own* own, TaskPriority priority);
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("class Void;\n", f"{FLOW}\n"),
        ("class Void;", f"{FLOW}\n"),
        ("int a; class Void; int b;\n", f"int a; \n{FLOW}\nint b;\n"),
        ("\ufeffclass Void; // why\n", f"\ufeff{FLOW} // why\n"),
        ("#if 1\n  class Void;\n  class Error;\n\n  int a;\n", f"#if 1\n  {FLOW}\n\n  int a;\n"),
        ("class Void; class Own; class Error;\n", f"{FLOW}\nclass Own; \n{FLOW}\n"),
        ("class Void;\r\nstruct Endpoint; int a;", f'{FLOW}\r\n#include "fdbrpc/forward.h"\r\nint a;'),
        ("enum class TaskPriority;\nenum class TaskPriority : int;", f"{FLOW}\n"),
        ("enum class TaskPriority { Low };\n", "enum class TaskPriority { Low };\n"),
        ("enum class TaskPriority : int { Low };\n", "enum class TaskPriority : int { Low };\n"),
        ("// class Void;\nnamespace n { class Void; }\n", "// class Void;\nnamespace n { class Void; }\n"),
        ("int a;  class Own; \t", "int a;  class Own; \t"),
    ],
)
def test_texts(before: str, after: str) -> None:
    assert with_includes("a.h", before) == after
    assert with_includes("a.actor.h", before) == before
    assert with_includes("a.h", after) == after


def test_several_on_one_line_are_found() -> None:
    assert list(declared_in("a.h", PLAIN)) == ["Future", "Void", "StringRef", "TaskPriority", "ReplyPromise"]
    assert list(declared_in("a.actor.h", PLAIN)) == []


def compile_with(compiler: str, folder: Path, *headers: str) -> str:
    """The errors."""
    if not shutil.which(compiler):
        pytest.skip(f"there is no {compiler}")
    folders = [f"-iquote{path}" for path in (folder, *compat_folders())]
    command = [compiler, "-std=c++20", *folders, f"-I{ROOT}", "-fsyntax-only", "-xc++", "-"]
    text = "".join(f'#include "{header}"\n' for header in headers)
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return done.stderr


@pytest.mark.parametrize("compiler", ["clang++-19", "g++"])
def test_a_fixed_header_compiles_before_and_behind_flow(tmp_path: Path, compiler: str) -> None:
    for name in ("First", "Last"):
        (tmp_path / f"{name}.h").write_text(PLAIN % name, "utf-8")
    (tmp_path / "own.actor.h").write_text("class Void;\n", "utf-8")
    program = ("First.h", "flow/flow.h", "fdbrpc/fdbrpc.h", "Last.h")
    assert compile_with(compiler, tmp_path, "First.h", "flow/Error.h", "flow/forward.h", "Last.h")
    command = [sys.executable, str(ROOT / "tools" / "millrace"), "port", "--fix", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"changed {tmp_path}/First.h\nchanged {tmp_path}/Last.h\n2 files changed\n"
    assert (tmp_path / "own.actor.h").read_text("utf-8") == "class Void;\n"
    assert compile_with(compiler, tmp_path, "First.h") == ""
    assert compile_with(compiler, tmp_path, *program) == ""
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "0 files changed\n"
