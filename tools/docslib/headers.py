"""Makes pages of the reference from the opening comments of headers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from common.process import ROOT

# Headers for emitted code, and for programs with old header names.
_NOT_PUBLIC = ("flow/compat/", "flow/emitted/")
_INDENT = "    "


@dataclass(frozen=True, slots=True)
class Header:
    path: str
    summary: str
    page: str  # Markdown


def public_headers() -> list[Header]:
    """All headers of flow and net that open with a comment, by their paths."""
    paths = sorted(path for folder in ("flow", "net") for path in (ROOT / folder).rglob("*.h"))
    names = [(path, path.relative_to(ROOT).as_posix()) for path in paths]
    found = [_read(path, name) for path, name in names if not name.startswith(_NOT_PUBLIC)]
    return [header for header in found if header]


def _read(path: Path, name: str) -> Header | None:
    lines = opening_comment(path.read_text(encoding="utf-8"))
    if not lines:
        return None
    return Header(name, _summary(lines), f'# {name}\n\n```cpp\n#include "{name}"\n```\n\n' + _markdown(lines) + "\n")


def opening_comment(text: str) -> list[str]:
    """The lines of the first comment, without their slashes."""
    lines = text.splitlines()
    begin = next((i for i, line in enumerate(lines) if line.startswith("//")), None)
    if begin is None or any(line and not line.startswith("#pragma once") for line in lines[:begin]):
        return []
    comment: list[str] = []
    for line in lines[begin:]:
        if not line.startswith("//"):
            break
        comment.append(line[2:].removeprefix(" "))
    return comment


def _summary(lines: list[str]) -> str:
    paragraph = " ".join(line.strip() for line in _until_blank(lines))
    sentence = re.split(r"(?<=[.;:])\s", paragraph.split(": ", 1)[-1], maxsplit=1)[0]
    return sentence.rstrip(".:;") + "."


def _until_blank(lines: list[str]) -> list[str]:
    return lines[: next((i for i, line in enumerate(lines) if not line.strip()), len(lines))]


def _markdown(lines: list[str]) -> str:
    """Paragraphs stay the same; indented text becomes code."""
    out: list[str] = []
    code: list[str] = []

    def end_code() -> None:
        while code and not code[-1].strip():
            code.pop()
        if code:
            out.extend(["", "```cpp", *code, "```", ""])
            code.clear()

    for line in lines:
        if line.startswith(_INDENT):
            code.append(line.removeprefix(_INDENT))
        elif not line.strip() and code:
            code.append("")
        else:
            end_code()
            out.append(_escaped(line))
    end_code()
    return "\n".join(out).strip()


def _escaped(line: str) -> str:
    """Escapes what Markdown would read as HTML or emphasis."""
    return re.sub(r"([<*_])", r"\\\1", line)
