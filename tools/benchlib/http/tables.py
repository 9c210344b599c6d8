"""The tables of tools/bench http. Rows are http/<what>/<connections>/<server>."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchlib.http.servers import OURS
from millrace.bench.results import parse_name
from millrace.bench.tables import count, number
from millrace.common.table import Table

Results = Sequence[Mapping[str, Any]]
Cells = Mapping[str, Mapping[str, Results]]


def tables(results: Iterable[Mapping[str, Any]], plain: bool) -> list[Table]:
    """The tables that have rows."""
    cells: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for result in results:
        name = parse_name(result["name"])
        if not result.get("error_occurred"):
            cells.setdefault(name.label, {}).setdefault(name.style, []).append(result)
    return [table for table in (_served(cells, plain), _idle(cells, plain)) if table.row_count]


def median(runs: Results, counter: str) -> float | None:
    values = [float(run[counter]) for run in runs if counter in run]
    return statistics.median(values) if values else None


def _served(cells: Cells, plain: bool) -> Table:
    title = "HTTP servers and clients: medians of the rounds. A ratio above 1 is better for us"
    result = Table(title, plain, optional=("processors of the load", "p50 us"))
    result.texts("row", "server")
    result.numbers(
        "requests/s", "ours / its", "processor us", "its / ours", "p50 us", "p99 us", "allocs", "of libraries",
        "processors of the load",
    )  # fmt: skip
    for label, servers in cells.items():
        ours = servers.get(OURS, ())
        rate, cost = median(ours, "requests_per_second"), median(ours, "processor_us_per_request")
        for server, runs in servers.items():
            own_rate, own_cost = median(runs, "requests_per_second"), median(runs, "processor_us_per_request")
            if own_rate is None:
                continue
            result.add_row(
                label,
                server,
                number(own_rate),
                _ratio(rate, own_rate) if server != OURS else "-",
                number(own_cost),
                _ratio(own_cost, cost) if server != OURS else "-",
                number(median(runs, "p50_us")),
                number(median(runs, "p99_us")),
                count(median(runs, "allocs_per_request")),
                count(median(runs, "allocs_of_libraries")),
                number(median(runs, "load_processors")),
            )
    return result


def _idle(cells: Cells, plain: bool) -> Table:
    result = Table("idle connections: bytes of user space for each; of libraries: what OpenSSL and nghttp2 hold", plain)
    result.texts("row", "server")
    result.numbers("bytes", "of libraries")
    for label, servers in cells.items():
        for server, runs in servers.items():
            if (own := median(runs, "bytes_per_connection")) is not None:
                result.add_row(label, server, number(own), number(median(runs, "bytes_of_libraries")))
    return result


def _ratio(one: float | None, other: float | None) -> str:
    return f"{one / other:.2f}" if one and other else "-"
