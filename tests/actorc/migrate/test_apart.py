"""Declarations and definitions of which one is in a file that is not given."""

from __future__ import annotations

from pathlib import Path

import pytest
from trees import make, migrate

HEADER = "ACTOR Future<Void> f(int a);\nACTOR Future<Void> g(int a) { return Void(); }\n"
SOURCE = """\
#include "lib/x.actor.h"
ACTOR Future<Void> f(int a) { return Void(); }
ACTOR Future<Void> h() { return Void(); }
"""


def told(folder: Path, capsys: pytest.CaptureFixture[str], *paths: str) -> list[str]:
    assert migrate(*paths) == 0
    return [line for line in capsys.readouterr().out.splitlines() if ": H11: " in line]


@pytest.mark.parametrize("place", ["src/lib/x.actor.h", "lib/x.actor.h", "include/lib/x.actor.h"])
def test_a_header_that_declares_it_is_not_given(place: str, around: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(around, {place: HEADER, "src/a.actor.cpp": SOURCE})
    (line,) = told(around, capsys, "src/a.actor.cpp")
    message = "`f` is declared in lib/x.actor.h, which is not given, and takes its parameters in another way"
    assert line == f"src/a.actor.cpp:2:20: H11: {message}"


def test_a_file_that_defines_it_is_not_given(around: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(around, {"x.actor.h": HEADER})
    (line,) = told(around, capsys, "x.actor.h")
    message = "`f` is defined in none of the given files, where its parameters must be the same"
    assert line == f"x.actor.h:1:20: H11: {message}"


@pytest.mark.parametrize("place", ["src/lib/x.h", "lib/x.h", "include/lib/x.h"])
def test_a_plain_header_that_declares_it_is_not_given(
    place: str, around: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header = "Future<Void> f(int const& a);\nFuture<Void> h();\nFuture<Void> f(std::string const& a);\n"
    make(around, {place: header, "src/a.actor.cpp": SOURCE.replace(".actor", "")})
    assert migrate("src/a.actor.cpp") == 1
    out = capsys.readouterr().out
    message = "`f` is declared in lib/x.h, which is not given, and takes its parameters in another way"
    assert [line for line in out.splitlines() if "H11: " in line] == [f"src/a.actor.cpp:2:20: H11: {message}"]
    assert "    instead: lib/x.h given, too, or changed by hand\n" in out
    assert out.splitlines()[-1] == "1 declaration must be changed by hand (H11)"


def test_with_both_there_is_nothing_to_say(around: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(around, {"lib/x.actor.h": HEADER, "src/a.actor.cpp": SOURCE})
    assert told(around, capsys, ".") == []


def test_a_header_that_is_nowhere_to_be_found_says_nothing(around: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(around, {"a.actor.cpp": SOURCE})
    assert told(around, capsys, "a.actor.cpp") == []
