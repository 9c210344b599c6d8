"""Edits that several checks offer as fixes."""

from __future__ import annotations

from collections.abc import Collection

from actorc.diagnostics import Edit, Fix
from actorc.source import Source
from actorc.syntax import Block, Span, Words


def insert(offset: int, text: str) -> Edit:
    return Edit(Span(offset, offset), text)


def inserted(offset: int, text: str) -> tuple[Fix, ...]:
    return (Fix(f"write `{text.strip()}` here", (insert(offset, text),)),)


def removed(span: Span, what: str) -> tuple[Fix, ...]:
    return (Fix(f"leave out `{what}`", (Edit(span, ""),)),)


def replaced(span: Span, text: str) -> tuple[Fix, ...]:
    return (Fix(f"write `{text}`", (Edit(span, text),)),)


def first_in(block: Block, statement: str, source: Source) -> Edit | None:
    """Puts a statement before the others of a block, in their style; None if the block has no braces."""
    start = block.span.start
    if source.text[start] != "{":
        return None
    if not block.statements:
        inside = source.text[start + 1 : block.span.end - 1]
        if "\n" not in inside:
            return insert(start + 1, f" {statement} " if not inside else f" {statement}")
        return insert(start + 1, f"{source.line_end}{_indent(source, block.span.end - 1)}    {statement}")
    following = block.statements[0].span.start
    between = source.text[start + 1 : following]
    if "\n" not in between:
        return insert(start + 1, f" {statement}")
    return insert(start + 1, f"{source.line_end}{_indent(source, following)}{statement}")


def before(offset: int, statement: str, source: Source) -> Edit:
    """Puts a statement before the one that begins at `offset`."""
    is_first = not source.text[source.line_start(source.line(offset)) : offset].strip()
    return insert(offset, f"{statement}{source.line_end}{_indent(source, offset)}" if is_first else f"{statement} ")


def last_in(block: Block, statement: str, source: Source) -> Edit:
    """Puts a statement before the `}` of a block."""
    close = block.span.end - 1
    start = source.line_start(source.line(close))
    if source.text[start:close].strip():
        return insert(close, f"{statement} " if source.text[close - 1].isspace() else f" {statement} ")
    last = block.statements[-1].span.start if block.statements else None
    indent = _indent(source, close) + "    " if last is None else _indent(source, last)
    return insert(start, f"{indent}{statement}{source.line_end}")


def _indent(source: Source, offset: int) -> str:
    text = source.line_text(source.line(offset))
    return text[: len(text) - len(text.lstrip())]


def unused_name(wanted: str, span: Span, words: Words, taken: Collection[str] = ()) -> str:
    """A name that does not occur in a span and is not taken: the wanted one, or that with a number."""
    first, end = words.between(span)
    used = {*words.texts[first:end], *taken}
    number = 2
    name = wanted
    while name in used:
        name = f"{wanted}{number}"
        number += 1
    return name
