"""The lines that a migration changes. The edits are known, so only edited places are compared."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from actorc.records import dataclass
from actorc.syntax import Span
from actorc_migrate.results import FileResult

_CONTEXT = 3
_MOST_COMPARED = 4000  # lines of one change; a longer change is shown as removed and added


@dataclass(frozen=True, slots=True)
class Block:
    """Lines `[i1, i2)` before and `[j1, j2)` after, counted from 0."""

    is_equal: bool
    i1: int
    i2: int
    j1: int
    j2: int


Hunk = list[Block]


class Lines:
    """A text as lines, each without its line end."""

    def __init__(self, text: str) -> None:
        self.all = text.split("\n")
        self.ends_with_line_end = not self.all[-1]
        if self.ends_with_line_end:
            self.all.pop()
        self.all = [line.removesuffix("\r") for line in self.all]
        self._starts = [0]
        for line in text.split("\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)

    def __len__(self) -> int:
        return len(self.all)

    def at(self, offset: int) -> int:
        return bisect_right(self._starts, offset) - 1

    def is_start(self, offset: int) -> bool:
        return self._starts[self.at(offset)] == offset


def hunks(file: FileResult) -> list[Hunk]:
    """Changed lines with three lines around them; changes that are near to each other in one."""
    before, after = Lines(file.source.text), Lines(file.text)
    return list(_grouped(list(_blocks(file.changes, before, after)), len(before), len(after)))


def unified(file: FileResult) -> str:
    """As `git diff` prints it, so that `git apply` and `patch` take it."""
    found = hunks(file)
    if not file.is_changed:
        return ""
    old, new = _relative(file.path), _relative(file.new_path)
    out = [f"diff --git a/{old} b/{new}"]
    if new != old:
        out += [f"rename from {old}", f"rename to {new}"]
    if file.is_link:
        out.append("index 0000000..1111111 120000")
    if found:
        out += [f"--- a/{old}{_end_of(old)}", f"+++ b/{new}{_end_of(new)}"]
    before, after = _raw_lines(file.source.text), _raw_lines(file.text)
    for hunk in found:
        first, last = hunk[0], hunk[-1]
        out.append(f"@@ -{_range(first.i1, last.i2)} +{_range(first.j1, last.j2)} @@")
        for block in hunk:
            if block.is_equal:
                out += _marked(" ", before, block.i1, block.i2)
            else:
                out += _marked("-", before, block.i1, block.i2)
                out += _marked("+", after, block.j1, block.j2)
    return "".join(line + "\n" for line in out)


def _relative(path: str) -> str:
    """To the working directory; of what is not below that, to the root of all."""
    found = os.path.relpath(path)
    if found.startswith(".."):
        found = os.path.relpath(os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path)))
    return os.path.abspath(path).lstrip("/") if found.startswith("..") else found


def _end_of(name: str) -> str:
    """`patch` takes a blank for the end of a name, unless there is a tab."""
    return "\t" if " " in name else ""


def _raw_lines(text: str) -> list[str]:
    """Each without its LF, and with its CR; the last has a mark if no LF ends it."""
    lines = text.split("\n")
    if lines[-1]:
        lines[-1] += "\n\\ No newline at end of file"
    else:
        lines.pop()
    return lines


def _marked(mark: str, lines: Sequence[str], first: int, end: int) -> list[str]:
    return [mark + line for line in lines[first:end]]


def _range(first: int, end: int) -> str:
    count = end - first
    if count == 1:
        return str(first + 1)
    return f"{first + 1 if count else first},{count}"


def _blocks(changes: Sequence[tuple[Span, str]], before: Lines, after: Lines) -> Iterator[Block]:
    """What differs, in order."""
    for i1, i2, j1, j2 in _touched(changes, before, after):
        old, new = before.all[i1:i2], after.all[j1:j2]
        if old == new:
            continue
        if len(old) > _MOST_COMPARED or len(new) > _MOST_COMPARED:
            yield Block(False, i1, i2, j1, j2)
            continue
        for tag, a1, a2, b1, b2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if tag != "equal":
                yield Block(False, i1 + a1, i1 + a2, j1 + b1, j1 + b2)


def _touched(changes: Sequence[tuple[Span, str]], before: Lines, after: Lines) -> Iterator[tuple[int, int, int, int]]:
    """The lines that changes touch, before and after; those that share a line together."""
    shift = 0
    group: tuple[int, int, int, int] | None = None
    for span, text in changes:
        start, end = span.start + shift, span.start + shift + len(text)
        shift += len(text) - (span.end - span.start)
        whole = before.is_start(span.start) and before.is_start(span.end) and after.is_start(start)
        whole = whole and after.is_start(end)
        more = 0 if whole else 1
        now = before.at(span.start), before.at(span.end) + more, after.at(start), after.at(end) + more
        if group is not None and now[0] <= group[1]:
            group = group[0], max(group[1], now[1]), group[2], max(group[3], now[3])
        else:
            if group is not None:
                yield group
            group = now
    if group is not None:
        yield (
            min(group[0], len(before)),
            min(group[1], len(before)),
            min(group[2], len(after)),
            min(group[3], len(after)),
        )


def _grouped(blocks: Sequence[Block], before: int, after: int) -> Iterator[Hunk]:
    hunk: Hunk = []
    for number, block in enumerate(blocks):
        if not hunk:
            count = min(_CONTEXT, block.i1, block.j1)
            if count:
                hunk.append(Block(True, block.i1 - count, block.i1, block.j1 - count, block.j1))
        hunk.append(block)
        following = blocks[number + 1] if number + 1 < len(blocks) else None
        if following is not None and following.i1 - block.i2 <= 2 * _CONTEXT:
            if following.i1 > block.i2:
                hunk.append(Block(True, block.i2, following.i1, block.j2, following.j1))
            continue
        count = min(_CONTEXT, before - block.i2, after - block.j2)
        if count:
            hunk.append(Block(True, block.i2, block.i2 + count, block.j2, block.j2 + count))
        yield hunk
        hunk = []
