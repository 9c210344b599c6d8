"""What `convert` makes of the actors in a text, without all that surrounds them."""

from __future__ import annotations

from dataclasses import dataclass

from actorc.diagnostics import Diagnostics
from actorc.driver import analyse
from actorc.source import Source
from actorc_migrate.convert import convert
from actorc_migrate.edits import Edits
from actorc_migrate.notes import Note
from actorc_migrate.settings import Settings


@dataclass(frozen=True)
class Converted:
    text: str
    notes: tuple[Note, ...]
    left: dict[str, str]  # why actors stay

    @property
    def codes(self) -> list[str]:
        return [note.hazard.code for note in self.notes]

    def note(self, code: str) -> Note:
        (found,) = (note for note in self.notes if note.hazard.code == code)
        return found


def converted(text: str, style: str = "exact", target: str = "flow") -> Converted:
    source, edits, found = Source("given.actor.cpp", text), Edits(text), Diagnostics()
    file = analyse(source, found)
    assert not found.errors, [each.message for each in found.errors]
    conversion = convert(file, source, Settings(target, style), edits)
    left = {outcome.name: outcome.left for outcome in conversion.outcomes if outcome.left}
    return Converted(edits.result(), conversion.notes, left)
