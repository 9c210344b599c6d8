"""The memory of idle connections: each has had one answer, and is kept."""

from __future__ import annotations

import resource
import socket
import struct
from contextlib import ExitStack

from benchlib.http.servers import H2, H2_TLS, OURS, PLAIN, TLS, Server
from millrace.common.failure import Failure

# The rows: how to talk, and the number of connections.
IDLE = {"idle": (PLAIN, 5000), "idle-tls": (TLS, 1000), "idle-h2": (H2, 1000)}
_FIRST = 100  # connections, so that what a server needs once does not count

_REQUEST = b"GET /memory HTTP/1.1\r\nHost: localhost\r\n\r\n"
# HTTP/2: no settings of ours, and their acknowledgement; then a request on stream 1, in HPACK's shortest form.
_FIELDS = b"\x82\x86\x04\x07/memory\x01\x09localhost"
_H2_REQUEST = (
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
    b"\x00\x00\x00\x04\x01\x00\x00\x00\x00"
    + struct.pack(">I", len(_FIELDS))[1:]
    + b"\x01\x05\x00\x00\x00\x01"
    + _FIELDS
)
_DATA, _END_STREAM = 0, 1


def allow_descriptors() -> None:
    """In this process and those that it starts."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def measure(server: Server, connections: int) -> dict[str, float]:
    """The counters of a server that has just been started."""
    if server.name == OURS:
        counted(server)
    with ExitStack() as stack:
        for _ in range(_FIRST):
            stack.enter_context(_asked(server))
        before = server.resident_bytes()
        libraries = counted(server)[3] if server.name == OURS else 0
        for _ in range(connections):
            stack.enter_context(_asked(server))
        found = {"bytes_per_connection": (server.resident_bytes() - before) / connections}
        if server.name == OURS:
            found["bytes_of_libraries"] = (counted(server)[3] - libraries) / connections
    return found


def counted(server: Server) -> list[int]:
    """Returns the counts of our server: requests, allocations of ours, those of libraries in C, and their bytes.
    The first call begins the count."""
    with server.connect() as connection:
        connection.sendall(b"GET /count HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answer = b""
        while piece := connection.recv(4096):
            answer += piece
    return [int(word) for word in answer.split(b"\r\n\r\n", 1)[1].split()]


def _asked(server: Server) -> socket.socket:
    """A connection that has had its answer."""
    is_h2 = server.how in (H2, H2_TLS)
    connection = server.connect(("h2",) if is_h2 else ("http/1.1",))
    connection.sendall(_H2_REQUEST if is_h2 else _REQUEST)
    got = b""
    while not (_ends_h2(got) if is_h2 else got.endswith(b"x" * 64)):
        piece = connection.recv(4096)
        if not piece:
            raise Failure(f"{server.name} has closed a connection before its answer: {got!r}")
        got += piece
    return connection


def _ends_h2(got: bytes) -> bool:
    """True if the last bytes of a body are there."""
    while len(got) >= 9:
        size = int.from_bytes(got[:3], "big")
        if got[3] == _DATA and got[4] & _END_STREAM and len(got) >= 9 + size:
            return True
        got = got[9 + size :]
    return False
