"""The table of tools/bench postgres. Rows are postgres/<work>/<shape>/<client>."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from typing import Any

from millrace.bench.results import parse_name
from millrace.bench.tables import number
from millrace.common.table import Table

OURS = "millrace"


def table(results: Iterable[Mapping[str, Any]], plain: bool) -> Table:
    title = "PostgreSQL clients: processor time of the client for a query. A ratio above 1 is better for us"
    shown = Table(title, plain, optional=("p99 us", "p50 us"))
    shown.texts("row", "client")
    shown.numbers("least us", "median us", "its / ours", "queries/s", "ours / its", "p50 us", "p99 us")
    cells: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for result in results:
        name = parse_name(result["name"])
        cells.setdefault(name.label, {}).setdefault(name.style, []).append(result)
    for label, clients in cells.items():
        ours = clients.get(OURS, [])
        for client, runs in clients.items():
            times = [float(run["processor_us_per_query"]) for run in runs]
            shown.add_row(
                label,
                client,
                number(min(times)),
                number(statistics.median(times)),
                _ratio(runs, ours, "processor_us_per_query"),
                number(_median(runs, "queries_per_second")),
                _ratio(ours, runs, "queries_per_second"),
                number(_median(runs, "p50_us")),
                number(_median(runs, "p99_us")),
            )
    return shown


def _median(runs: Iterable[Mapping[str, Any]], counter: str) -> float:
    return statistics.median(float(run[counter]) for run in runs)


def _ratio(some: list[Mapping[str, Any]], others: list[Mapping[str, Any]], counter: str) -> str:
    if not some or not others or some is others:
        return "-"
    return f"{_median(some, counter) / _median(others, counter):.2f}"
