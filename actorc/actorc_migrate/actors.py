"""The actors of all files in one table: which belong together, and for which the callers must change."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from actorc.records import dataclass, replace
from actorc.source import Source
from actorc.syntax import Actor, File, Span, Words
from actorc_migrate.enclosing import Scopes
from actorc_migrate.prototypes import Signature, signature_of
from actorc_migrate.settings import Settings

_ANY_NUMBER = 1 << 20  # of arguments, where a parameter is a pack
# The text of an actor that may run on without its future, and its name: for a quick search before parsing.
_RUNS_ON = re.compile(
    r"\b(?:UNCANCELLABLE\b[^;{}()]*?|ACTOR\b[^;{}()]*?\bvoid\s+(?:\w+\s*(?:<[^;{}()]*>)?\s*::\s*)*)(\w+)\s*\("
)


@dataclass(frozen=True, slots=True)
class Head:
    """An actor as others see it."""

    path: str
    name: str
    span: Span  # of all of it
    name_span: Span
    inside: int  # the offset behind the `(` of its parameters
    close: int  # that behind the last of them, and what may be taken off that
    own: Span  # up to its body, or to its `;`
    owner: str  # the class that it is a member of; that of a qualified name may be a namespace
    is_qualified: bool
    is_definition: bool
    is_local: bool  # visible in its file only
    runs_on: bool  # UNCANCELLABLE
    is_void: bool
    fewest: int  # arguments
    most: int
    parameters: int
    class_names: tuple[str, ...]  # which no longer exist
    signature: Signature | None  # None where a declaration without `ACTOR` is not sure to be its own

    def is_seen_in(self, path: str) -> bool:
        return not self.is_local or path == self.path

    def changes(self, settings: Settings) -> bool:
        """Whether a call of it must say that the actor runs on."""
        return (self.runs_on and not self.is_void) or (self.is_void and settings.is_foundationdb)

    def changes_type(self, settings: Settings) -> bool:
        """Whether a pointer to it gets another type: actors take all their parameters by `const&`."""
        return self.is_void or self.parameters > 0 or self.changes(settings)


def heads_of(file: File, source: Source) -> tuple[Head, ...]:
    named = (actor for actor in file.actors if actor.test_name is None and actor.captures is None)
    scopes = Scopes(file.words.texts if file.actors else [])
    return tuple(_head(actor, source, file.words, scopes) for actor in named)


def _head(actor: Actor, source: Source, words: Words, scopes: Scopes) -> Head:
    path = source.path
    owners = (*actor.enclosing_classes, *actor.qualifier)
    end = actor.span.end if actor.body is None else actor.body.span.start
    given = [parameter for parameter in actor.parameters if not parameter.is_pack]
    has_pack = len(given) < len(actor.parameters)
    open_ = words.first(actor.name_span) + 1
    while words.texts[open_] not in ("(", ""):
        open_ += 1
    close = _close(words, open_)
    is_unnamed = "" in (scopes.at(words.first(actor.name_span)) or ())
    number = str(actor.index) if actor.index else ""
    stem = "".join(part + "_" for part in actor.enclosing_classes) + actor.class_stem
    stems = dict.fromkeys((stem, actor.class_stem, actor.name[:1].upper() + actor.name[1:]))
    return Head(
        path=path,
        name=actor.name,
        span=actor.span,
        name_span=actor.name_span,
        inside=words.span(open_).end,
        close=words.starts[close] if words.texts[close - 1] in ("&", "&&", "const") else words.span(close - 1).end,
        own=Span(actor.span.start, end),
        owner=owners[-1] if owners else "",
        is_qualified=bool(actor.qualifier),
        is_definition=actor.body is not None,
        is_local=(is_unnamed or (actor.is_static and not owners)) and not path.endswith(".h"),
        runs_on=actor.is_uncancellable,
        is_void=actor.result_type is None,
        fewest=sum(parameter.default is None for parameter in given),
        most=_ANY_NUMBER if has_pack else len(given),
        parameters=len(actor.parameters),
        class_names=tuple(f"{each}Actor{number}{kind}" for each in stems for kind in ("", "State")),
        signature=signature_of(actor, words, source, scopes),
    )


def first_look(texts: Iterable[str]) -> set[str]:
    """Names of actors that may run on without their futures: more than there are, and rarely fewer."""
    return {match[1] for text in texts for match in _RUNS_ON.finditer(text)}


def belong_together(one: Head, other: Head) -> bool:
    """Whether one may declare what the other defines."""
    if one.name != other.name or one.parameters != other.parameters or (one.is_definition and other.is_definition):
        return False
    if one.owner == other.owner:
        return True
    return (one.is_qualified and not other.owner) or (other.is_qualified and not one.owner)  # by a namespace


def dragged_along(staying: Iterable[Head], all_: Iterable[Head]) -> set[Head]:
    """The actors that must stay actors because their declaration or definition does. (A coroutine takes its parameters
    in another way.)"""
    by_name: dict[str, list[Head]] = {}
    for head in all_:
        by_name.setdefault(head.name, []).append(head)
    pending = list(staying)
    stay = set(pending)
    while pending:
        head = pending.pop()
        for other in by_name.get(head.name, ()):
            if other not in stay and other.is_seen_in(head.path) and belong_together(head, other):
                stay.add(other)
                pending.append(other)
    return stay


def as_defined(heads: Iterable[Head]) -> dict[Head, Head]:
    """The definition decides whether an actor is UNCANCELLABLE, whatever its declarations say."""
    heads = list(heads)
    defined: dict[str, list[Head]] = {}
    for head in heads:
        if head.is_definition:
            defined.setdefault(head.name, []).append(head)
    found = {}
    for head in heads:
        partners = [
            other
            for other in defined.get(head.name, ())
            if belong_together(head, other) and other.is_seen_in(head.path) and head.is_seen_in(other.path)
        ]
        runs_on = any(other.runs_on for other in partners) if partners else head.runs_on
        found[head] = head if runs_on == head.runs_on else replace(head, runs_on=runs_on)
    return found


class Table:
    """Actors that change their type, by name: mostly those with callers that must pass `Uncancellable()`.

    `sees` returns whether one file includes another's declarations.
    """

    def __init__(self, heads: Iterable[Head], settings: Settings, sees: Callable[[str, str], bool]) -> None:
        self._sees = sees
        self._heads: dict[str, list[Head]] = {}
        for head in heads:
            if head.changes_type(settings):
                self._heads.setdefault(head.name, []).append(head)
        for name, found in self._heads.items():
            self._heads[name] = list(_with_defaults(found))

    def named(self, name: str, path: str) -> list[Head]:
        """Those that a file can mean."""
        return [head for head in self._heads.get(name, ()) if head.is_seen_in(path) and self._sees(path, head.path)]


def _with_defaults(heads: list[Head]) -> Iterator[Head]:
    """Default arguments stand at one declaration and hold for all of them."""
    for head in heads:
        alike = [other for other in heads if other.parameters == head.parameters]
        yield replace(head, fewest=min(other.fewest for other in alike))


def _close(words: Words, open_: int) -> int:
    """The index of the `)` for a `(`."""
    depth, index = 0, open_
    while words.texts[index]:
        depth += (words.texts[index] == "(") - (words.texts[index] == ")")
        if depth == 0:
            break
        index += 1
    return index
