"""Ports for servers that are started with a number, not told one by the system."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack

# The system gives those from 32,768 on to clients: one of these would be lost while its server is started again.
_PORTS = range(20_000, 32_000)


def free_ports(count: int) -> range:
    """Of 127.0.0.1, one behind the other. Another program may take one before it is used."""
    for first in random.sample(_PORTS[:-count], 100):
        with ExitStack() as taken:
            try:
                for port in range(first, first + count):
                    taken.enter_context(socket.create_server(("127.0.0.1", port)))
            except OSError:
                continue
            return range(first, first + count)
    raise OSError("no ports are free")
