"""The HTTP clients that are compared: programs that ask nginx on many connections, and print what they have counted."""

from __future__ import annotations

import shutil
from pathlib import Path

from benchlib.http.load import SECONDS, run
from benchlib.http.servers import OURS, Server

CLIENT = "client"  # the first part of the rows' names
ASKED = "nginx"  # the server
PROGRAMS = {OURS: "http_client_bench", "go": "http_client_go", "curl": "http_client_curl"}


def absent(programs: Path) -> list[str]:
    """The clients that are not installed."""
    return [client for client, program in PROGRAMS.items() if shutil.which(programs / program) is None]


def measure(client: str, programs: Path, server: Server, connections: int) -> dict[str, float]:
    """The counters of one round."""
    said = run([str(programs / PROGRAMS[client]), server.url("memory"), str(connections), str(SECONDS)])
    requests, seconds, processor, p50, p99 = map(float, said.split())
    return {
        "requests_per_second": requests / seconds,
        "processor_us_per_request": processor * 1e6 / requests,
        "p50_us": p50,
        "p99_us": p99,
    }
