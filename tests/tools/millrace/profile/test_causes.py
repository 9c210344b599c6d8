"""causes.toml: that each pattern is for something in the sources of today."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path

import pytest

from common.tree import ROOT
from millrace.profile.causes import CALLER, UNMAPPED, Rule, decisive, read, source_line


@lru_cache
def sources() -> dict[str, str]:
    found = (path for folder in ("flow", "net", "bench") for path in (ROOT / folder).rglob("*"))
    files = [path for path in found if path.suffix in (".h", ".cpp")]
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in files}


def is_for_something(kind: str, pattern: str) -> bool:
    """Names of other projects are not looked for."""
    if kind == "files":
        return pattern.startswith("/") or any(fnmatch(path, pattern) for path in sources())
    if kind == "lines":
        benchmarks = [
            line for path, text in sources().items() if path.startswith("bench/") for line in text.splitlines()
        ]
        return any(re.search(pattern, line) for line in benchmarks)
    if kind == "functions" and pattern.startswith("flow::"):
        name = re.sub(r"^operator ", "", pattern.rpartition("::")[2]).strip("*")
        return any(re.search(rf"\b{name}", text) for text in sources().values())
    return True


def test_every_pattern_is_for_something() -> None:
    dead = [
        f"{rule.cause}: {kind}: {pattern}"
        for rule in (*read().rules, *read().passes)
        for kind, patterns in rule.patterns.items()
        for pattern in patterns
        if not is_for_something(kind, pattern)
    ]
    assert dead == []
    assert not is_for_something("functions", "flow::detail::neverHeardOf*")
    assert not is_for_something("files", "flow/nothing/*")
    assert not is_for_something("lines", "^neverHeardOf")


def test_every_cause_has_a_rule() -> None:
    causes = read()
    assert {rule.cause for rule in causes.rules} - {CALLER, UNMAPPED} == set(causes.order)


def test_the_innermost_function_that_is_not_there_for_its_caller_decides() -> None:
    assert decisive(["user code", "allocate", CALLER]) == ("allocate", 1)
    assert decisive(["user code", "await glue"]) == ("await glue", 1)
    assert decisive(["user code", None, CALLER]) == (UNMAPPED, 1)
    assert decisive([CALLER]) == (UNMAPPED, 0)


def test_a_rule_fits_where_one_pattern_of_each_kind_does() -> None:
    rule = Rule("x", {"functions": ("f", "g*"), "lines": (r"\bco_await\b",)})
    here = {"functions": "g::h", "files": "bench/a.cpp", "lines": "co_await x;", "objects": "p"}
    assert rule.fits(here.__getitem__)
    assert not rule.fits((here | {"functions": "fg"}).__getitem__)
    assert not rule.fits((here | {"lines": "co_awaiting x;"}).__getitem__)


def test_a_mistake_in_the_rules_is_said(tmp_path: Path) -> None:
    file = tmp_path / "causes.toml"
    file.write_text('order = ["a"]\n[passes]\n[[rule]]\ncause = "b"\nfiles = ["x"]\n')
    with pytest.raises(ValueError, match=r"causes\.toml: 'b' has no place in the order"):
        read(file)
    file.write_text('order = ["a"]\n[passes]\n[[rule]]\ncause = "a"\nfile = ["x"]\n')
    with pytest.raises(ValueError, match="a rule for 'a' has file"):
        read(file)


def test_a_line_is_read_from_the_sources() -> None:
    assert source_line("flow/core/frame.h", 1) == "#pragma once"
    assert source_line("flow/core/frame.h", 100_000) == ""
    assert source_line("flow/core/nothing.h", 1) == ""
    assert source_line("/nowhere/stdio.h", 1) == ""
    assert source_line(__file__, 5) == "import re"
