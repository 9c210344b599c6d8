"""Instructions per item, which do not depend on the load of the machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchlib.instructions.table import styles_table
from benchlib.report.sections.dots import dots
from millrace.bench.results import LIBRARY, TASK, Row
from millrace.pages.model import Grid, Missing, Section


def section(found: Mapping[str, Sequence[Row] | Missing]) -> Section:
    result = Section(
        "instructions",
        "Instructions, by style",
        "What the processor executes for an item, counted by valgrind: the same on an idle machine and on a busy one, "
        "so that a small difference here is a difference of the code. It says nothing of memory that is waited for.",
    )
    for compiler, rows in found.items():
        if isinstance(rows, Missing):
            result.parts.append(rows)
            continue
        styled = [row for row in rows if not {LIBRARY, TASK} & row.cells.keys()]
        result.parts += dots(
            f"instructions-{compiler}",
            f"Instructions of all works, {compiler}",
            "Instructions per item of each work at one N, fewer are further left. Compare with the chart of times: a "
            "work that executes little and takes long waits for memory.",
            "instructions per item",
            styled,
            lambda cell: cell.instructions,
        )
        result.parts.append(
            Grid(
                f"instructions-table-{compiler}",
                f"Instructions per item, {compiler}",
                "Overhead is what the coroutine executes more than the ACTOR. Where they differ, ACTOR / coroutine.",
                styles_table(styled, plain=True),
                folded=True,
            )
        )
    return result
