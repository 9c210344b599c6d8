"""Instructions over revisions, a chart for each work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchlib.report.history import Point
from benchlib.report.model import Axis, Chart, Line, Missing, Section, role
from benchlib.results import STYLES, TITLES, parse_name
from benchlib.tables import more, number

TICKS = 5
SAME = 0.0005  # the difference of one in the last digit of a count
ROOM = 0.08  # of the values above and below them: a difference of one per cent is then seen as small


def section(found: Mapping[str, Sequence[Point]], not_counted: Sequence[Missing]) -> Section:
    result = Section(
        "history",
        "Over revisions",
        "Instructions per item of each revision that was counted, the oldest on the left: a step is a change that won "
        "or cost something, and the hash says which to look at.",
    )
    result.parts += not_counted
    histories = {compiler: one for compiler, one in found.items() if one}
    if not histories:
        result.parts.append(Missing("No revision has been counted yet: a report of sources as committed counts one."))
    every = {point.commit: point for history in histories.values() for point in history}
    order = sorted(every, key=lambda commit: every[commit].place)
    labels = dict.fromkeys(parse_name(name).label for history in histories.values() for name in _names(history))
    for label in labels:
        result.parts.append(_chart(label, histories, order, every))
    return result


def _names(history: Sequence[Point]) -> list[str]:
    return [name for point in history for name in point.counts]


def _has(point: Point, commit: str, label: str) -> bool:
    return point.commit == commit and any(parse_name(name).label == label for name in point.counts)


def _chart(
    label: str, histories: Mapping[str, Sequence[Point]], order: Sequence[str], every: Mapping[str, Point]
) -> Chart:
    known = [
        commit for commit in order if any(_has(point, commit, label) for one in histories.values() for point in one)
    ]
    lines = []
    for index, (compiler, history) in enumerate(histories.items()):
        for style in STYLES[:2]:
            name = f"{label}/{style}"
            counted = {point.commit: point.counts[name] for point in history if name in point.counts}
            points = tuple((float(place), counted[commit]) for place, commit in enumerate(known) if commit in counted)
            title = TITLES.get(style, style)
            if points:
                said = f"{title}, {compiler}" if len(histories) > 1 else title
                lines.append(Line(said, role(style), points, dashed=index > 0))
    values = [float(y) for line in lines for _, y in line.points]
    names = tuple(f"{commit[:7]} {every[commit].date} {every[commit].subject}" for commit in known)
    step = max(1, -(-len(known) // TICKS))
    ticks = tuple((float(place), commit[:7]) for place, commit in enumerate(known) if place % step == 0)
    ends = (min(values) * (1 - ROOM), max(values) * (1 + ROOM))
    return Chart(
        f"history-{label.replace('/', '-')}",
        label,
        _says(lines, every[known[0]], every[known[-1]]),
        "lines",
        Axis("", ticks=ticks, names=names, range=(-0.4, len(known) - 0.6)),
        Axis("instructions per item", range=ends),
        tuple(lines),
    )


def _says(lines: Sequence[Line], first: Point, last: Point) -> str:
    """The change since the oldest count."""
    if first.commit == last.commit:
        return f"{first.commit[:7]} is the only revision counted so far."
    parts = []
    for line in lines:
        old, new = float(line.points[0][1]), float(line.points[-1][1])
        same = abs(new / old - 1) < SAME if old else new == old
        parts.append(
            f"{line.name} stays at {number(new)}"
            if same
            else f"{line.name} {number(old)} to {number(new)} ({more(old, new)})"
        )
    return f"From {first.commit[:7]} to {last.commit[:7]}: {'; '.join(parts)}."
