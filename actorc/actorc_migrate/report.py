"""The report of a migration on a terminal.

queue.actor.cpp:14:9: H2: `lock` lives on to the end of its block
    Lock lock(mutex);
         ^~~~
    instead: a block that ends before the wait
"""

from __future__ import annotations

from collections.abc import Iterator

from actorc.report.report import PLAIN, Palette, in_one_line, located, printable
from actorc_frames.tables import aligned, indented
from actorc_migrate.document import Totals, totals
from actorc_migrate.notes import Hazard
from actorc_migrate.results import FileResult, Result, Status

_INDENT = 4
_ACTOR_STATUSES = (Status.MIGRATED, Status.KEPT, Status.REJECTED, Status.REFUSED)


def as_text(result: Result, palette: Palette = PLAIN) -> str:
    """Everything: what becomes of each file, where the reader must look, and the figures."""
    parts = ["".join(line + "\n" for line in _renames(result))]
    parts += ["".join(line + "\n" for line in _details(file, palette)) for file in result.files]
    parts.append(summary(result))
    return "\n".join(filter(None, parts))


def _renames(result: Result) -> Iterator[str]:
    for file in result.files:
        path = printable(file.path)
        if file.status in (Status.MIGRATED, Status.RELINKED) and file.new_path != file.path:
            yield f"{path} -> {printable(file.new_path)}"
        elif file.status in _ACTOR_STATUSES:
            yield f"{path} stays: {file.reason}"
        elif file.status in (Status.UPDATED, Status.RELINKED):
            yield f"{path} is updated"


def _details(file: FileResult, palette: Palette) -> Iterator[str]:
    source = file.source
    told = file.status in (Status.REJECTED, Status.REFUSED)
    for outcome in () if told else file.left:
        message = f"actor `{outcome.name}` stays: {in_one_line(outcome.left)}"
        yield from located("left:", message, outcome.span, source, palette.error, palette)
    for note in file.notes:
        kind, message = f"{note.hazard.code}:", in_one_line(note.message)
        yield from located(kind, message, note.span, source, palette.warning, palette)
        if note.instead:
            yield indented(f"{palette.hint}instead:{palette.end} {printable(in_one_line(note.instead))}", _INDENT)
    for place in file.places:
        yield from located("look:", in_one_line(place.message), place.span, source, palette.note, palette)


def summary(result: Result) -> str:
    counted = totals(result)
    lines = [*_figures(result, counted)]
    if counted.hazards:
        lines += ["", "places to look at, by hazard:"]
        rows = [
            [hazard.code, str(counted.hazards[hazard]), hazard.title] for hazard in Hazard if hazard in counted.hazards
        ]
        lines.append(indented(aligned(rows, right=(1,)), 2))
    if result.frames:
        lines += ["", "frames, in bytes:"]
        table = [["actor", "compiler", "before", "after"]]
        table += [[each.actor, each.compiler, str(each.before), str(each.after)] for each in result.frames]
        lines.append(indented(aligned(table, right=(2, 3)), 2))
    if result.by_hand:
        lines += ["", f"{_counted(result.by_hand, 'declaration')} must be changed by hand (H11)"]
    return "".join(line + "\n" for line in lines)


def _figures(result: Result, counted: Totals) -> Iterator[str]:
    statuses = [(status, counted.files[status.value]) for status in Status if status is not Status.UNCHANGED]
    if not any(counted.files[status.value] for status in _ACTOR_STATUSES):
        yield "there are no actor files"
    listed = ", ".join(f"{count} {status.value}" for status, count in statuses if count)
    yield f"{_counted(len(result.files), 'file')}{': ' + listed if listed else ''}"
    if counted.migrated or counted.left:
        yield f"{_counted(counted.migrated + counted.left, 'actor')}: {counted.migrated} migrated, {counted.left} left"
    if counted.constructs:
        yield "converted: " + ", ".join(f"{count} {name}" for name, count in counted.constructs.most_common())


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
