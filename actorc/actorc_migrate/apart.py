"""Actors with a declaration or definition in a file that is not given. Both must take parameters alike."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from actorc_migrate.actors import Head, belong_together
from actorc_migrate.notes import Hazard, Note

_DECLARED = re.compile(r"\bACTOR\b[^;{}]*?(\w+)\s*\([^;{}]*\)\s*;")
_HIGHEST = 12  # folders above a file that may be one from which headers are included


def notes_of(path: str, heads: Sequence[Head], known: dict[str, list[Head]], absent: Sequence[str]) -> Iterator[Note]:
    """Of the actors of one file. `known` are those of all given files by name, `absent` the actor headers that it
    includes and that are not given."""
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
            message = (
                f"`{head.name}` is declared in {header}, which is not given, and takes its parameters in another way"
            )
            yield Note(Hazard.FORWARD_DECLARATION, head.name_span, "", message, f"{header}, migrated too")


def _declared_in(header: str, by: str) -> list[str]:
    folder = os.path.dirname(by)
    for _ in range(_HIGHEST):
        for below in ("", "include"):
            try:
                with open(os.path.join(folder, below, header), encoding="utf-8", errors="replace") as file:
                    return _DECLARED.findall(file.read())
            except OSError:
                continue
        if os.path.realpath(folder) == "/":
            break
        folder = os.path.join(folder, os.pardir)
    return []
