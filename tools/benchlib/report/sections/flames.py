"""The section about causes of time: the table, and flame graphs of both styles and of their difference."""

from __future__ import annotations

from dataclasses import dataclass

from millrace.bench.causes_table import causes_table, summary
from millrace.bench.flames import flames, id_of
from millrace.bench.measure import Row
from millrace.pages.model import Grid, Missing, Section


@dataclass(frozen=True, slots=True)
class Profile:
    """What tools/bench profile found with one compiler."""

    how: str
    causes: tuple[str, ...]  # in the order in which they are shown
    rows: tuple[Row, ...]


def section(found: Profile | Missing) -> Section:
    result = Section(
        "profile",
        "What the time goes for",
        "Where the time of an item is spent, by cause, as a profiler sees it; the time itself was measured without "
        "one. In a flame graph the width of a frame is its cost, and its callees are above it: click to look into a "
        "frame, and the lowest one to go back.",
    )
    if isinstance(found, Missing):
        result.parts.append(found)
        return result
    for row in found.rows:
        result.parts += [_causes(found, row), *flames(row, found.causes)]
    return result


def _causes(found: Profile, row: Row) -> Grid:
    table = causes_table("", row.spent, found.causes, plain=True)
    return Grid(f"causes-{id_of(row)}", f"Causes: {row.label}, {row.compiler}", _says(found, row), table, ordered=True)


def _says(found: Profile, row: Row) -> str:
    how = f"Per item, {found.how}. A difference in brackets may be chance: it is smaller than the sampling error."
    most = summary(row.spent)
    return f"{how} {most[:1].upper()}{most[1:]}." if most else how
