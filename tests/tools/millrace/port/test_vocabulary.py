"""The table of millrace port says what the headers say: the compiler reads both."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest

from common.tree import ROOT
from millrace.port.report import headers_as_markdown
from millrace.port.vocabulary import Vocabulary, compat_folders

VOCABULARY = Vocabulary.read()
# Classes that are searched for members, where that is a template.
INSTANCES = {
    **{name: f"{name}<int>" for name in ("Optional", "ErrorOr", "PromiseStream", "VectorRef", "ReferenceCounted")},
    "IndexedSet": "IndexedSet<int, int>",
}
GUIDE = ROOT / "flow" / "docs" / "porting_from_flow.md"
SAME_AS_ANOTHER = {"flow/genericactors.h", "flow/genericactors.actor.g.h"}


def declaration(name: str, number: int) -> str:
    """A line that compiles if there is such a name."""
    scope, _, member = name.rpartition("::")
    if scope[:1].isupper():
        base = INSTANCES.get(scope, scope)
        return f"struct Check{number} : {base} {{ using {base}::{member}; }};"
    return f"namespace check{number} {{ using ::{name}; }}"


def names_that_are_not_there(names: list[str]) -> set[str]:
    includes = [path for path, header in VOCABULARY.headers.items() if header.instead is None]
    lines = [f'#include "{path}"' for path in includes if "actorcompiler" not in path]
    line_of = {}
    for number, name in enumerate(names):
        lines += [f"#ifndef {name}"] if "::" not in name else ["#if 1"]
        lines += [declaration(name, number), "#endif"]
        line_of[len(lines) - 1] = name
    folders = [f"-iquote{folder}" for folder in compat_folders()]
    compiler = shutil.which("clang++-19")
    if not compiler:
        pytest.skip("there is no clang++-19")
    command = [
        compiler,
        "-std=c++20",
        *folders,
        f"-I{ROOT}",
        "-ferror-limit=0",
        "-fno-spell-checking",
        "-fsyntax-only",
        "-xc++",
        "-",
    ]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=False)
    errors = [re.match(r"(.*?):(\d+):\d+: (?:fatal )?error:", line) for line in done.stderr.splitlines()]
    places = [(match[1], int(match[2])) for match in errors if match]
    assert all(file == "<stdin>" and line in line_of for file, line in places), done.stderr
    return {line_of[line] for _, line in places}


def test_the_compiler_finds_what_is_here_and_nothing_that_is_missing() -> None:
    advice = VOCABULARY.advice_by_name()
    missing = {name for name, instead in advice.items() if instead is not None}
    strange = VOCABULARY.database | VOCABULARY.database_errors
    assert names_that_are_not_there([*advice, *strange]) == missing | strange
    assert not strange & (advice.keys() | VOCABULARY.errors)


def test_a_name_stands_in_one_place() -> None:
    names = [name for header in VOCABULARY.headers.values() for name in (*header.names, *header.missing)]
    assert sorted(names) == sorted(set(names))


def test_headers_are_there_or_have_an_advice() -> None:
    for path, header in VOCABULARY.headers.items():
        is_there = any((folder / path).is_file() for folder in compat_folders())
        assert is_there == (header.instead is None), path


def test_every_header_of_the_folders_is_in_the_table() -> None:
    files = {path.relative_to(folder).as_posix() for folder in compat_folders() for path in folder.rglob("*.h")}
    own = {path for path in files if "/" not in path}
    assert files - own - SAME_AS_ANOTHER <= VOCABULARY.headers.keys()


def test_errors_and_knobs_are_read_from_the_headers() -> None:
    assert {"timed_out", "broken_promise", "actor_cancelled", "success"} <= VOCABULARY.errors
    assert "name" not in VOCABULARY.errors
    assert "DELAY_JITTER_RANGE" in VOCABULARY.knobs


def test_the_guide_has_the_table_of_headers() -> None:
    section = GUIDE.read_text(encoding="utf-8").split("\n## Headers\n")[1].split("\n## ")[0]
    table = "\n".join(line for line in section.splitlines() if line.startswith("|"))
    assert table == headers_as_markdown(VOCABULARY), "millrace port --headers prints it"


# Those that bring flow.h with Flow: programs include one of them, and use all of it. Not flow/CoroUtils.h, which
# `actorc migrate` includes in programs with names of namespace flow.
WHOLE = (
    "flow/ActorCollection.h",
    "flow/Hostname.h",
    "flow/IAsyncFile.h",
    "flow/IAsyncListener.h",
    "flow/IndexedSet.actor.h",
    "flow/TLSConfig.actor.h",
    "flow/UnitTest.h",
    "flow/genericactors.actor.h",
    "fdbrpc/fdbrpc.h",
)


def test_headers_that_bring_the_whole_of_flow() -> None:
    folders = [f"-iquote{folder}" for folder in compat_folders()]
    whole = str(ROOT / "flow" / "compat" / "flow" / "flow.h")

    def included(header: str) -> list[str]:
        command = ["clang++-19", "-std=c++20", *folders, f"-I{ROOT}", "-M", "-xc++", "-"]
        done = subprocess.run(command, input=f'#include "{header}"\n', capture_output=True, text=True, check=True)
        return [os.path.realpath(name) for name in done.stdout.replace("\\\n", " ").split()[1:]]

    assert [header for header in WHOLE if whole not in included(header)] == []
