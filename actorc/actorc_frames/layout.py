"""The bytes of one waiting computation, as plain data.

Offsets count from the start of the block that the allocator gives: result, cell, frame, and what is left.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

# Kinds of members, and what they mean. The first four are in every frame.
KINDS = {
    "cell": "the waiters for the result, reference counts, the error",
    "header": "how to resume it and how to end it",
    "waiter": "where it is parked, and what it waits for",
    "result": "the value that the future will have",
    "parameter": "the author's parameters",
    "variable": "the author's variables that live across a wait",
    "wait": "what a wait needs besides: awaiters, the branches of a choose",
    "temporary": "temporaries that the compiler keeps across a wait",
    "index": "where to go on, and what else the compiler notes for itself",
    "padding": "nothing: for alignment",
    "rounding": "nothing: up to the allocator's next size",
}
FIXED = ("cell", "header", "waiter")
OWN = ("result", "parameter", "variable")

STATE_MACHINE = "state machine"
COROUTINE = "coroutine"

_FINE_LIMIT = 512
_LARGEST_BLOCK = 4096


def block_bytes(size: int) -> int:
    """The size of the block that FastAllocator gives for `size` bytes; `size` itself if no block is that large.

    As flow/memory/fast_allocator.h says; tests compare the two.
    """
    if size > _LARGEST_BLOCK:
        return size
    step = 16 if size <= _FINE_LIMIT else 1 << ((size - 1).bit_length() - 3)
    return max(step, -(-size // step) * step)


@dataclass(frozen=True, slots=True)
class Member:
    """Some bytes of a block."""

    name: str
    offset: int
    size: int
    kind: str
    type: str = ""

    @property
    def end(self) -> int:
        return self.offset + self.size


@dataclass(frozen=True, slots=True)
class Layout:
    """The block of one actor or coroutine as one compiler made it."""

    function: str
    file: str
    line: int
    style: str
    compiler: str
    size: int  # bytes that are requested from the allocator
    members: tuple[Member, ...]  # in order, without gaps, up to the end of the block

    @property
    def block(self) -> int:
        return block_bytes(self.size)

    def bytes_of(self, *kinds: str) -> int:
        return sum(member.size for member in self.members if member.kind in kinds)

    @property
    def own(self) -> int:
        """What the author asked for: result, parameters and variables."""
        return self.bytes_of(*OWN)

    @property
    def waste(self) -> int:
        """The bytes that are neither the author's nor the same in every frame, and could be saved."""
        return self.block - self.own - self.bytes_of(*FIXED)


def filled(members: Iterable[Member], size: int) -> tuple[Member, ...]:
    """The members in order, with the gaps between them and behind them."""
    found: list[Member] = []
    end = 0
    for member in sorted(members, key=lambda each: (each.offset, each.end)):
        if member.offset > end:
            found.append(Member("", end, member.offset - end, "padding"))
        if member.end > end:
            start = max(member.offset, end)  # a member that shares bytes with the one before follows it
            found.append(Member(member.name, start, member.end - start, member.kind, member.type))
            end = member.end
    if size > end:
        found.append(Member("", end, size - end, "padding"))
        end = size
    if block_bytes(size) > end:
        found.append(Member("", end, block_bytes(size) - end, "rounding"))
    return tuple(found)
