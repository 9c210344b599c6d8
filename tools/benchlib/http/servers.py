"""The HTTP servers that are compared: how each is started, and what its process has used."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from common.ports import free_ports
from millrace.common.failure import Failure
from millrace.common.process import ending, running, stop

OURS = "millrace"
_PATIENCE = 10.0  # seconds until a server listens

# The ways to talk to a server.
PLAIN, TLS, H2, H2_TLS = "plain", "tls", "h2", "h2-tls"
# The works, by the first part of a row's name: how to talk, and the path that is asked for.
WORKS = {
    "memory": (PLAIN, "memory"),
    "file-612": (PLAIN, "file-612"),
    "file-64k": (PLAIN, "file-64k"),
    "memory-tls": (TLS, "memory"),
    "memory-h2": (H2, "memory"),
    "memory-h2-tls": (H2_TLS, "memory"),
}
SIZES = {"memory": 64, "file-612": 612, "file-64k": 65536}

_NGINX = """\
daemon off; master_process off; worker_processes 1; pid nginx.pid; error_log stderr crit;
events {{ worker_connections 30000; }}
http {{
    access_log off; sendfile on; open_file_cache max=100; keepalive_requests 1000000000; default_type text/plain;
    client_body_temp_path t; proxy_temp_path t; fastcgi_temp_path t; uwsgi_temp_path t; scgi_temp_path t;
    server {{
        listen 127.0.0.1:{port}{options};
        ssl_certificate {certificate}; ssl_certificate_key {key}; ssl_protocols TLSv1.3;
        root {folder};
        location = /memory {{ return 200 "{memory}"; }}
    }}
}}
"""


@dataclass(frozen=True, slots=True)
class Place:
    """The folders of the programs, of the files that are served, and of the certificates."""

    programs: Path
    folder: Path
    certificates: Path

    @property
    def identity(self) -> list[str]:
        return [str(self.certificates / "server.pem"), str(self.certificates / "server.key")]


def program_of(server: str, place: Place) -> str:
    own = {OURS: "http_bench", "hyper": "hyper/release/http_hyper"}.get(server, f"http_{server}")
    if server not in ("nginx", "nghttpd"):
        return str(place.programs / own)
    return shutil.which(server, path=os.environ.get("PATH", "") + ":/usr/sbin") or server


def _nginx(place: Place, port: int, how: str) -> list[str]:
    options = {PLAIN: "", TLS: " ssl", H2: " http2", H2_TLS: " ssl http2"}[how]
    certificate, key = place.identity
    prefix = place.folder / f"nginx-{how}"
    prefix.mkdir(exist_ok=True)
    text = _NGINX.format(
        port=port, options=options, certificate=certificate, key=key, folder=place.folder, memory="x" * SIZES["memory"]
    )
    (prefix / "nginx.conf").write_text(text, encoding="utf-8")
    return ["-p", str(prefix), "-e", "stderr", "-c", "nginx.conf"]


def _nghttpd(place: Place, port: int, how: str) -> list[str]:
    flags, files = (["--no-tls"], []) if how == H2 else ([], list(reversed(place.identity)))
    return ["-n", "1", "-a", "127.0.0.1", "-d", str(place.folder), *flags, str(port), *files]


# The ways in which each can be talked to.
_HOW = {
    OURS: (PLAIN, TLS, H2, H2_TLS),
    "nginx": (PLAIN, TLS, H2, H2_TLS),
    "hyper": (PLAIN, H2),
    "go": (PLAIN, TLS, H2_TLS),  # without TLS, Go's library has only HTTP/1.1
    "beast": (PLAIN,),
    "nghttpd": (H2, H2_TLS),
}
_NO_FILES = ("hyper",)


def command(server: str, place: Place, port: int, how: str) -> list[str]:
    own = {"nginx": _nginx, "nghttpd": _nghttpd}.get(server)
    arguments = own(place, port, how) if own else [str(port), str(place.folder), how, *place.identity]
    return [program_of(server, place), *arguments]


def servers_of(work: str) -> list[str]:
    how, path = WORKS[work]
    return [
        server for server, ways in _HOW.items() if how in ways and not (server in _NO_FILES and path.startswith("file"))
    ]


def absent(place: Place) -> list[str]:
    """The servers that are not installed."""
    return [server for server in _HOW if shutil.which(program_of(server, place)) is None]


def write_files(folder: Path) -> None:
    for name, size in SIZES.items():
        (folder / name).write_bytes(b"x" * size)


@dataclass(frozen=True, slots=True)
class Server:
    """One that runs."""

    name: str
    how: str
    port: int
    process: int

    def url(self, path: str) -> str:
        return f"http{'s' if self.how in (TLS, H2_TLS) else ''}://127.0.0.1:{self.port}/{path}"

    def connect(self, protocols: Sequence[str] = ("http/1.1",)) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self.port))
        if self.how not in (TLS, H2_TLS):
            return connection
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(list(protocols))
        return context.wrap_socket(connection)

    def processor_time(self) -> float:
        """The seconds of all its threads."""
        threads = Path(f"/proc/{self.process}/task").iterdir()
        return sum(int((each / "schedstat").read_text().split()[0]) for each in threads) / 1e9

    def resident_bytes(self) -> int:
        """In user space, without what is mapped from files."""
        lines = Path(f"/proc/{self.process}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("RssAnon:")).split()[1]) * 1024


@contextmanager
def started(name: str, place: Place, how: str) -> Iterator[Server]:
    """Runs the server; the block begins when it listens."""
    port = free_ports(1)[0]
    with (
        tempfile.TemporaryFile("w+") as said,
        running(command(name, place, port, how), place.folder, None, said) as child,
    ):
        _wait(name, port, child, said.fileno())
        yield Server(name, how, port, child.pid)
        stop(child)


def _wait(name: str, port: int, child: subprocess.Popen[str], said: int) -> None:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        if (code := child.poll()) is not None:
            raise Failure(f"{name}: {ending(code)}: {os.pread(said, 2000, 0).decode(errors='replace')}")
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.01)
    raise Failure(f"{name} does not listen at its port after {_PATIENCE:.0f} seconds")
