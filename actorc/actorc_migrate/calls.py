"""Edits the places that use actors: calls that must pass `Uncancellable()`. Notes for the reader where a use is
unclear."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable

from actorc.records import dataclass
from actorc_migrate.actors import Head, Table
from actorc_migrate.declared import Declared
from actorc_migrate.edits import Edits
from actorc_migrate.notes import Hazard, Note
from actorc_migrate.prototypes import Prototype
from actorc_migrate.settings import Settings
from actorc_migrate.spelling import detached, library_in
from actorc_migrate.uses import Use, UseKind

_SEES_TYPE = re.compile(r"\busing\s+(?:::\s*)?flow\s*::\s*Uncancellable\s*;")


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of all files."""

    table: Table
    heads: dict[str, list[Head]]  # actors that are migrated, by name
    classes: dict[str, set[str]]  # the files that have made classes of these names
    places: dict[Head, str]  # the place of each, for messages
    defined: dict[Head, Head]  # each as its definition has it
    sees: Callable[[str, str], bool]  # whether a file includes another's declarations
    namespaces: Collection[str]
    declared: Declared
    stay: Collection[Head]  # actors that are not migrated
    settings: Settings


def namespaces_in(texts: Iterable[str]) -> set[str]:
    found = re.compile(r"\bnamespace\s+((?:\w+\s*::\s*)*\w+)\s*[{=]")
    return {name.strip() for text in texts for match in found.finditer(text) for name in match[1].split("::")}


def update_uses(uses: Iterable[Use], known: Known, path: str, text: str, edits: Edits) -> list[Note]:
    """Adds to the edits of one file what its calls need."""
    spelled = f"{spelled_in(text, known.settings)}()"
    notes: list[Note] = []
    for use in uses:
        if use.kind is UseKind.CALL:
            notes += _call(use, known, path, spelled, edits)
        elif use.kind is UseKind.PROTOTYPE:
            notes += _prototype(use, known, path, text, edits)
        elif use.kind is UseKind.COUNT:
            if known.heads:
                message = "a coroutine may hold more or fewer references to a future than its actor did"
                instead = "compare it with 0 alone, or keep a count of your own"
                notes.append(Note(Hazard.REFERENCE_COUNT, use.span, "", message, instead))
        elif use.kind is UseKind.CLASS:
            if any(known.sees(path, place) for place in known.classes.get(use.name, ())):
                message = f"`{use.name}` is the class that actorc made of an actor, which is a coroutine from here on"
                instead = "`actorc --frames` shows how large a coroutine's frame is, FLOW_ASSERT_FRAME_SIZE limits it"
                notes.append(Note(Hazard.ACTOR_CLASS, use.span, "", message, instead))
        elif _may_mean(use, known, path) is not None:
            notes.append(_mentioned(use, known, path, spelled))
    return notes


def spelled_in(text: str, settings: Settings) -> str:
    """The name of the type, as a file can spell it."""
    return "Uncancellable" if _SEES_TYPE.search(text) else f"{library_in(text, settings)}Uncancellable"


def _call(use: Use, known: Known, path: str, spelled: str, edits: Edits) -> list[Note]:
    if use.is_told:
        return []
    doubt = _may_mean(use, known, path)
    if doubt is None:
        return []
    edits.insert_argument(use.inside, spelled, is_alone=not use.arguments)
    if use.statement is not None and any(head.is_void for head in known.table.named(use.name, path)):
        edits.insert(use.statement, "(void)")  # it returned nothing, and a Future is [[nodiscard]]
    if not doubt:
        return []
    message = f"this may call the actor `{use.name}`: {doubt}"
    return [Note(Hazard.DETACHED, use.span, "", message, f"without `{spelled}` where it calls another function")]


