"""Asks the console of a program: HTTP over a Unix socket (net/console.h)."""

from __future__ import annotations

import json
import os
import re
import socket
from http.client import HTTPConnection, HTTPException, RemoteDisconnected
from pathlib import Path
from typing import Any

from millrace.common.arguments import UsageError
from millrace.common.failure import Failure

SECONDS = 10.0  # until an answer must have come


class _UnixConnection(HTTPConnection):
    def __init__(self, path: str, seconds: float) -> None:
        super().__init__("console", timeout=seconds)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class BusyError(Failure):
    """A step keeps the loop busy: what only the loop can answer has no answer now."""


class Client:
    def __init__(self, path: str) -> None:
        self.path = path

    def get(self, page: str, seconds: float = SECONDS) -> bytes:
        connection = _UnixConnection(self.path, seconds)
        try:
            connection.request("GET", page)
            answer = connection.getresponse()
            body = answer.read()
        except TimeoutError:
            raise Failure(f"{self.path}: no answer in {seconds:g} s: a step keeps the loop busy") from None
        except (ConnectionRefusedError, FileNotFoundError):
            raise Failure(f"{self.path}: no program listens there: it has ended") from None
        except RemoteDisconnected:
            raise Failure(f"{self.path}: the program has ended without an answer") from None
        except (OSError, HTTPException) as error:
            raise Failure(
                f"{self.path}: {getattr(error, 'strerror', None) or error or type(error).__name__}"
            ) from error
        finally:
            connection.close()
        if answer.status != 200:
            kind = BusyError if answer.status == 503 else Failure
            raise kind(f"{self.path}: {page}: {answer.status} {body.decode(errors='replace').strip()}")
        return body

    def json(self, page: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.get(page))
        return found


def sockets_of(wanted: str) -> list[str]:
    """The paths of the consoles that are meant: one, or those of a process by its number."""
    if not wanted.isdecimal():
        if not wanted or not Path(wanted).exists():
            raise UsageError(f"there is no {wanted or 'program without a name'}")
        if not Path(wanted).is_socket():
            raise UsageError(f"{wanted} is no socket")
        return [wanted]
    found = [path for path in listening(int(wanted)) if is_console(path)]
    if not found:
        raise UsageError(f"process {wanted} has no console: it has to call console::listen() (net/console.h)")
    return found


def is_console(path: str) -> bool:
    try:
        return "steps" in Client(path).json("/metrics.json")
    except (Failure, ValueError):
        return False


def listening(pid: int, proc: Path = Path("/proc")) -> list[str]:
    """The paths of the Unix sockets at which a process listens."""
    process = proc / str(pid)
    try:
        descriptors = list((process / "fd").iterdir())
    except PermissionError:
        raise UsageError(f"process {pid} is another user's") from None
    except OSError:
        raise UsageError(f"there is no process {pid}") from None
    inodes = set()
    for descriptor in descriptors:
        try:
            if match := re.fullmatch(r"socket:\[(\d+)\]", os.readlink(descriptor)):
                inodes.add(match[1])
        except OSError:
            continue  # closed meanwhile
    paths = []
    for line in (process / "net" / "unix").read_text(encoding="utf-8").splitlines()[1:]:
        fields = line.split(maxsplit=7)
        accepts = int(fields[3], 16) & 0x10000  # listen() has been called
        if len(fields) == 8 and accepts and fields[6] in inodes and not fields[7].startswith("@"):
            paths.append(fields[7])
    return sorted(set(paths))
