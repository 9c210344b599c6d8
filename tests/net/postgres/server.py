"""Debian's PostgreSQL in a folder of its own: server.py restart FOLDER, for the tests in C++."""

from __future__ import annotations

import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

SECONDS = 60.0  # until a server must have started, or ended


def programs() -> pathlib.Path | None:
    """The folder with initdb and postgres, of the newest version."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[4]))
    return found[-1].parent if found else None


def as_postgres() -> list[str]:
    """What to put before a command: PostgreSQL refuses root."""
    return [] if os.geteuid() else ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def start(folder: pathlib.Path) -> None:
    """Starts the server of a folder, and waits until it takes connections."""
    bin_folder = programs()
    assert bin_folder
    port = (folder / "port").read_text()
    tls = ["ssl=on", f"ssl_cert_file={folder}/server.crt", f"ssl_key_file={folder}/server.key"]
    settings = [*tls, "fsync=off", "listen_addresses=127.0.0.1", "max_connections=60", "log_min_messages=fatal"]
    options = [word for each in settings for word in ("-c", each)]
    command = [*as_postgres(), str(bin_folder / "postgres"), "-D", str(folder / "data"), "-k", str(folder)]

    def begin() -> subprocess.Popen[bytes]:
        with (folder / "log").open("ab") as log:
            whole = [*command, "-p", port, *options]
            return subprocess.Popen(whole, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=folder)

    process = begin()
    deadline = time.monotonic() + SECONDS
    ready = [str(bin_folder / "pg_isready"), "-q", "-h", str(folder), "-p", port]
    while subprocess.run(ready, check=False).returncode != 0:
        if process.poll() is not None:  # processes of a killed server have its memory for a moment longer
            process = begin()
        if time.monotonic() > deadline:
            raise SystemExit("postgres has not started:\n" + (folder / "log").read_text())
        time.sleep(0.05)


def stop(folder: pathlib.Path) -> None:
    """Ends the server of a folder at once, with its connections."""
    pid_file = folder / "data" / "postmaster.pid"
    if not pid_file.exists():
        return
    pid = int(pid_file.read_text().splitlines()[0])
    os.kill(pid, signal.SIGINT)
    deadline = time.monotonic() + SECONDS
    while pid_file.exists() and time.monotonic() < deadline:
        time.sleep(0.02)


def kill(folder: pathlib.Path) -> None:
    """Kills the server of a folder: the work of its connections is cut off."""
    os.kill(int((folder / "data" / "postmaster.pid").read_text().splitlines()[0]), signal.SIGKILL)


@contextlib.contextmanager
def running(folder: pathlib.Path) -> Iterator[str]:
    """A new server. The value is the text by which libpq connects to it."""
    bin_folder = programs()
    assert bin_folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "port").write_text(str(free_port()))
    if not os.geteuid():
        user = pwd.getpwnam("postgres")
        os.chown(folder, user.pw_uid, user.pw_gid)
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    key = ["-newkey", "rsa:2048", "-nodes", "-keyout", "server.key", "-out", "server.crt"]
    subprocess.run(
        [*as_postgres(), "openssl", "req", "-x509", *key, *subject], check=True, capture_output=True, cwd=folder
    )
    command = [*as_postgres(), str(bin_folder / "initdb"), "-D", str(folder / "data"), "-U", "app", "-A", "trust"]
    subprocess.run([*command, "-N", "-E", "UTF8", "--locale=C"], check=True, stdout=subprocess.DEVNULL, cwd=folder)
    start(folder)
    try:
        yield f"host={folder} port={(folder / 'port').read_text()} user=app dbname=postgres"
    finally:
        stop(folder)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    given = pathlib.Path(sys.argv[2])
    stop(given)
    start(given)