def _may_mean(use: Use, known: Known, path: str) -> str | None:
    """Whether a use means an actor that runs on without its future: None if not, an empty text if so, else why that is
    doubtful."""
    heads = known.table.named(use.name, path)
    if use.kind is not UseKind.MENTION:
        heads = [head for head in heads if head.changes(known.settings)]
    if use.kind is UseKind.CALL:
        heads = [head for head in heads if head.fewest <= use.arguments <= head.most]
    if not heads:
        return None
    if use.kind is UseKind.MACRO:
        return ""
    owners = {head.owner for head in heads}
    free = "" in owners or any(head.is_qualified and head.owner in known.namespaces for head in heads)
    owners.discard("")
    if use.qualifier in (".", "this"):
        if not owners:
            return None  # a member of something, and the actor is none
        if owners.intersection((*use.classes, *use.types)):
            return ""
        if use.qualifier == "this" and not use.classes:
            return None
        return f"it is a member of {_listed(owners)}, and the type of the object is not known here"
    if use.qualifier:
        if use.qualifier in owners or (free and use.qualifier in known.namespaces):
            return ""
        if use.qualifier in known.namespaces:
            return None
        return f"`{use.qualifier}` may be another name of {_listed(owners)}" if owners else _no_namespace(use)
    if owners & set(use.classes):
        return ""
    if use.is_hidden:
        return None
    if free:
        return ""
    if not use.classes:
        return None  # a function outside of classes does not see their members
    return f"it is a member of {_listed(owners)}, which `{use.classes[-1]}` may be derived from"


def _no_namespace(use: Use) -> str:
    return f"`{use.qualifier}` is no namespace of these files"


def _listed(names: Collection[str]) -> str:
    return " or ".join(f"`{name}`" for name in sorted(names))


def _mentioned(use: Use, known: Known, path: str, spelled: str) -> Note:
    if use.kind is UseKind.MACRO:
        message = f"a macro calls `{use.name}`, which takes Uncancellable as its first parameter"
        return Note(Hazard.DETACHED, use.span, "", message, f"`{use.name}({spelled}, ...)` in the macro")
    heads = known.table.named(use.name, path)
    if not any(head.changes(known.settings) for head in heads):
        other = "returns a coroutine" if heads[0].is_void else "takes its parameters by value"
        message = f"`{use.name}` is used without a call, and {other}: a pointer to it has another type"
        return Note(Hazard.DETACHED, use.span, "", message, f"a lambda of the old type that calls `{use.name}`")
    message = f"`{use.name}` is used without a call, and takes Uncancellable as its first parameter"
    return Note(Hazard.DETACHED, use.span, "", message, f"a lambda that calls `{use.name}({spelled}, ...)`")


def _prototype(use: Use, known: Known, path: str, text: str, edits: Edits) -> list[Note]:
    """A declaration without `ACTOR`: it says `A const&` where the actor did, and the coroutine has `A`."""
    if use.is_told:
        return []
    actors = known.declared.actors(path, use, known.stay)
    if actors and use.prototype is not None:
        if actors[0] not in known.stay:
            _declare_coroutine(use.prototype, known.defined[actors[0]], text, known.settings, edits)
        return []
    for head in known.heads.get(use.name, ()):
        is_by_value = use.prototype is not None and use.prototype.is_by_value
        if known.declared.is_another(path, use, head) or (is_by_value and not (head.runs_on or head.is_void)):
            continue
        owner = use.qualifier or (use.classes[-1] if use.classes else "")
        same = head.parameters == use.arguments and (owner == head.owner or (head.is_qualified and not owner))
        if same and head.is_seen_in(path):
            message = f"a declaration of `{use.name}`, which is a coroutine from here on: its types must be the same"
            instead = f"the head of `{use.name}` as it is at {known.places[head]}"
            return [Note(Hazard.FORWARD_DECLARATION, use.span, "", message, instead, is_open=True)]
    return []


def _declare_coroutine(prototype: Prototype, head: Head, text: str, settings: Settings, edits: Edits) -> None:
    for span, instead in prototype.edits:
        edits.replace(span, instead)
    if prototype.void is not None:
        edits.replace(prototype.void, detached(library_in(text, settings), settings))
    if head.changes(settings):
        edits.insert_argument(prototype.inside, spelled_in(text, settings), is_alone=not head.parameters)
