"""Makes pages of the reference from the opening comments of headers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from common.tree import ROOT
from docslib.declarations import Declaration, declarations
from docslib.markdown import escaped

# Headers for emitted code, and for programs with old header names.
_NOT_PUBLIC = ("flow/compat/", "flow/emitted/", "net/compat/")
_INDENT = "    "
_ITEM = re.compile(r"[-*] |\d+\. ")


@dataclass(frozen=True, slots=True)
class Header:
    path: str
    summary: str  # Markdown, as the page
    names: list[str]
    page: str


def public_headers() -> list[Header]:
    """All headers of flow and net that open with a comment, by their paths."""
    paths = sorted(path for folder in ("flow", "net") for path in (ROOT / folder).rglob("*.h"))
    names = [(path, path.relative_to(ROOT).as_posix()) for path in paths]
    public = [each for each in names if not each[1].startswith(_NOT_PUBLIC) and "/detail/" not in each[1]]
    found = [_read(path, name) for path, name in public]
    return [header for header in found if header]


def _read(path: Path, name: str) -> Header | None:
    text = path.read_text(encoding="utf-8")
    lines = opening_comment(text)
    if not lines:
        return None
    declared = declarations(text)
    names = list(dict.fromkeys(each.name for each in declared if each.name))
    return Header(name, summary(lines), names, header_page(name, lines, declared))


def header_page(name: str, opening: list[str], declared: list[Declaration]) -> str:
    title = f"---\ntitle: {name}\n---"  # of the window: the navigation has its last part only
    parts = [title, f"# {escaped(name)}", _code(f'#include "{name}"'), _markdown(opening)]
    if declared:
        parts.append("## Declarations")
    heading = ""
    for each in declared:
        if each.name and each.name != heading:
            heading = each.name
            parts.append(f"### `{heading}`")
        parts += [_code(each.code), _markdown(each.comment), *_members(each)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _members(owner: Declaration) -> list[str]:
    """Those without a comment share a block."""
    parts: list[str] = []
    block: list[str] = []
    for each in owner.members:
        if each.is_type or each.comment:
            parts += [_code(*block), _code(each.code), _markdown(each.comment), *_members(each)]
            block = []
        else:
            block.append(each.code)
    return [*parts, _code(*block)]


def _code(*lines: str) -> str:
    return "\n".join(["```cpp", *lines, "```"]) if lines else ""


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


def summary(lines: list[str]) -> str:
    """The first sentence, with the names before its colon."""
    paragraph = " ".join(line.strip() for line in _until_blank(lines))
    sentence = re.split(r"(?<=[.;])\s", paragraph, maxsplit=1)[0]
    return escaped(sentence.rstrip(".:;") + ".")


def _until_blank(lines: list[str]) -> list[str]:
    return lines[: next((i for i, line in enumerate(lines) if not line.strip()), len(lines))]


def _markdown(lines: list[str]) -> str:
    """Paragraphs stay the same; indented text becomes code."""
    out: list[str] = []
    code: list[str] = []
    in_list = False

    def end_code() -> None:
        while code and not code[-1].strip():
            code.pop()
        if code:
            out.extend(["", _code(*code), ""])
            code.clear()

    for line in lines:
        if line.startswith(_INDENT):
            code.append(line.removeprefix(_INDENT))
        elif not line.strip() and code:
            code.append("")
        else:
            end_code()
            if _ITEM.match(line) and out and out[-1] and not in_list:
                out.append("")
            in_list = bool(line.strip()) and (in_list or bool(_ITEM.match(line)))
            out.append(line)
    end_code()
    return escaped("\n".join(out).strip())
