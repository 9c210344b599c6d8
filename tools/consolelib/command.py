"""tools/console: shows live what a running program does, or asks it one thing."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live

from common.arguments import CommandParser, UsageError
from common.files import check_writable
from consolelib.client import SECONDS, Client, sockets_of
from consolelib.page import Sample, page

DESCRIPTION = """\
Shows what a running program does: how busy its loop is, what is ready and pending,
which steps run long. The program has called console::listen() (net/console.h), and is
this user's. PROGRAM is the path of its socket, or the number of its process.
Ctrl-C ends it."""

EPILOG = """\
Exit code: 0 success, 1 the program gave no answer, 2 wrong arguments."""


def main(arguments: Sequence[str], console: Console, out: Console) -> int:
    parser = CommandParser("tools/console", DESCRIPTION, EPILOG)
    parser.add_argument("program", metavar="PROGRAM", help="PATH or PID")
    parser.add_argument("--once", action="store_true", help="print one page and end")
    parser.add_argument("--seconds", type=float, default=1.0, metavar="S", help="between two pages; default: 1")
    parser.add_argument("--pending", action="store_true", help="print all that is pending, and end")
    parser.add_argument("--trace", type=Path, metavar="FILE", help="record S seconds for ui.perfetto.dev, and end")
    options = parser.parse_args(arguments)
    if not 0 < options.seconds <= 60:
        raise UsageError("--seconds must be more than 0, and at most 60")
    if options.trace:
        check_writable(options.trace)
    clients = [Client(path) for path in sockets_of(options.program)]
    if options.pending:
        for client in clients:
            out.print(client.get("/pending").decode(), end="", soft_wrap=True)
    if options.trace:
        record(clients, options.trace, options.seconds)
    if options.pending or options.trace:
        return 0
    if options.once:
        for client in clients:
            for part in page(sample(client), None, not out.is_terminal):
                out.print(part, soft_wrap=isinstance(part, str))
        return 0
    with contextlib.suppress(KeyboardInterrupt):
        show(clients, options.seconds, out)
    return 0


def sample(client: Client) -> Sample:
    return Sample(client.json("/metrics.json"), client.json("/pending.json"))


def record(clients: Sequence[Client], file: Path, seconds: float) -> None:
    """Traces one after the other are one trace."""
    traces = [client.get(f"/trace?seconds={seconds:g}", seconds + SECONDS) for client in clients]
    file.write_bytes(b"".join(traces))


def show(clients: Sequence[Client], seconds: float, out: Console) -> None:
    before: list[Sample | None] = [None] * len(clients)
    with Live(console=out, screen=out.is_terminal, auto_refresh=False) as live:
        while True:
            parts = []
            for index, client in enumerate(clients):
                now = sample(client)
                parts += page(now, before[index], plain=False)
                before[index] = now
            live.update(Group(*parts), refresh=True)
            time.sleep(seconds)
