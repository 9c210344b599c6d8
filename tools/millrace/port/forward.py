"""Declarations of Flow's classes in plain files, as `class Void;`, and the includes that stand in their place.

In .actor files actorc puts the includes there (actorc/check/forward.py), so that those may stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from actorc.check.forward import Forward, forward_declarations
from actorc.diagnostics import Diagnostics
from actorc.parse.parser import parse
from actorc.source import Source

_PERHAPS = re.compile(r"\b(?:class|struct)\s+\w+\s*;|\benum\s+class\s+TaskPriority\b")
_NAME = re.compile(r"\b(?:class|struct)\s+(\w+)\s*(?::\s*\w+\s*)?;$")


def declared_in(name: str, text: str) -> Iterator[str]:
    """The classes, each as often as the file declares it."""
    for found in _found(name, text):
        match = _NAME.search(text[found.span.start : found.span.end])
        assert match is not None
        yield match[1]


def with_includes(name: str, text: str) -> str:
    """The text of a file with one include for each run of declarations; itself if there are none."""
    line_end = Source(name, text).line_end
    result, end = "", 0
    for start, after, header in _runs(name, text):
        result += _next(text[end:start], line_end if end else "")
        alone = not result.rpartition("\n")[2].strip(" \t\ufeff")
        result += ("" if alone else line_end) + f'#include "{header}"'
        end = after
    return result + _next(text[end:], line_end if end else "")


def _next(text: str, line_end: str) -> str:
    """What follows an include on its line: no code."""
    code = text.lstrip(" \t")
    return text if code.startswith(("//", "\n", "\r\n")) else line_end + code if line_end else text


def _runs(name: str, text: str) -> list[tuple[int, int, str]]:
    """Start, end and header of declarations with nothing but blanks between them."""
    runs: list[tuple[int, int, str]] = []
    for found in _found(name, text):
        span = found.span
        if runs and runs[-1][2] == found.header and not text[runs[-1][1] : span.start].strip():
            runs[-1] = (runs[-1][0], span.end, found.header)
        else:
            runs.append((span.start, span.end, found.header))
    return runs


def fix(file: Path) -> bool:
    """Whether there were declarations: then the file is written."""
    data = file.read_bytes()
    before = data.decode("utf-8", "surrogateescape")
    after = with_includes(file.name, before)
    if after == before:
        return False
    file.write_bytes(after.encode("utf-8", "surrogateescape"))
    return True


def _found(name: str, text: str) -> Iterator[Forward]:
    if ".actor." not in name and _PERHAPS.search(text):
        source = Source(name, text)
        yield from forward_declarations(parse(source, Diagnostics()))
