"""Structured tasks beside libraries that are not in Debian: figures that were measured once, on a Zen 5 processor: the
minimum of 30 rounds of 200,000 children."""

from __future__ import annotations

from millrace.bench.results import TASK, Row
from millrace.bench.tables import new_table, number
from millrace.common.table import Table

OTHERS = ("floor", "Coflux", "cppcoro", "Asio", "Cobalt", "TooManyCooks", "libfork")
# ns a child with clang 19 and with gcc 12, in the order of OTHERS. Of libraries without a memory resource of the
# caller's stands what is nearest: a child that is made, awaited and destroyed.
CITED: dict[str, tuple[tuple[float, float | None] | None, ...]] = {
    "fork-monotonic": ((12.4, 8.5), (71, 72), None, None, None, None, None),
    "fork-monotonic-destroy": ((15.2, 12.6), (117, 119), None, None, None, None, None),
    "fork-pool-all": ((32.6, 29.0), (99, 100), None, None, None, None, None),
    "fork-pool-each": ((27.4, 26.8), (107, 107), None, None, None, None, None),
    "fork-arena-each": ((13.1, 7.6), None, None, (254, 271), (15, 28), (20.7, None), (15.6, 15.7)),
    "task-arena": ((2.9, 3.5), None, (8.9, 17.5), (10.5, 10.4), (49, 47), (9.6, 10.4), (2.6, 5.5)),
}


def cited_table(rows: list[Row], compiler: str, plain: bool) -> Table:
    """What was measured now, and the figures of others with the same compiler. No row if no such work was measured."""
    index = 0 if compiler.startswith("clang") else 1
    result = new_table("structured tasks, and others as cited: ns per child", plain, ("Millrace", *OTHERS))
    for benchmark, cited in CITED.items():
        cells = (row.cells[TASK].minimum for row in rows if row.benchmark == benchmark and TASK in row.cells)
        measured = [minimum for minimum in cells if minimum is not None]
        if measured:
            figures = (None if pair is None else pair[index] for pair in cited)
            result.add_row(benchmark, number(min(measured)), *map(number, figures))
    return result
