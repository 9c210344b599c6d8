"""The tables of a profile of benchmarks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from millrace.bench.results import TITLES
from millrace.bench.tables import number
from millrace.common.table import Table
from millrace.profile.attribution import Spent, top_functions
from millrace.profile.causes import UNMAPPED, source_line

TINY = 0.0005  # of the total: a cause that takes less is not shown
LONGEST_SOURCE = 80  # characters of a line
SURE = 2.0  # standard errors: a smaller difference may be chance


def causes_table(title: str, spent: Mapping[str, Spent], order: Sequence[str], plain: bool) -> Table:
    """By style; with two or more, the difference of the second and the first."""
    result = Table(title, plain, optional=("%",))
    result.texts("cause, functions")
    for style in spent:
        result.numbers(TITLES.get(style, style) or "ns", "%")
    if len(spent) > 1:
        result.numbers("difference")
    for name, cells, is_minor in causes_rows(list(spent.values()), order):
        result.add_row(f"  · {name}" if is_minor else name, *cells, bold=not is_minor and name != "all")
    return result


def causes_rows(spent: Sequence[Spent], order: Sequence[str]) -> Iterator[tuple[str, list[str], bool]]:
    """A name, the cells after it, and whether it is a function of the cause above."""
    for cause in [*order, UNMAPPED]:
        if max((one.share(cause) for one in spent), default=0.0) < TINY and cause != UNMAPPED:
            continue
        yield cause, _cells(spent, [one.causes.get(cause, 0.0) for one in spent]), False
        for name in top_functions(spent, cause):
            yield name, _cells(spent, [one.functions.get((cause, name), 0.0) for one in spent]), True
    yield "all", _cells(spent, [one.total for one in spent]), False


def _cells(spent: Sequence[Spent], amounts: Sequence[float]) -> list[str]:
    cells = []
    for one, amount in zip(spent, amounts, strict=True):
        cells += [number(amount), f"{100 * amount / one.total:.1f}"] if amount else ["-", "-"]
    if len(spent) > 1:
        cells.append(difference(spent, amounts))
    return cells


def difference(spent: Sequence[Spent], amounts: Sequence[float]) -> str:
    """The difference of the second and the first; in brackets if it is not significant."""
    more = amounts[1] - amounts[0]
    unsure = SURE * math.hypot(spent[0].error(amounts[0]), spent[1].error(amounts[1]))
    text = "+0.00" if abs(more) < 0.005 else f"{more:+.2f}" if abs(more) < 10 else f"{more:+.1f}"
    return f"({text})" if abs(more) <= unsure and unsure else text


def summary(spent: Mapping[str, Spent]) -> str:
    """A sentence with the causes of most of the difference between the first two; none if there is only one."""
    if len(spent) < 2:
        return ""
    (first, a), (second, b) = list(spent.items())[:2]
    parts = {cause: b.causes.get(cause, 0.0) - a.causes.get(cause, 0.0) for cause in {*a.causes, *b.causes}}
    sure = {
        cause: more
        for cause, more in parts.items()
        if abs(more) > SURE * math.hypot(*(one.error(one.causes.get(cause, 0.0)) for one in (a, b)))
        and abs(more) >= 0.01 * a.total
    }
    largest = sorted(sure, key=lambda cause: -abs(sure[cause]))[:5]
    said = ", ".join(f"{cause} {sure[cause]:+.2f}" for cause in largest)
    names = (TITLES.get(second, second), TITLES.get(first, first))
    return f"{names[0]} against {names[1]}: {b.total - a.total:+.2f} ns an item" + (f"; {said}" if said else "")


def lines_table(title: str, spent: Spent, count: int, plain: bool) -> Table:
    """The lines of the sources that take most."""
    result = Table(title, plain, optional=("source",))
    result.numbers("ns", "%")
    result.texts("cause", "line", "source")
    largest = sorted(spent.lines.items(), key=lambda item: -item[1])
    for (file, line, cause), amount in largest[:count]:
        text = source_line(file, line)
        text = text if len(text) <= LONGEST_SOURCE else text[: LONGEST_SOURCE - 1] + "…"
        result.add_row(
            number(amount),
            f"{100 * amount / spent.total:.1f}",
            cause,
            f"{file}:{line}" if line else file,
            text.replace("|", "\\|") if plain else text,
        )
    return result
