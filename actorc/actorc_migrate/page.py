"""The report of a migration for reviewers: one HTML page with every changed place and a box to tick."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from actorc import __version__
from actorc.records import dataclass
from actorc_migrate.diff import Block, Hunk, Lines, hunks
from actorc_migrate.document import totals
from actorc_migrate.notes import Hazard
from actorc_migrate.results import FileResult, Result

_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_LEAST_ALIKE = 0.3  # of two lines that are shown side by side with their words marked
_AROUND = 2  # lines above and below a place that nothing changes
_LONGEST = 400  # the longest line for which words are compared


@dataclass(frozen=True, slots=True)
class Row:
    """One line before and after; a side without a line has no number."""

    kind: str  # s(ame), c(hanged), r(emoved) or a(dded): there are very many of them
    old: str  # its number, or nothing
    left: Markup
    new: str
    right: Markup


@dataclass(frozen=True, slots=True)
class Remark:
    code: str  # of a hazard; "left" or "look" otherwise
    place: str
    actor: str
    message: str
    instead: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A hunk on the page. Its key stays the same as long as its text does, so that what was ticked off stays so."""

    key: str
    lines: str
    actors: list[str]
    codes: str
    remarks: list[Remark]
    rows: list[Row]


@dataclass(frozen=True, slots=True)
class Section:
    file: FileResult
    title: str
    hunks: list[Shown]


