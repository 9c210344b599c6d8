"""The reason why a file was not compiled, apart from errors in it."""

from __future__ import annotations

from actorc.records import dataclass


@dataclass(frozen=True, slots=True)
class Failure:
    path: str
    kind: str  # "file": one cannot be read or written; "internal": a fault of actorc itself
    message: str
