"""Numbers that name an actor in traces and profiles, whichever build or machine they come from.

An identifier depends only on the source's path as the command line gives it, and on the actor's name. Overloads of one
name in one file share it.
"""

from __future__ import annotations

try:
    from _sha256 import sha256  # type: ignore[import-not-found]  # hashlib loads OpenSSL, which takes 2 ms
except ImportError:
    from hashlib import sha256

from actorc.source import Source
from actorc.syntax import File

_MASK = (1 << 64) - 1


def identifier(text: str) -> tuple[int, int]:
    """Two 64-bit numbers from the SHA-256 of `SOURCE:ACTOR`.

    The shift comes after each addition, so the first byte of each eight is lost and the lowest is 0. Tools that read
    these files expect that.
    """
    digest = sha256(text.encode("utf-8", errors="surrogateescape")).digest()
    return _folded(digest[:8]), _folded(digest[8:16])


def _folded(data: bytes) -> int:
    value = 0
    for byte in data:
        value = (value + byte << 8) & _MASK
    return value


def identifier_lines(file: File, source: Source) -> str:
    """`HI|LO|SOURCE:ACTOR` for every actor with a name that the file defines, in order."""
    lines = []
    for actor in file.actors:
        if actor.body is not None and actor.captures is None:
            name = f"{source.path}:{actor.name}"
            high, low = identifier(name)
            lines.append(f"{high}|{low}|{name}\n")
    return "".join(lines)
