"""What all parts of a migration of one actor's body share: its text, its edits, and where they can stand."""

from __future__ import annotations

from actorc import syntax
from actorc.check.reach import Reach
from actorc.migrate.edits import Edits, Part
from actorc.migrate.notes import Hazard, Note
from actorc.migrate.settings import Settings
from actorc.records import dataclass, field, replace
from actorc.source import Source
from actorc.syntax import Actor, Block, Code, Span, Statement, Words

UNIT = "    "


class UnconvertibleError(Exception):
    """Why an actor must stay one."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a statement stands."""

    block: Block
    dying: tuple[str, ...] = ()  # the holders of locals in scope that die at the next wait, outermost first
    rethrown: str = ""  # what `throw;` must name; empty where it stands in a catch block
    in_switch: bool = False  # directly: a later label could be jumped to past what is declared here

    def inside(self, block: Block, *, dying: tuple[str, ...] = (), in_switch: bool = False) -> Place:
        return replace(self, block=block, dying=self.dying + dying, in_switch=in_switch)


@dataclass(slots=True)
class Gathered:
    """What is found on the way."""

    constructs: dict[str, int] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)

    def count(self, construct: str) -> None:
        self.constructs[construct] = self.constructs.get(construct, 0) + 1


class Common:
    def __init__(
        self,
        actor: Actor,
        body: Block,
        words: Words,
        source: Source,
        settings: Settings,
        edits: Edits,
        found: Gathered,
        library: str = "",
        may_be_void: bool = False,
    ) -> None:
        """`library`: what stands before names of the library, `flow::` or nothing. `may_be_void`: only an instantiation
        tells whether the actor's result is Void."""
        self._actor = actor
        self._body = body
        self._words = words
        self._source = source
        self._settings = settings
        self._edits = edits
        self._found = found
        self._library = library
        self._may_be_void = may_be_void
        self._reach = Reach(source)
        first, end = words.between(actor.span)
        self._used = set(words.texts[first:end])
        self._wrapped: set[int] = set()
        self._dedents: list[tuple[Span, int]] = []  # what moves to the left, and by how much
        self._newline = source.line_end

    # -----------------------------------------------------------------------------------------------------------

    def _text(self, node: syntax.Node | None) -> str:
        return "" if node is None else self._source[node.span]

    def _note(self, hazard: Hazard, span: Span, message: str, instead: str = "") -> None:
        self._found.notes.append(Note(hazard, span, self._actor.name, message, instead))

    def _unused(self, wanted: str) -> str:
        """A name that the actor does not have; it is taken by being asked for."""
        name, number = wanted, 2
        while name in self._used:
            name = f"{wanted}{number}"
            number += 1
        self._used.add(name)
        return name

    def _keyword(self, node: syntax.Node, *texts: str) -> Span:
        """The first token of a node that is one of these."""
        first, end = self._words.between(node.span)
        for index in range(first, end):
            if self._words.texts[index] in texts:
                return self._words.span(index)
        raise AssertionError(f"no {texts[0]} here")

    def _with_blank(self, span: Span) -> Span:
        """The span and the blanks behind it on its line."""
        end = span.end
        while self._source.text[end : end + 1] in (" ", "\t") and end < len(self._source.text):
            end += 1
        return Span(span.start, end)

    def _indent(self, offset: int) -> str:
        """What the line will begin with, once all around it has been moved."""
        indent = self._written_indent(offset)
        removed = sum(length for span, length in self._dedents if span.start <= offset < span.end)
        return indent[removed:] if len(indent) > removed else ""

    def _written_indent(self, offset: int) -> str:
        text = self._source.line_text(self._source.line(offset))
        return text[: len(text) - len(text.lstrip())]

    def _is_first_in_line(self, offset: int) -> bool:
        return not self._source.text[self._source.line_start(self._source.line(offset)) : offset].strip()

    def _inner_indent(self, block: Block) -> str:
        """The indentation of the statements of a block."""
        for statement in block.statements:
            if self._is_first_in_line(statement.span.start):
                return self._indent(statement.span.start)
        return self._indent(block.span.start) + UNIT

    def _before(self, offset: int, *parts: Part) -> None:
        """Puts a statement in front of the one that begins at `offset`."""
        if self._is_first_in_line(offset):
            self._edits.insert(offset, *parts, self._newline + self._indent(offset))
        else:
            self._edits.insert(offset, *parts, " ")

    def _first_in(self, block: Block, *parts: Part) -> None:
        """Puts a statement before all others of a block, which gets braces if it has none."""
        self._brace(block)
        if not self._has_braces(block):
            self._edits.insert(block.span.start, *parts, " ", rank=1)
            return
        start = block.span.start + 1
        rest = self._source.text[start : block.span.end].partition("\n")[0].strip()
        is_own_line = not rest or rest.startswith(("//", "/*"))
        if is_own_line and block.statements:
            first = block.statements[0].span.start
            line_start = self._source.line_start(self._source.line(first))
            if line_start >= start and self._is_first_in_line(first):
                self._edits.insert(line_start, self._indent(first), *parts, self._newline)
                return
        self._edits.insert(start, " ", *parts, rank=-1)

    def _has_braces(self, block: Block) -> bool:
        return self._source.text[block.span.start] == "{"

    def _brace(self, block: Block) -> None:
        """Gives braces to a block that is a single statement."""
        if not self._has_braces(block):
            self._wrap(block.span)

    def _wrap(self, span: Span) -> None:
        if span.start not in self._wrapped:
            self._wrapped.add(span.start)
            self._edits.insert(span.start, "{ ", rank=-1)
            self._edits.insert(span.end, " }", rank=-1)

    def _make_room(self, statement: Statement, place: Place) -> None:
        """What the statement becomes is more than one, or declares what must not be in scope behind it."""
        if place.in_switch:
            self._wrap(statement.span)
        else:
            self._brace(place.block)

    # -----------------------------------------------------------------------------------------------------------

    def _uses(self, name: str, span: Span) -> bool:
        """Whether a name is looked up in a span, as far as its tokens tell."""
        return next(self._places(name, span), None) is not None

    def _places(self, name: str, span: Span):  # type: ignore[no-untyped-def]
        first, end = self._words.between(span)
        texts = self._words.texts
        for index in range(first, end):
            if texts[index] == name and texts[index - 1] not in (".", "->", "::"):
                yield index

    def _code_line(self, code: Code) -> int:
        return self._source.line(code.span.start)
