"""Tests the HTTP server with curl and over plain sockets: check_http_server.py PROGRAM [CERTIFICATES].

With a directory that tools/certificates has made, also over TLS.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import resource
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from server import (
    check_tls_errors,
    connect,
    connect_tls,
    identity,
    memory_of,
    receive,
    receive_all,
    running,
    s_client,
    start,
)

PROGRAM = sys.argv[1]
ROOT = pathlib.Path(__file__).resolve().parents[3]
LARGE = os.urandom(3_000_001)
IDLE = 1.5  # seconds


def make_site(root: pathlib.Path) -> pathlib.Path:
    site = root / "site"
    (site / "sub").mkdir(parents=True)
    (site / "index.html").write_text("<p>top</p>")
    (site / "sub" / "a b.txt").write_text("0123456789")
    (site / "large").write_bytes(LARGE)
    shutil.copy(ROOT / "README.md", site / "text.txt")
    (root / "secret").write_text("secret")
    return site


def curl(port: int, path: str, *options: str) -> bytes:
    command = ["curl", "--silent", "--show-error", "--max-time", "20", "--path-as-is", *options]
    return subprocess.run([*command, f"http://127.0.0.1:{port}{path}"], check=True, capture_output=True).stdout


def check_curl(port: int) -> None:
    """Curl gets the bytes that it asks for. tests/net/http tests each answer of the library."""
    assert curl(port, "/") == b"<p>top</p>"
    assert curl(port, "/large") == LARGE
    assert curl(port, "/large", "--range", "1000000-2000000") == LARGE[1_000_000:2_000_001]
    text = (ROOT / "README.md").read_bytes()
    assert curl(port, "/text.txt", "--compressed") == text
    output = ("--output", "/dev/null", "--write-out")
    assert int(curl(port, "/text.txt", "--compressed", *output, "%{size_download}")) < len(text)
    assert curl(port, "/sub", "--location", *output, "%{http_code} %{num_redirects}") == b"404 1"
    assert curl(port, "/count", "--data", "12345") == b"5\n"
    assert curl(port, "/../secret", *output, "%{http_code}") == b"404"
    big = ["--data-binary", "@-", "--header", "Expect: 100-continue"]
    command = ["curl", "--silent", "--max-time", "20", *big, f"http://127.0.0.1:{port}/count"]
    assert subprocess.run(command, input=b"x" * 60_000, capture_output=True).stdout == b"60000\n"


def check_page(page: pathlib.Path) -> None:
    """A page shows the server and a call of curl: what it prints is what curl prints."""
    blocks = re.findall(r"^```.*?\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    (block,) = [block for block in blocks if "/http_server " in block]
    start, call = re.findall(r"^\$ (.*)$", block, re.MULTILINE)[:2]
    arguments = shlex.split(start)[1:-1]  # without the program and the &
    (output,) = re.findall(r"^\$ curl .*\n([^$]*)", block, re.MULTILINE)
    with running(PROGRAM, *arguments[:-1], "0", folder=ROOT) as (_, port):
        assert f"listening at 127.0.0.1:{arguments[-1]}\n" in block
        command = ["curl", "--silent", *shlex.split(call.replace(f":{arguments[-1]}/", f":{port}/"))[1:]]
        printed = subprocess.run(command, check=True, capture_output=True, text=True, timeout=20).stdout
    assert printed.rstrip("\n") == output.rstrip("\n"), (printed, output)


def check_rude(server: subprocess.Popen[str], port: int) -> None:
    """A client that is slow, silent or does not read is disconnected in time, and costs little; others are served
    meanwhile."""
    curl(port, "/large")
    before = memory_of(server)
    begun = time.monotonic()
    silent = [connect(port) for _ in range(100)]
    slow = connect(port)
    deaf = connect(port)
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n" * 20)
    request = b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 1000
    answer = b""
    for byte in request:
        try:
            slow.sendall(bytes([byte]))
            slow.settimeout(0.05)
            if answer := slow.recv(1000):
                break
        except TimeoutError:
            pass
        assert curl(port, "/") == b"<p>top</p>"
    assert answer.startswith(b"HTTP/1.1 408 "), answer
    took = time.monotonic() - begun
    assert IDLE * 0.9 < took < IDLE + 15, took
    for client in silent:
        client.settimeout(20)
        assert client.recv(1) == b""
        client.close()
    assert memory_of(server) - before < 8_000_000
    slow.close()
    deaf.close()


def check_no_descriptors(site: pathlib.Path) -> None:
    """A file that cannot be opened since there is no descriptor is not called missing."""
    with running(PROGRAM, str(site), "0") as (server, port), connect(port) as client:
        get = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
        client.sendall(get)
        answer = b""
        while not answer.endswith(b"<p>top</p>"):
            answer += receive(client, 1)
        before = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (3, before[1]))
        client.sendall(get.replace(b"/", b"/large", 1))  # "/" is open already
        assert receive(client, 12) == b"HTTP/1.1 503"
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, before)


def check_service_manager(site: pathlib.Path, folder: pathlib.Path) -> None:
    """The server serves the socket that it is given, as by systemd, and says when it is ready and when it ends."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notices, socket.create_server(("127.0.0.1", 0)) as web:
        notices.bind(str(folder / "notify"))
        notices.settimeout(20)
        port = web.getsockname()[1]
        variables = {"NOTIFY_SOCKET": str(folder / "notify"), "LISTEN_FDS": "1"}
        script = f'exec 3<&{web.fileno()}; LISTEN_PID=$$ exec "$@"'
        command = ["bash", "-c", script, "bash", PROGRAM, str(site), "0"]
        environment = {**os.environ, **variables}
        server = subprocess.Popen(command, env=environment, pass_fds=[web.fileno()], stdout=subprocess.DEVNULL)
        assert notices.recv(100) == b"READY=1"
        assert curl(port, "/") == b"<p>top</p>"
        server.terminate()
        assert notices.recv(100) == b"STOPPING=1"
        assert server.wait(20) == 0


