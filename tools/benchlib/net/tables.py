"""The tables of the net benchmarks, by the JSON of bench/net: names are <subject>/<size>/<style>."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from millrace.bench.results import parse_name
from millrace.bench.tables import new_table, number
from millrace.common.table import Table

COMPOSED = ("composed-socket", "composed-tls", "composed-loop")
BIND = ("bind-tcp", "bind-udp")
ECHO = ("echo", "echo-depth")
MORE = ("echo-open", "echo-tls", "echo-loops", "idle", "flood")  # of servers
RPC = ("rpc", "rpc-connections", "rpc-bytes")
SERVERS = (*ECHO, *MORE, *RPC)
SUBJECTS = (*COMPOSED, *BIND, *SERVERS)

_STYLES = ("callback", "coroutine", "actor", "actorc-coroutine", "fiber")
_FLOORS = ("floor-callback", "floor-coroutine")
_RAW = "raw-epoll"  # the server that others are compared with
_OURS = "millrace"  # of rpc

Results = Sequence[Mapping[str, Any]]


def is_net(name: str) -> bool:
    return parse_name(name).benchmark in SUBJECTS


def tables(results: Iterable[Mapping[str, Any]], plain: bool) -> list[Table]:
    """Those that have rows."""
    cells: dict[tuple[str, int | None], dict[str, list[Mapping[str, Any]]]] = {}
    for result in results:
        name = parse_name(result["name"])
        if name.benchmark in SUBJECTS and result.get("run_type") != "aggregate" and not result.get("error_occurred"):
            cells.setdefault((name.benchmark, name.size), {}).setdefault(name.style, []).append(result)
    found = [_composed(cells, plain), _bind(cells, plain), _echo(cells, plain), _more(cells, plain), _rpc(cells, plain)]
    return [table for table in found if table.row_count]


def _least(results: Results, counter: str) -> float | None:
    return min((float(result[counter]) for result in results), default=None)


def _least_per_work(runs: Results) -> float | None:
    return min((run["ns_per_item"] * run["items_per_op"] / run["work_per_op"] for run in runs), default=None)


def _composed(cells: Mapping[tuple[str, int | None], Mapping[str, Results]], plain: bool) -> Table:
    title = "operations made of operations: ns per piece of work (times its floor's)"
    result = new_table(title, plain, ("level", *_STYLES, *_FLOORS, "work"), optional=("actorc-coroutine", "fiber"))
    for (benchmark, size), styles in cells.items():
        if benchmark not in COMPOSED:
            continue
        times = {style: _least_per_work(runs) for style, runs in styles.items()}
        work = {f"{runs[0]['work_per_op']:.0f}" for runs in styles.values()}
        shown = (beside_floor(times, style) for style in _STYLES)
        floors = (number(times.get(style)) for style in _FLOORS)
        result.add_row(benchmark, str(size), *shown, *floors, " / ".join(sorted(work, key=int)))
    return result


def beside_floor(times: Mapping[str, float | None], style: str) -> str:
    """A callback's floor is a function pointer, that of all others a bare coroutine."""
    own = times.get(style)
    floor = times.get(_FLOORS[0 if style == "callback" else 1])
    if own is None or not floor:
        return number(own)
    return f"{number(own)} ({own / floor:.2f}x)"


def _bind(cells: Mapping[tuple[str, int | None], Mapping[str, Results]], plain: bool) -> Table:
    styles_shown = ("sync", "async", "many", *(peers := ("asio", "libuv")))
    title = "bind: ns per socket (times the bare system calls')"
    result = new_table(title, plain, ("N", *styles_shown), optional=peers)
    for (benchmark, size), styles in cells.items():
        if benchmark in BIND:
            result.add_row(benchmark, str(size), *(_bound(styles.get(style, ())) for style in styles_shown))
    return result


def _bound(runs: Results) -> str:
    if not runs:
        return "-"
    ratio = statistics.median(float(run["ratio_to_floor"]) for run in runs)
    return f"{number(_least(runs, 'ns_per_item'))} ({ratio:.3f}x)"


