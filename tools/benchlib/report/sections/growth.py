"""The cost of one actor by the number of actors, and the memory of one that waits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchlib.growth.series import FLOORS, Series, limits, steps
from millrace.bench.results import TITLES
from millrace.pages.model import Axis, Chart, Line, Missing, Remarks, Section, log_axis, role, sizes_axis


@dataclass(frozen=True, slots=True)
class Growth:
    """What tools/bench growth measures with one compiler."""

    series: tuple[Series, ...]
    floors: tuple[Series, ...]
    doubles: bool = True  # each N is twice the one before


_TITLES = {
    "NET2": "NET2: delay(0) at a random priority",
    "callback": "callback: all wait for one future",
    "cancel": "cancel: dropped while they wait",
}
_FLOOR_TITLES = {FLOORS["actor"]: "function pointer in a queue", FLOORS["coroutine"]: "bare coroutine in a queue"}


def section(found: Mapping[str, Growth | Missing]) -> Section:
    result = Section(
        "growth",
        "Cost against N",
        "What one actor costs when there are N of them, both axes logarithmic: a flat line means that many cost no "
        "more each than few. Grey lines are the floor: a function pointer or a bare coroutine in an "
        "intrusive queue; where they rise too, it is the machine's memory.",
    )
    growths = {compiler: one for compiler, one in found.items() if isinstance(one, Growth)}
    result.parts += [one for one in found.values() if isinstance(one, Missing)]
    works = dict.fromkeys(one.benchmark for growth in growths.values() for one in growth.series)
    for work in works:
        lines = _lines(growths, work)
        if lines:
            result.parts.append(_chart(work, lines))
    for compiler, growth in growths.items():
        said = limits(growth.series) + (steps(growth.series, growth.floors) if growth.doubles else [])
        many = len(growths) > 1
        if said:
            result.parts.append(Remarks(tuple(f"{compiler}: {line}" if many else line for line in said)))
    return result


def _lines(growths: Mapping[str, Growth], work: str) -> list[Line]:
    lines = []
    for index, (compiler, growth) in enumerate(growths.items()):
        # The floors of one compiler are enough to see the effect of the machine.
        for one in (*growth.series, *(growth.floors if index == 0 else ())):
            if one.benchmark != work or not one.cost:
                continue
            title = _FLOOR_TITLES.get(one.style, TITLES.get(one.style, one.style))
            name = f"{title}, {compiler}" if len(growths) > 1 else title
            points = tuple((float(size), one.cost[size]) for size in sorted(one.cost))
            second = index > 0 or one.style == FLOORS["coroutine"]
            lines.append(Line(name, role(one.style), points, dashed=second))
    return lines


def _chart(work: str, lines: list[Line]) -> Chart:
    sizes = [float(x) for line in lines for x, _ in line.points]
    costs = [float(y) for line in lines for _, y in line.points]
    if work == "waiting":
        title, says, y = (
            "Memory of one that waits",
            "Resident bytes of the process for each actor that waits. Lower is better; a step is memory that the "
            "allocator takes from the system in one piece.",
            Axis("bytes per actor"),
        )
    else:
        title = _TITLES.get(work, work)
        says = "Nanoseconds for each of N actors. Look for where a line leaves its floor, and for steps."
        y = log_axis("ns per actor", costs)
    return Chart(f"growth-{work}", title, says, "lines", sizes_axis(sizes), y, tuple(lines))
