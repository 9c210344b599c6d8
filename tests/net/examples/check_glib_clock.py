"""Listens to a server that GLib's loop drives: check_glib_clock.py GLIB_CLOCK."""

from __future__ import annotations

import os
import sys
import time

from server import connect, running

PROGRAM = sys.argv[1]


def cpu_seconds(process: int) -> float:
    with open(f"/proc/{process}/stat", encoding="ascii") as file:
        user, system = file.read().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    with running(PROGRAM, "0") as (server, port):
        clients = [connect(port) for _ in range(3)]
        for client in clients:
            with client, client.makefile("r") as lines:
                ticks = [int(next(lines).split()[1]) for _ in range(3)]
                assert ticks == list(range(ticks[0], ticks[0] + 3)), ticks
        before, began = cpu_seconds(server.pid), time.monotonic()
        time.sleep(0.5)
        used, passed = cpu_seconds(server.pid) - before, time.monotonic() - began
        assert used < passed / 2, f"{used} seconds of a processor in {passed} seconds: the loops poll"
        last = connect(port)  # is open when the program ends
        assert last.recv(5) == b"tick "


main()
