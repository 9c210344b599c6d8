"""Instructions over revisions, a chart for each work."""

from __future__ import annotations

from collections.abc import Sequence

from benchlib.report.history import Point
from millrace.bench.results import STYLES, TITLES, parse_name
from millrace.bench.tables import more, number
from millrace.pages.model import Axis, Chart, Line, Missing, Section, role

TICKS = 5
SAME = 0.0005  # the difference of one in the last digit of a count
ROOM = 0.08  # of the values above and below them: a difference of one per cent is then seen as small


def section(found: Sequence[Point]) -> Section:
    result = Section(
        "history",
        "Over revisions",
        "Instructions per item by each version of bench/baseline.json, the oldest on the left: a step is a change that "
        "won or cost something, and the hash says which to look at.",
    )
    if not found:
        result.parts.append(Missing("There are no counts in git: `tools/bench check --update` makes them."))
    result.parts += [
        _chart(label, found) for label in dict.fromkeys(label for point in found for label in _labels(point))
    ]
    return result


def _labels(point: Point) -> list[str]:
    return [parse_name(name).label for counts in point.counts.values() for name in counts]


def _chart(label: str, found: Sequence[Point]) -> Chart:
    known = [point for point in found if label in _labels(point)]
    compilers = list(dict.fromkeys(compiler for point in known for compiler in point.counts))
    lines = []
    for compiler in compilers:
        for style in STYLES[:2]:
            counted = [point.counts.get(compiler, {}).get(f"{label}/{style}") for point in known]
            points = tuple((float(place), count) for place, count in enumerate(counted) if count is not None)
            title = TITLES.get(style, style)
            if points:
                said = f"{title}, {compiler}" if len(compilers) > 1 else title
                lines.append(Line(said, role(style), points, dashed=compiler != compilers[0]))
    values = [float(y) for line in lines for _, y in line.points]
    step = max(1, -(-len(known) // TICKS))
    ticks = tuple((float(place), point.commit[:7]) for place, point in enumerate(known) if place % step == 0)
    names = tuple(f"{point.commit[:7]} {point.date} {point.subject}" for point in known)
    ends = (min(values) * (1 - ROOM), max(values) * (1 + ROOM))
    return Chart(
        f"history-{label.replace('/', '-')}",
        label,
        _says(lines, known[0], known[-1]),
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
