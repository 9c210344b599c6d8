"""Why a file could not be compiled although it may be right."""

from __future__ import annotations

from actorc.records import dataclass


@dataclass(frozen=True, slots=True)
class Failure:
    path: str
    kind: str  # "file": one cannot be read or written; "internal": a fault of actorc itself
    message: str