def as_html(result: Result) -> str:
    environment = Environment(
        loader=FileSystemLoader(os.path.dirname(__file__)),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    counted = totals(result)
    met = [(hazard, counted.hazards[hazard]) for hazard in Hazard if hazard in counted.hazards]
    sections = [section for file in result.files if (section := _section(file)) is not None]
    return environment.get_template("page.html.j2").render(
        result=result,
        version=__version__,
        totals=counted,
        hazards=met,
        sections=sections,
        left=[(file, outcome, _line(file, outcome.span.start)) for file in result.files for outcome in file.left],
        constructs=counted.constructs.most_common(),
    )


def _section(file: FileResult) -> Section | None:
    remarks = list(_remarks(file))
    found = hunks(file) if file.is_changed else []
    if not found and not remarks and file.new_path == file.path:
        return None
    title = file.path if file.path == file.new_path else f"{file.path} → {file.new_path}"
    before, after = Lines(file.source.text), Lines(file.text)
    borders = {_line(file, outcome.span.end) for outcome in file.outcomes}
    apart = [part for hunk in found for part in _by_actor(hunk, borders)]
    covered = _with_places(apart, [line for line, _ in remarks], len(before))
    return Section(file, title, [_shown(hunk, remarks, file, before, after) for hunk in covered])


def _by_actor(hunk: Hunk, borders: Collection[int]) -> Iterator[Hunk]:
    """A hunk cut behind the last line of each actor, so that each can be ticked off by itself."""
    part: Hunk = []
    for block in hunk:
        first = block
        for line in sorted(border for border in borders if block.i1 < border <= block.i2):
            if first.is_equal:
                part.append(Block(True, first.i1, line, first.j1, first.j1 + line - first.i1))
                first = Block(True, line, first.i2, first.j1 + line - first.i1, first.j2)
            elif line == first.i2:
                part.append(first)
                first = Block(True, first.i2, first.i2, first.j2, first.j2)
            else:
                continue
            yield from _with_change(part)
            part = []
        if first.i2 > first.i1 or first.j2 > first.j1:
            part.append(first)
    yield from _with_change(part)


def _with_change(part: Hunk) -> Iterator[Hunk]:
    if any(not block.is_equal for block in part):
        yield part


def _line(file: FileResult, offset: int) -> int:
    return file.source.line(min(offset, len(file.source.text)))


def _remarks(file: FileResult) -> Iterator[tuple[int, Remark]]:
    """Each with its line, counted from 0."""

    def at(offset: int) -> tuple[int, str]:
        line, column = file.source.line_column(offset)
        return line - 1, f"{file.path}:{line}:{column}"

    for outcome in file.left:
        line, place = at(outcome.span.start)
        yield line, Remark("left", place, outcome.name, f"stays an actor: {outcome.left}", "")
    for note in file.notes:
        line, place = at(note.span.start)
        yield line, Remark(note.hazard.code, place, note.actor, note.message, note.instead)
    for look in file.places:
        line, place = at(look.span.start)
        yield line, Remark("look", place, "", look.message, "")


def _with_places(found: Sequence[Hunk], lines: Sequence[int], count: int) -> list[Hunk]:
    """The hunks, and a few lines around each place that is in none of them."""
    all_ = list(found)
    for line in sorted(set(lines)):
        if any(hunk[0].i1 <= line < hunk[-1].i2 for hunk in all_):
            continue
        shift = 0
        for hunk in found:
            if hunk[-1].i2 <= line:
                shift = hunk[-1].j2 - hunk[-1].i2
        first, end = max(0, line - _AROUND), min(count, line + _AROUND + 1)
        all_.append([Block(True, first, end, first + shift, end + shift)])
    return sorted(all_, key=lambda hunk: hunk[0].i1)


def _shown(hunk: Hunk, remarks: Sequence[tuple[int, Remark]], file: FileResult, before: Lines, after: Lines) -> Shown:
    mine = [remark for line, remark in remarks if hunk[0].i1 <= line < hunk[-1].i2]
    rows = [row for block in hunk for row in _rows(block, before, after)]
    digest = hashlib.sha256(file.path.encode(errors="replace"))
    for row in rows:
        digest.update(f"{row.kind}\0{row.left}\0{row.right}\n".encode(errors="replace"))
    codes = " ".join(dict.fromkeys(remark.code for remark in mine))
    first, end = hunk[0].i1 + 1, hunk[-1].i2
    names = [
        outcome.name
        for outcome in file.outcomes
        if _line(file, outcome.span.start) <= end and first <= _line(file, outcome.span.end)
    ]
    lines = f"line {first}" if end <= first else f"lines {first} to {end}"
    return Shown(digest.hexdigest()[:16], lines, list(dict.fromkeys(filter(None, names))), codes, mine, rows)


def _rows(block: Block, before: Lines, after: Lines) -> Iterator[Row]:
    old, new = before.all[block.i1 : block.i2], after.all[block.j1 : block.j2]
    for index in range(max(len(old), len(new))):
        left = old[index] if index < len(old) else None
        right = new[index] if index < len(new) else None
        numbers = (
            str(block.i1 + index + 1) if left is not None else "",
            str(block.j1 + index + 1) if right is not None else "",
        )
        if block.is_equal:
            text = Markup.escape(left or "")
            yield Row("s", numbers[0], text, numbers[1], text)
        elif left is None or right is None:
            kind = "a" if left is None else "r"
            yield Row(kind, numbers[0], Markup.escape(left or ""), numbers[1], Markup.escape(right or ""))
        else:
            marked = _marked(left, right)
            yield Row("c", numbers[0], marked[0], numbers[1], marked[1])


def _marked(left: str, right: str) -> tuple[Markup, Markup]:
    """Two lines with the words that differ marked."""
    old, new = _WORD.findall(left), _WORD.findall(right)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if max(len(left), len(right)) > _LONGEST or matcher.ratio() < _LEAST_ALIKE:
        return Markup.escape(left), Markup.escape(right)
    sides = (Markup(""), Markup(""))
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        texts = "".join(old[i1:i2]), "".join(new[j1:j2])
        sides = (sides[0] + _part(tag, texts[0]), sides[1] + _part(tag, texts[1]))
    return sides


def _part(tag: str, text: str) -> Markup:
    return Markup.escape(text) if tag == "equal" or not text else Markup("<mark>{}</mark>").format(text)