def _echo(cells: Mapping[tuple[str, int | None], Mapping[str, Results]], plain: bool) -> Table:
    title = "echo, 64 bytes: requests per second, best of the rounds (of raw epoll's; the median round's)"
    headings = ("requests/s", "best", "median", "p99 us", "system calls")
    result = Table(title, plain)
    result.texts("server", "row")
    result.numbers(*headings)
    for (benchmark, size), servers in cells.items():
        if benchmark not in ECHO:
            continue
        raw = servers.get(_RAW, ())
        for server, runs in sorted(servers.items(), key=lambda one: (one[0] != _RAW, one[0])):
            rates, raws = _rates(runs), _rates(raw)
            calls = [float(run["system_calls_per_request"]) for run in runs if "system_calls_per_request" in run]
            result.add_row(
                server,
                f"{benchmark}/{size}",
                f"{max(rates):.0f}",
                _share(max(rates), max(raws, default=0)),
                _share(statistics.median(rates), statistics.median(raws) if raws else 0),
                number(_least(runs, "p99_us")),
                f"{statistics.median(calls):.2f}" if calls else "-",
            )
    return result


def _more(cells: Mapping[tuple[str, int | None], Mapping[str, Results]], plain: bool) -> Table:
    title = "servers: an open loop, two loops (times one), idle connections, a flood; the middle round"
    counters = {
        "requests/s": "requests_per_second",
        "p50 us": "p50_us",
        "p99 us": "p99_us",
        "times one loop": "ratio_to_one_loop",
        "processors of the load": "load_processors",
        "bytes a connection": "bytes_per_connection",
        "MB/s": "megabytes_per_second",
        "timer p99 us": "timer_p99_us",
    }
    result = Table(title, plain)
    result.texts("row", "server")
    result.numbers(*counters)
    for (benchmark, size), servers in cells.items():
        if benchmark not in MORE:
            continue
        for server, runs in sorted(servers.items()):
            shown = ([float(run[each]) for run in runs if each in run] for each in counters.values())
            row = (number(statistics.median(values)) if values else "-" for values in shown)
            result.add_row(f"{benchmark}/{size}", server, *row)
    return result


def _rpc(cells: Mapping[tuple[str, int | None], Mapping[str, Results]], plain: bool) -> Table:
    title = "requests and replies: best of the rounds; median round; how many times that median Millrace makes"
    result = Table(title, plain)
    result.texts("row", "style")
    result.numbers("requests/s", "median", "Millrace", "p99 us", "allocs")
    for (benchmark, size), styles in cells.items():
        if benchmark not in RPC:
            continue
        ours = statistics.median(_rates(styles[_OURS])) if _OURS in styles else 0
        for style, runs in sorted(styles.items(), key=lambda one: (one[0] != _OURS, one[0])):
            rates = _rates(runs)
            result.add_row(
                f"{benchmark}/{size}",
                style,
                f"{max(rates):.0f}",
                f"{statistics.median(rates):.0f}",
                f"{ours / statistics.median(rates):.2f}" if ours and style != _OURS else "-",
                number(_least(runs, "p99_us")),
                f"{statistics.median(float(run['allocs_per_item']) for run in runs):.2f}",
            )
    return result


def remarks(results: Iterable[Mapping[str, Any]]) -> list[str]:
    """What the tables do not show by themselves, once for all rounds and sizes."""
    notes = []
    for result in results:
        if result.get("run_type") == "aggregate":
            continue
        name, processors = parse_name(result["name"]), result.get("processors")
        if name.benchmark == "echo-loops" and processors and processors <= (name.size or 0):
            notes.append(
                f"note: {name.size} loops and their load share {processors:.0f} processors: "
                f"how many times one loop they serve says little with fewer than {(name.size or 0) + 1}"
            )
        if name.benchmark in SERVERS and "label" in result:
            notes.append(f"note: {name.style}: {result['label']}")
    return list(dict.fromkeys(notes))


def _rates(runs: Results) -> list[float]:
    return [float(run["requests_per_second"]) for run in runs]


def _share(own: float, raw: float) -> str:
    return f"{own / raw:.1%}" if raw else "-"
