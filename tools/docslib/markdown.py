"""Changes our Markdown, which GitHub and editors show too, into what MkDocs shows the same way."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping

# Code: a fenced block, or a span, which may go on in the next line, but not in the next paragraph.
_CODE = re.compile(
    r"^(?P<indent> *)```.*\n(?:.*\n)*?(?P=indent)```$"
    r"|(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n\s*\n)[\s\S])+?(?<!`)(?P=ticks)(?!`)",
    re.MULTILINE,
)
_HIDDEN = re.compile("\0(\\d+)\0")
_INFO = re.compile(r"^( *```\w+) +(\S.*)$", re.MULTILINE)
_EXAMPLE = 'title="example"'  # for tests: tests/install/test_pages.py
_INDENT = "    "
_ITEM = re.compile(r"[-*+] |\d+\. ")
_LINK = re.compile(r"\[((?:[^\]\[]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_HEADER = re.compile(r"\b(?:flow|net)/[\w/\\]+\.h\b")
_TAG = re.compile(r"<(?!https?:)(?=[\w/!?])")
_SPECIAL = re.compile(r"[*_\[\]]|^#", re.MULTILINE)


def site_page(text: str, path: str, header_pages: Mapping[str, str]) -> str:
    """The page at `path` as MkDocs shows it: links to headers lead to their pages, those to other files are text."""

    def link(match: re.Match[str]) -> str:
        shown, target = match.groups()
        name, _, anchor = target.partition("#")
        if not name or ":" in name or name.endswith(".md"):
            return match[0]
        page = header_pages.get(posixpath.normpath(posixpath.join(posixpath.dirname(path), name)))
        if page is None:
            return shown
        return f"[{shown}]({posixpath.relpath(page, posixpath.dirname(path))}{'#' + anchor if anchor else ''})"

    return outside_code(lambda prose: _TAG.sub("&lt;", _LINK.sub(link, prose)), _INFO.sub(_titled, _fenced(text)))


def with_links_to_headers(text: str, path: str, header_pages: Mapping[str, str]) -> str:
    """The escaped text of the page at `path`, in which names of other headers become links."""

    def link(match: re.Match[str]) -> str:
        page = header_pages.get(match[0].replace("\\", ""), path)
        return match[0] if page == path else f"[{match[0]}]({posixpath.relpath(page, posixpath.dirname(path))})"

    return outside_code(lambda prose: _HEADER.sub(link, prose), text)


def escaped(text: str) -> str:
    """Text that is no Markdown but has code spans: without HTML, links and emphasis."""
    return outside_code(lambda prose: _SPECIAL.sub(r"\\\g<0>", prose).replace("<", "&lt;"), text)


def outside_code(change: Callable[[str], str], text: str) -> str:
    code: list[str] = []

    def hide(match: re.Match[str]) -> str:
        code.append(match[0])
        return f"\0{len(code) - 1}\0"

    return _HIDDEN.sub(lambda match: code[int(match[1])], change(_CODE.sub(hide, text)))


def _titled(match: re.Match[str]) -> str:
    """What follows the language of a block becomes its title; MkDocs shows no block with other words."""
    fence, info = match.groups()
    if info == _EXAMPLE:
        return fence
    return match[0] if info.startswith("title=") else f'{fence} title="{", ".join(info.removeprefix("file=").split())}"'


def _fenced(text: str) -> str:
    """Indented code becomes a block with fences, so that the rest of this module has one form of code."""
    out: list[str] = []
    inside_fence = inside_item = False
    code: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.lstrip().startswith("```"):
            inside_fence = not inside_fence
        starts = not inside_fence and not inside_item and line.startswith(_INDENT) and not (out and out[-1])
        if starts or (code and line.startswith(_INDENT)):
            code.append(line.removeprefix(_INDENT))
            continue
        if code:
            out += ["```text", *code, "```"]
            code = []
        out.append(line)
        if line and not line.startswith(" "):
            inside_item = bool(_ITEM.match(line))
    return "\n".join(out)
