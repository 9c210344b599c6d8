"""The members of a frame as rows of bytes, which templates/page.html.j2 draws."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from actorc_frames.layout import KINDS, Layout

BYTES = 8  # in a row of a frame


@dataclass(frozen=True, slots=True)
class Piece:
    """The bytes of a member in one row; a member has its name in the widest."""

    count: int
    kind: str
    text: str
    says: str


def rows_of_bytes(layout: Layout) -> list[list[Piece]]:
    rows: list[list[Piece]] = [[] for _ in range(-(-layout.block // BYTES))]
    for member in layout.members:
        starts = [member.offset, *range((member.offset // BYTES + 1) * BYTES, member.end, BYTES)]
        counts = [end - start for start, end in zip(starts, [*starts[1:], member.end], strict=True)]
        name, named = member.name or member.kind, counts.index(max(counts))
        says = f"{name}: {member.size} bytes at {member.offset}, {member.type or KINDS[member.kind]}"
        for place, (start, count) in enumerate(zip(starts, counts, strict=True)):
            rows[start // BYTES].append(Piece(count, member.kind, name if place == named else "", says))
    return rows


def kinds_of(layouts: Iterable[Layout]) -> dict[str, str]:
    """Those that occur, and what they mean."""
    present = {member.kind for layout in layouts for member in layout.members}
    return {kind: meaning for kind, meaning in KINDS.items() if kind in present}
