"""tools/cluster kv: runs the servers of the replicated store, and shows live what each of them does."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue

from rich.console import Console
from rich.live import Live

from clusterlib.servers import Server, cluster
from common.build import binary_dir, build
from common.ports import free_ports
from millrace.common.arguments import CommandParser, UsageError
from millrace.common.process import ending
from millrace.common.table import Table

DESCRIPTION = """\
Runs servers of the replicated store net/examples/kv on this machine, shows what each
of them does, and starts one again when it has ended. Kill them as you like, and ask
them in another terminal: kv ask ADDRESSES. Ctrl-C ends them all."""

EPILOG = """\
Exit code: 0 success, 1 a server cannot start, 2 wrong arguments."""

PRESET = "clang"
TARGET = "kv"
MOST = 9  # processes
PAUSE = 0.2  # seconds between two looks


def main(arguments: Sequence[str], console: Console, out: Console) -> int:
    parser = CommandParser("tools/cluster kv", DESCRIPTION, EPILOG)
    parser.add_argument("--processes", type=int, default=3, metavar="N", help="servers; default: 3")
    parser.add_argument("--directory", type=Path, metavar="DIR", help="their data; default: removed at the end")
    parser.add_argument("--port", type=int, metavar="P", help="of the first, the others follow; default: free ones")
    parser.add_argument("--program", type=Path, metavar="PATH", help="kv; default: it is built")
    parser.add_argument("--seconds", type=float, metavar="S", help="end after so long")
    options = parser.parse_args(arguments)
    count: int = options.processes
    if not 1 <= count <= MOST:
        raise UsageError(f"--processes must be from 1 to {MOST}")
    if options.port is not None and not 0 < options.port <= 65536 - count:
        raise UsageError(f"--port must be from 1 to {65536 - count}")
    if options.seconds is not None and options.seconds < 0:
        raise UsageError("--seconds must not be negative")
    ports = free_ports(count) if options.port is None else range(options.port, options.port + count)
    with ExitStack() as stack:
        program = _program(options.program, console)
        directory = options.directory or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        directory.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(KeyboardInterrupt):
            _run(program, directory.absolute(), ports, options.seconds, out)
    return 0


def _program(path: Path | None, console: Console) -> Path:
    if not path:
        build(PRESET, console, [TARGET])
        path = binary_dir(PRESET) / "net" / "examples" / TARGET
    return path.absolute()


def _run(program: Path, directory: Path, ports: Sequence[int], seconds: float | None, out: Console) -> None:
    """On a terminal a table changes; elsewhere each line of a server is printed."""
    end = time.monotonic() + seconds if seconds is not None else None
    said: SimpleQueue[str] = SimpleQueue()  # by servers, in threads of their own

    def say(number: int, line: str) -> None:
        said.put(f"{number}: {line}")

    with cluster(program, directory, ports, say) as (servers, addresses), ExitStack() as stack:
        out.print(f"{program} ask {addresses}", soft_wrap=True)
        live = stack.enter_context(Live(console=out, auto_refresh=False)) if out.is_terminal else None
        is_over = False
        while not is_over:
            is_over = end is not None and time.monotonic() >= end
            for server in servers:
                if (code := server.reap()) is not None:
                    say(server.number, f"{ending(code)}; it is started again")
                    server.start()
                    server.await_start()
            if live:
                live.update(table(servers, ports), refresh=True)
            while not live and not said.empty():
                out.print(said.get(), soft_wrap=True)
            time.sleep(0 if is_over else PAUSE)


def table(servers: Sequence[Server], ports: Sequence[int], plain: bool = False) -> Table:
    shown = Table("servers", plain, optional=("says", "lives"))
    shown.numbers("server", "port", "process", "term", "entries", "lives")
    shown.texts("state", "says")
    for server, port in zip(servers, ports, strict=True):
        cells = (server.number, port, server.pid or "", server.term, f"{server.entries:,}", server.lives)
        last = server.lines[-1] if server.lines else ""
        shown.add_row(*map(str, cells), server.state, last, bold=server.state == "leader")
    return shown
