"""Free ports, one behind the other."""

from __future__ import annotations

import socket

from common.ports import free_ports


def test_free_ports_can_be_bound_one_behind_the_other() -> None:
    ports = free_ports(5)
    assert list(ports) == list(range(ports[0], ports[0] + 5))
    servers = [socket.create_server(("127.0.0.1", port)) for port in ports]
    for server in servers:
        server.close()
