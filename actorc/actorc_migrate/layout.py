"""The layout of an actor's text. New statements get the author's indentation and placement of braces."""

from __future__ import annotations

from functools import cached_property

from actorc import syntax
from actorc.source import Source
from actorc.syntax import Block, Span, Words
from actorc_migrate.edits import Edits, Part

_UNIT = "    "  # the default
_CLOSE = {")": "(", "]": "["}


class Layout:
    def __init__(self, body: Block, words: Words, source: Source, edits: Edits) -> None:
        self._body = body
        self._words = words
        self._source = source
        self._edits = edits
        self.newline = source.line_end
        self._wrapped: dict[int, bool] = {}  # by where they begin: whether the braces stand at the ends of other lines
        self.dedents: list[tuple[Span, int]] = []  # what moves to the left, and by how much

    # What is there

    def indent(self, offset: int) -> str:
        """The indentation of the line after all moves."""
        indent = self.written_indent(offset)
        removed = sum(length for span, length in self.dedents if span.start <= offset < span.end)
        return indent[removed:] if len(indent) > removed else ""

    def written_indent(self, offset: int) -> str:
        text = self._source.line_text(self._source.line(offset))
        return text[: len(text) - len(text.lstrip())]

    def is_first_in_line(self, offset: int) -> bool:
        return not self._source.text[self._source.line_start(self._source.line(offset)) : offset].strip()

    def is_one_line(self, span: Span) -> bool:
        return self._source.line(span.start) == self._source.line(span.end - 1)

    def is_last_in_line(self, offset: int) -> bool:
        """But for a comment to the end of the line."""
        rest = self.rest_of_line(offset).lstrip()
        return not rest or rest.startswith("//")

    def rest_of_line(self, offset: int) -> str:
        line = self._source.line(offset)
        return self._source.line_text(line)[offset - self._source.line_start(line) :]

    def has_braces(self, block: Block) -> bool:
        return self._source.text[block.span.start] == "{"

    def inner_indent(self, block: Block) -> str:
        """The indentation of the statements of a block."""
        for statement in block.statements:
            if self.is_first_in_line(statement.span.start):
                return self.indent(statement.span.start)
        return self.indent(block.span.start) + self.unit

    @cached_property
    def unit(self) -> str:
        """By how much a block is indented."""
        for block in self._blocks():
            outer = self.written_indent(block.span.start)
            for statement in block.statements:
                inner = self.written_indent(statement.span.start)
                if self.is_first_in_line(statement.span.start) and inner.startswith(outer) and inner != outer:
                    return inner.removeprefix(outer)
        return "\t" if "\n\t" in self._source.text else _UNIT

    @cached_property
    def braces_stand_alone(self) -> bool:
        """Whether the braces of blocks stand on lines of their own; those of functions count only if there are no
        others."""
        *inner, outermost = [self.is_first_in_line(block.span.start) for block in self._blocks()]
        return inner[0] if inner else outermost

    def _blocks(self) -> list[Block]:
        """Those of several lines that have braces, the outermost last."""
        found = [block for inner in syntax.walk(self._body) for block in syntax.children(inner)]
        inside = [each for each in found if self.has_braces(each) and not self.is_one_line(each.span)]
        return [*(each for each in inside if each is not self._body), self._body]

    def _begin(self, indent: str) -> str:
        """What stands between a head and the statements of its block, up to the brace."""
        return f"{self.newline}{indent}{{" if self.braces_stand_alone else " {"

    def without_blanks(self, span: Span) -> Span:
        """Without those at its ends."""
        text = self._source[span]
        start = span.start + len(text) - len(text.lstrip())
        return Span(start, start + len(text.strip()))

    # What is put in

    def before(self, offset: int, *parts: Part) -> None:
        """Puts a statement in front of the one that begins at `offset`."""
        if self.is_first_in_line(offset):
            self._edits.insert(offset, *parts, self.newline + self.indent(offset))
        else:
            self._edits.insert(offset, *parts, " ")

    def first_in(self, block: Block, *parts: Part) -> None:
        """Puts a statement before all others of a block, which gets braces if it has none."""
        self.brace(block)
        if not self.has_braces(block):
            is_apart = self._wrapped[block.span.start]
            behind = self.newline + self.indent(block.span.start) if is_apart else " "
            self._edits.insert(block.span.start, *parts, behind)
            return
        start = block.span.start + 1
        rest = self._source.text[start : block.span.end].partition("\n")[0].strip()
        is_own_line = not rest or rest.startswith(("//", "/*"))
        if is_own_line and block.statements:
            first = block.statements[0].span.start
            line_start = self._source.line_start(self._source.line(first))
            if line_start >= start and self.is_first_in_line(first):
                self._edits.insert(line_start, self.indent(first), *parts, self.newline)
                return
        self._edits.insert(start, " ", *parts, " " if self._source.text[start] == "}" else "", rank=-1)

    def has_room(self, block: Block) -> bool:
        """Whether its statements stand on lines of their own, within braces."""
        if not self.has_braces(block) or not block.statements:
            return False
        return not self.rest_of_line(block.span.start + 1).strip() and self.is_first_in_line(
            block.statements[0].span.start
        )

    def remove(self, span: Span) -> None:
        """Takes a statement away, with what is blank in front of it, and its line if nothing else stands there."""
        text = self._source.text
        rest = self.rest_of_line(span.end)
        if self.is_first_in_line(span.start) and rest.strip():
            end = span.end + len(rest) - len(rest.lstrip())
            self._edits.replace(Span(span.start, end))
            return
        start = span.start
        while text[start - 1].isspace():
            start -= 1
        self._edits.replace(Span(start, span.end if rest.strip() else span.end + len(rest)))

    def dedent(self, span: Span, outer: str, inner: str) -> None:
        """Moves the lines that begin in a span to the left, from one indentation to another."""
        moved = inner.removeprefix(outer)
        if not inner.startswith(outer) or not moved:
            return
        first, last = self._source.line(span.start), self._source.line(span.end - 1)
        self.dedents.append((Span(self._source.line_start(first), span.end), len(moved)))
        for line in range(first, last + 1):
            start = self._source.line_start(line)
            if start <= span.start or not self._source.line_text(line).startswith(inner):
                continue
            if not self._in_token(start):
                self._edits.replace(Span(start + len(outer), start + len(inner)))

    def _in_token(self, offset: int) -> bool:
        """Whether the line begins within a token, as in a raw string."""
        index = self._words.first(Span(offset, offset)) - 1
        return index >= 0 and self._words.span(index).end > offset and self._words.texts[index] != ""

    def brace(self, block: Block) -> None:
        """Gives braces to a block that is a single statement."""
        if not self.has_braces(block):
            self.wrap(block.span)

    def wrap(self, span: Span, *, has_head: bool = True) -> None:
        """Puts braces around statements; `has_head`: they are the whole of what follows a head or a label."""
        if span.start in self._wrapped:
            return
        self._wrapped[span.start] = has_head and self._is_roomy(span)
        if not self._wrapped[span.start]:
            self._edits.insert(span.start, "{ ", rank=-1)
            self._edits.insert(span.end, " }", rank=-1)
            return
        head = self._words.first(span) - 1
        indent = self._head_indent(head)
        self._edits.insert(self._words.span(head).end, self._begin(indent), rank=-1)
        close = f"{self.newline}{indent}}}"
        after = self._words.first(Span(span.end, span.end))
        gap = Span(span.end, self._words.starts[after])
        is_else = self._words.texts[after] == "else" and self.indent(gap.end) == indent
        is_end_of_do = self._words.texts[head] == "do"
        if (is_else or is_end_of_do) and not self._source[gap].strip():
            is_joined = is_end_of_do or not self.braces_stand_alone
            self._edits.replace(gap, close, " " if is_joined else self.newline + indent)
        else:
            self._edits.insert(span.end + len(self.rest_of_line(span.end).rstrip()), close, rank=-1)

    def _is_roomy(self, span: Span) -> bool:
        """Whether statements stand on lines of their own, below a head that can have a brace."""
        head = self._words.texts[self._words.first(span) - 1]
        is_alone = self.is_first_in_line(span.start) and self.is_last_in_line(span.end)
        return is_alone and head in (")", "else", "do", ":")

    def _head_indent(self, index: int) -> str:
        """That of the line on which a head begins, the last token of which is given."""
        texts, depth = self._words.texts, 0
        while True:
            depth += (texts[index] in _CLOSE) - (texts[index] in _CLOSE.values())
            if depth <= 0:
                return self.indent(self._words.starts[index])
            index -= 1