def check_end(site: pathlib.Path) -> None:
    """When the server gets SIGTERM, a client that asks again and again is told before its connection ends, and one that
    has a part of an answer does not take it for the whole."""
    request = b"GET /sub/a%20b.txt HTTP/1.1\r\nHost: x\r\n\r\n"
    server, port = start(PROGRAM, str(site), "0")
    with connect(port) as busy, connect(port) as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n" * 20)
        for count in range(1000):
            busy.sendall(request)
            answer = b""
            while not answer.endswith(b"0123456789"):
                answer += receive(busy, 1)
            if count == 10:
                server.terminate()
            if b"Connection: close" in answer:
                break
        assert count < 999
        assert busy.recv(1) == b""
        received = 0
        try:
            while piece := deaf.recv(65536):
                received += len(piece)
            raise AssertionError(f"the end after {received} bytes")
        except ConnectionResetError:
            assert received < 20 * len(LARGE)
    assert server.wait(20) == 0


def check_https(site: pathlib.Path, certificates: pathlib.Path) -> None:
    with running(PROGRAM, str(site), "0", "--idle", str(IDLE), *identity(certificates)) as (_, port):
        url = f"https://localhost:{port}"
        common = ["curl", "--silent", "--show-error", "--max-time", "20"]
        trusting = [*common, "--cacert", str(certificates / "ca.pem")]

        def get(*options: str) -> bytes:
            return subprocess.run([*trusting, *options], check=True, capture_output=True).stdout

        assert get(f"{url}/large") == LARGE
        assert get(f"{url}/large", "--range", "1000000-2000000", "--tls-max", "1.2") == LARGE[1_000_000:2_000_001]
        assert b"Content-Length: 3000001" in get("--head", f"{url}/large")
        # The second request has no connection of its own.
        assert get("--write-out", "%{num_connects}", f"{url}/sub/a%20b.txt", f"{url}/") == b"01234567891<p>top</p>0"
        assert b"http/1.1" in get("--verbose", "--stderr", "-", f"{url}/")  # agreed by ALPN
        assert subprocess.run([*common, f"{url}/"], capture_output=True).returncode == 60  # not trusted
        request = b"GET /sub/a%20b.txt HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        command = s_client(port, certificates)
        done = subprocess.run(command, input=request, capture_output=True, timeout=20, check=False)
        assert done.stdout.endswith(b"\r\n\r\n0123456789"), done
        with connect_tls(port, certificates) as silent, connect(port) as mute:
            for plain in (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", os.urandom(20_000)):
                with connect(port) as noisy:
                    noisy.sendall(plain)
                    with contextlib.suppress(ConnectionError):
                        assert b"HTTP/1.1" not in receive_all(noisy)
            assert get(f"{url}/") == b"<p>top</p>"
            assert silent.recv(1) == b""  # an announced end, after so many seconds
            mute.shutdown(socket.SHUT_WR)
    check_tls_errors(PROGRAM, [str(site), "0"], certificates)


def main() -> None:
    root = pathlib.Path(tempfile.mkdtemp(prefix="millrace-http-"))
    try:
        site = make_site(root)
        with running(PROGRAM, str(site), "0", "--idle", str(IDLE)) as (server, port):
            check_curl(port)
            check_rude(server, port)
        check_no_descriptors(site)
        check_end(site)
        check_service_manager(site, root)
        for page in (ROOT / "README.md", ROOT / "net" / "docs" / "sockets.md"):
            check_page(page)
        if len(sys.argv) > 2:
            check_https(site, pathlib.Path(sys.argv[2]))
        for wrong in ((str(site),), (str(site), "x"), (str(site), "0", "--idle", "x"), (str(site), "0", "--idle")):
            assert subprocess.run([PROGRAM, *wrong], stderr=subprocess.DEVNULL).returncode == 2, wrong
        done = subprocess.run([PROGRAM, str(site / "index.html"), "0"], capture_output=True, text=True)
        assert done.returncode == 2 and done.stderr.startswith("there is no such folder"), done
        done = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout.startswith("usage: "), done
        none = subprocess.run([PROGRAM, str(root / "none"), "0"], capture_output=True, text=True)
        assert none.returncode == 2 and none.stderr.rstrip().endswith(str(root / "none")), none
    finally:
        shutil.rmtree(root)


main()
