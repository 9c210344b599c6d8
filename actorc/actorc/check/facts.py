"""Facts about the whole file that each of its actors needs."""

from __future__ import annotations

import re

from actorc.records import dataclass
from actorc.syntax import File, all_actors

_EMITTED = re.compile(r"\wActor\d*(?:State)?$")
_CLASS_WORDS = frozenset({"struct", "class", "union", "enum"})


@dataclass(frozen=True, slots=True)
class Facts:
    nodiscard: bool  # the C++ compiler warns of calls that discard the future
    probes: bool  # state machines call the program's fdb_probe_actor_... functions
    is_header: bool  # several translation units may read the text, and must see the same classes
    classes: frozenset[str]  # names that are declared as classes, so that they cannot be names for Void
    emitted_names: frozenset[str]  # words of the file that may be names of classes that actors become
    static_members: frozenset[tuple[str, str]]  # class and name of actors that are declared static in their class


def facts_of(file: File, *, nodiscard: bool, probes: bool, is_header: bool) -> Facts:
    texts = file.words.texts
    classes = {texts[index + 1] for index, text in enumerate(texts) if text in _CLASS_WORDS}
    static = {
        (actor.enclosing_classes[-1], actor.name)
        for actor in all_actors(file.actors)
        if actor.is_static and actor.enclosing_classes
    }
    emitted = frozenset(text for text in set(texts) if _EMITTED.search(text))
    return Facts(nodiscard, probes, is_header, frozenset(classes), emitted, frozenset(static))
