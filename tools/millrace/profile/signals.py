"""Reads the samples that a program has taken of itself by a signal (flow/inspect/detail/signal_sampler.h)."""

from __future__ import annotations

import bisect
import re
from array import array
from pathlib import Path

from millrace.profile.record import Parts
from millrace.profile.samples import Place, Profile

PERIOD = 0.000997  # seconds of processor time between two samples, where the machine's clock ticks that often

_MAP = re.compile(r"([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) \S+ \d+\s+(\S.*)$")


class Maps:
    """Which file is where in the memory of a program: /proc/PID/maps."""

    def __init__(self, text: str) -> None:
        found = (_MAP.match(line) for line in text.splitlines())
        self._ranges = sorted((int(m[1], 16), int(m[2], 16), int(m[3], 16), m[4]) for m in found if m)
        self._starts = [start for start, *_ in self._ranges]

    def place(self, address: int, parts: Parts) -> Place:
        index = bisect.bisect_right(self._starts, address) - 1
        if index < 0 or address >= self._ranges[index][1]:
            return Place("[unknown]", None, "")
        start, _, offset, file = self._ranges[index]
        return Place(file, parts.address(file, address - start + offset), "")


def read(file: Path) -> Profile:
    """A file that is not whole gives what it has."""
    return parsed(file.read_bytes(), Path(f"{file}.maps").read_text(encoding="utf-8", errors="replace"))


def answered(body: bytes) -> Profile:
    """What a console gives for /samples."""
    length, _, rest = body.partition(b"\n")
    return parsed(rest[int(length) :], rest[: int(length)].decode(errors="replace"))


def parsed(data: bytes, maps_text: str) -> Profile:
    words = array("Q")
    words.frombytes(data[: len(data) // 8 * 8])
    maps = Maps(maps_text)
    parts = Parts()
    result = Profile()
    known: dict[int, Place] = {}
    at = 0
    while at < len(words) and words[at]:
        count = words[at]
        addresses = words[at + 1 : at + 1 + count]
        at += 1 + count
        # What a frame will return to is behind the call: the byte before belongs to it.
        wanted = [address - (index > 0) for index, address in enumerate(addresses)]
        for address in wanted:
            if address not in known:
                known[address] = maps.place(address, parts)
        result.add(tuple(known[address] for address in reversed(wanted)), 1)
    return result
