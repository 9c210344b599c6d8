"""What a migration is to make."""

from __future__ import annotations

from actorc.records import dataclass

TARGETS = ("flow", "foundationdb")  # the coroutine libraries that the result can be written for
STYLES = ("exact", "idiomatic")


@dataclass(frozen=True, slots=True)
class Settings:
    """`exact`: the program means what it meant, to the letter. `idiomatic`: what a good engineer would write; where its
    meaning could differ, a note says so."""

    target: str = TARGETS[0]
    style: str = STYLES[0]
    qualifies: bool = False  # some of the given files write `flow::` in front of names of the library

    @property
    def is_exact(self) -> bool:
        return self.style == "exact"

    @property
    def is_foundationdb(self) -> bool:
        return self.target == "foundationdb"
