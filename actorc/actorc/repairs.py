"""Edits that several checks offer as fixes."""

from __future__ import annotations

from actorc.diagnostics import Edit
from actorc.source import Source
from actorc.syntax import Block, Span, Words


def insert(offset: int, text: str) -> Edit:
    return Edit(Span(offset, offset), text)


def first_in(block: Block, statement: str, source: Source) -> Edit | None:
    """Puts a statement before the others of a block, in their style; None if the block has no braces."""
    start = block.span.start
    if source.text[start] != "{":
        return None
    if not block.statements:
        return insert(start + 1, f" {statement} ")
    following = block.statements[0].span.start
    between = source.text[start + 1 : following]
    if "\n" not in between:
        return insert(start + 1, f" {statement}")
    return insert(start + 1, f"\n{_indent(source, following)}{statement}")


def before(offset: int, statement: str, source: Source) -> Edit:
    """Puts a statement before the one that begins at `offset`."""
    indent = _indent(source, offset)
    line_start = source.line_start(source.line(offset))
    is_first = not source.text[line_start:offset].strip()
    return insert(offset, f"{statement}\n{indent}" if is_first else f"{statement} ")


def _indent(source: Source, offset: int) -> str:
    text = source.line_text(source.line(offset))
    return text[: len(text) - len(text.lstrip())]


def unused_name(wanted: str, span: Span, words: Words) -> str:
    """A name that does not occur in a span: the wanted one, or that with a number."""
    first, end = words.between(span)
    used = set(words.texts[first:end])
    number = 2
    name = wanted
    while name in used:
        name = f"{wanted}{number}"
        number += 1
    return name
