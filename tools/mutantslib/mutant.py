"""Mutants: small wrong changes of sources, and how they are planted in copies of these.

The text after a change says PLANTED where the change is to be made only if the mutant is on: so many mutants are
compiled at once, and MILLRACE_MUTANT in the environment switches on one of them (planted.h). A mutant without that word
is planted alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from common.tree import ROOT
from millrace.common.failure import Failure

VARIABLE = "MILLRACE_MUTANT"
HEADER = ROOT / "tests" / "sim" / "planted.h"
_SWITCH = "PLANTED"


@dataclass(frozen=True, slots=True)
class Mutant:
    """One place of a mutant. Several with one name are planted together."""

    name: str
    file: str
    before: str  # stands there once
    after: str
    reason: str = ""  # why no test has to find it

    @property
    def is_switched(self) -> bool:
        return _SWITCH in self.after

    def planted(self, text: str) -> str:
        """The text of the file with the change in it."""
        if count := wrong_count(self, text):
            raise Failure(count)
        return text.replace(self.before, self.after.replace(_SWITCH, f'planted::isOn("{self.name}")'))

    def digest(self) -> str:
        return hashlib.sha256("\0".join((self.file, self.before, self.after)).encode()).hexdigest()[:16]


def wrong_count(mutant: Mutant, text: str) -> str:
    """What is wrong if the text before the change does not stand in the file exactly once."""
    found = text.count(mutant.before)
    if found == 1:
        return ""
    where = "is not there" if not found else f"is there {found} times"
    return f"the place of the mutant {mutant.name} {where}: {mutant.before.strip().splitlines()[0].strip()}"


def planted(text: str, mutants: Iterable[Mutant], header: str) -> str:
    """A source with those of its mutants that can be switched on; `header` is the path by which it includes
    planted.h."""
    chosen = [mutant for mutant in mutants if mutant.is_switched]
    for mutant in chosen:
        text = mutant.planted(text)
    return f'#include "{header}"\n#line 1\n{text}' if chosen else text
