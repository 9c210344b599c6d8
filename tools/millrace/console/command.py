"""millrace console: shows live what a running program does, or asks it one thing."""

from __future__ import annotations

import argparse
import contextlib
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live

from millrace.common.arguments import UsageError
from millrace.common.files import check_writable
from millrace.console.client import SECONDS, BusyError, Client, sockets_of
from millrace.console.page import Sample, page


def main(options: argparse.Namespace, console: Console, out: Console) -> int:
    if not 0 < options.seconds <= 60:
        raise UsageError("--seconds must be more than 0, and at most 60")
    if options.trace:
        check_writable(options.trace)
    clients = [Client(path) for path in sockets_of(options.program)]
    if options.running:  # one client answers for all loops
        out.print(clients[0].get("/running").decode(), end="", soft_wrap=True)
    if options.pending:
        for client in clients:
            out.print(client.get("/pending").decode(), end="", soft_wrap=True)
    if options.trace:
        record(clients, options.trace, options.seconds)
    if options.running or options.pending or options.trace:
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
    """Of a loop that a step keeps busy: its figures, and the step."""
    figures = client.json("/metrics.json")
    try:
        return Sample(figures, client.json("/pending.json"))
    except BusyError:
        return Sample(figures, None, client.get("/running").decode().rstrip())


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
