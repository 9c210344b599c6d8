"""The state that all parts of the migration of one actor's body share: its text, its edits, and their places."""

from __future__ import annotations

from collections.abc import Iterator

from actorc import syntax
from actorc.check.reach import Reach
from actorc.records import dataclass, field, replace
from actorc.source import Source
from actorc.syntax import Actor, Block, Span, Statement, Words
from actorc_migrate.edits import Edits
from actorc_migrate.layout import Layout
from actorc_migrate.notes import Hazard, Note
from actorc_migrate.plain_classes import plain_classes
from actorc_migrate.settings import Settings
from actorc_migrate.spelling import may_go_unused
from actorc_migrate.temporaries import Temporaries
from actorc_migrate.void_values import VoidValues

_ASSIGNS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"})
UNUSED = "[[maybe_unused]] "


class UnconvertibleError(Exception):
    """Why an actor must stay one."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a statement stands."""

    block: Block
    dying: tuple[str, ...] = ()  # the holders of locals in scope that the next wait destroys, outermost first
    rethrown: str = ""  # what `throw;` must name; empty where it stands in a catch block
    in_switch: bool = False  # directly: a later label could be jumped to past what is declared here

    def inside(self, block: Block, *, dying: tuple[str, ...] = (), in_switch: bool = False) -> Place:
        return replace(self, block=block, dying=self.dying + dying, in_switch=in_switch)


@dataclass(slots=True)
class Gathered:
    """Findings of the migration."""

    constructs: dict[str, int] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    void_ends: tuple[int, ...] | None = None  # see Outcome

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
    ) -> None:
        """`library`: the prefix of names of the library, `flow::` or nothing."""
        self.actor = actor
        self.body = body
        self.words = words
        self.source = source
        self.settings = settings
        self.edits = edits
        self.found = found
        self.library = library
        self.void_values = VoidValues(actor, body, source)
        self.layout = Layout(body, words, source, edits)
        self.reach = Reach(source)
        self.classes = plain_classes(source.text)
        self.temporaries = Temporaries(words, source)
        first, end = words.between(actor.span)
        self._used = set(words.texts[first:end])

    # -----------------------------------------------------------------------------------------------------------

    def text(self, node: syntax.Node | None) -> str:
        return "" if node is None else self.source[node.span]

    def note(self, hazard: Hazard, span: Span, message: str, instead: str = "") -> None:
        self.found.notes.append(Note(hazard, span, self.actor.name, message, instead))

    def unused(self, wanted: str) -> str:
        """Returns a name that the actor does not use, and reserves it."""
        name, number = wanted, 2
        while name in self._used:
            name = f"{wanted}{number}"
            number += 1
        self._used.add(name)
        return name

    def free(self, wanted: str) -> str:
        """A name that the actor does not have, and that several scopes may declare."""
        return wanted if wanted not in self._used else self.unused(wanted)

    def with_blank(self, span: Span) -> Span:
        """The span and the blanks behind it on its line."""
        end = span.end
        while self.source.text[end : end + 1] in (" ", "\t") and end < len(self.source.text):
            end += 1
        return Span(span.start, end)

    def make_room(self, statement: Statement, place: Place) -> None:
        """What the statement becomes is more than one, or declares what must not be in scope behind it."""
        if place.in_switch:
            self.layout.wrap(statement.span, has_head=False)
        else:
            self.layout.brace(place.block)

    # -----------------------------------------------------------------------------------------------------------

    def ends_silently(self, statement: Statement) -> bool:
        """Whether a `co_return;` in its place says nothing: it is the last, and the body is a coroutine without it."""
        if statement is not self.body.statements[-1] or self.void_values.need_parameter:
            return False
        first, end = self.words.between(self.body.span)
        others = (each for each in syntax.walk(self.body) if each is not statement)
        is_coroutine = any(isinstance(each, syntax.Wait | syntax.Choose | syntax.Return) for each in others)
        return is_coroutine and not any(text[:1] == "#" for text in self.words.texts[first:end])

    def uses(self, name: str, span: Span) -> bool:
        """Whether a name is looked up in a span, as far as its tokens show."""
        return next(self.places(name, span), None) is not None

    def unused_mark(self, type_: str, *names: str, declared: Span) -> str:
        """`[[maybe_unused]] ` for a variable that nothing reads: for the actor, the C++ compiler did not warn."""
        around = (Span(self.body.span.start, declared.start), Span(declared.end, self.body.span.end))
        places = (index for name in names for span in around for index in self.places(name, span))
        return "" if not may_go_unused(type_) or any(map(self._is_read, places)) else UNUSED

    def _is_read(self, index: int) -> bool:
        """Whether a name does not only stand in front of an assignment."""
        is_statement = self.words.texts[index - 1] in (";", "{", "}", ")", "else", ":")
        return not is_statement or self.words.texts[index + 1] not in _ASSIGNS

    def places(self, name: str, span: Span) -> Iterator[int]:
        """Where a name stands, and not behind a dot or a `::`."""
        first, end = self.words.between(span)
        texts = self.words.texts
        for index in range(first, end):
            if texts[index] == name and texts[index - 1] not in (".", "->", "::"):
                yield index
