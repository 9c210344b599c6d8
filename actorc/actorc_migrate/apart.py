"""Actors with a declaration or definition in a file that is not given. Both must take parameters alike."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence

from actorc_migrate.actors import Head, belong_together
from actorc_migrate.examine import prototypes_in
from actorc_migrate.notes import Hazard, Note
from actorc_migrate.prototypes import Prototype, likeness

_DECLARED = re.compile(r"\bACTOR\b[^;{}]*?(\w+)\s*\([^;{}]*\)\s*;")
_BY_HAND = "{} given, too, or changed by hand"
_HIGHEST = 12  # folders above a file that may be one from which headers are included


def notes_of(
    path: str,
    heads: Sequence[Head],
    known: dict[str, list[Head]],
    absent: Sequence[str],
    plain: Mapping[Head, tuple[str, Prototype]],
) -> Iterator[Note]:
    """Of the actors of one file. `known` are those of all given files by name, `absent` the actor headers that it
    includes and that are not given, `plain` what other such headers declare."""
    for head, (header, prototype) in plain.items():
        if prototype.edits or head.runs_on or head.is_void:
            yield Note(
                Hazard.FORWARD_DECLARATION, head.name_span, "", _not_given(head, header), _BY_HAND.format(header), True
            )
    headers = {name: header for header in absent for name in _declared_in(header, path)}
    for head in heads:
        partners = [other for other in known.get(head.name, ()) if belong_together(head, other)]
        if not head.is_definition and not any(other.is_definition for other in partners):
            message = f"`{head.name}` is defined in none of the given files, where its parameters must be the same"
            yield Note(
                Hazard.FORWARD_DECLARATION, head.name_span, "", message, "the file that defines it, migrated too"
            )
        elif head.is_definition and not partners and not head.is_local and head.name in headers:
            header = headers[head.name]
            message = _not_given(head, header)
            yield Note(Hazard.FORWARD_DECLARATION, head.name_span, "", message, f"{header}, migrated too")


def _not_given(head: Head, header: str) -> str:
    return f"`{head.name}` is declared in {header}, which is not given, and takes its parameters in another way"


def in_plain_headers(path: str, heads: Sequence[Head], headers: Sequence[str]) -> dict[Head, tuple[str, Prototype]]:
    """The actors that included headers declare which are not given: with the header, and what it says."""
    heads = [head for head in heads if head.is_definition and not head.is_local]
    names = {head.name for head in heads}
    found: dict[Head, tuple[str, Prototype]] = {}
    for header in headers if heads else ():
        for use in prototypes_in(_find(header, path), names):
            for head in heads:
                signature, prototype = head.signature, use.prototype
                if head.name == use.name and signature and prototype and likeness(prototype.signature, signature):
                    found[head] = header, prototype
    return found


def _declared_in(header: str, by: str) -> list[str]:
    try:
        with open(_find(header, by), encoding="utf-8", errors="replace") as file:
            return _DECLARED.findall(file.read())
    except OSError:
        return []


def _find(header: str, by: str) -> str:
    """Where an included file is; nothing if it is not found."""
    folder = os.path.dirname(by)
    for _ in range(_HIGHEST):
        for below in ("", "include"):
            path = os.path.join(folder, below, header)
            if os.path.isfile(path):
                return path
        if os.path.realpath(folder) == "/":
            break
        folder = os.path.join(folder, os.pardir)
    return ""
