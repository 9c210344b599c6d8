"""Tests tls_info with other TLS clients and servers: check_tls.py PROGRAM CERTIFICATES.

CERTIFICATES is a directory that tools/certificates has made. The others are Python's ssl, openssl's s_client and
s_server, and curl.
"""

from __future__ import annotations

import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAM = sys.argv[1]
CERTIFICATES = Path(sys.argv[2])
CA = str(CERTIFICATES / "ca.pem")
REQUEST = b"GET / HTTP/1.0\r\n\r\n"


def identity(name: str) -> list[str]:
    return ["--cert", str(CERTIFICATES / f"{name}.pem"), "--key", str(CERTIFICATES / f"{name}.key")]


@contextmanager
def served(*options: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """The program as a server, and the port that it has chosen; it must end well."""
    command = [PROGRAM, "serve", "0", *options]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stdout
        line = server.stdout.readline()
        assert line.startswith("listening at 127.0.0.1:"), line
        yield server, int(line.rsplit(":", 1)[1])
        assert server.poll() is None, "the server has ended"
    finally:
        server.send_signal(signal.SIGTERM)
        code = server.wait(20)
    assert code == 0, f"exit code {code}"


def run(*command: str, give: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, input=give, capture_output=True, timeout=30, check=False)


def get(port: int, *options: str, name: str = "localhost", path: str = "/") -> subprocess.CompletedProcess[bytes]:
    return run(PROGRAM, "get", f"127.0.0.1:{port}", name, path, *options)


def connect(port: int, context: ssl.SSLContext, session: ssl.SSLSession | None = None) -> ssl.SSLSocket:
    plain = socket.create_connection(("127.0.0.1", port), timeout=20)
    return context.wrap_socket(plain, server_hostname="localhost", suppress_ragged_eofs=False, session=session)


def receive_all(client: ssl.SSLSocket) -> bytes:
    """Up to the end, which must have been announced."""
    return b"".join(iter(lambda: client.recv(65536), b""))


def python_clients(port: int) -> None:
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        context = ssl.create_default_context(cafile=CA)
        context.minimum_version = context.maximum_version = version
        context.set_alpn_protocols(["http/1.1"])
        session = None
        for resumed in (False, True):
            with connect(port, context, session) as client:
                assert client.version() == version.name.replace("_", "."), client.version()
                assert client.selected_alpn_protocol() == "http/1.1"
                client.sendall(REQUEST)
                answer = receive_all(client)
                assert b"\nname: localhost\n" in answer, answer
                assert client.session_reused == resumed
                session = client.session
        with connect(port, context) as client:
            client.sendall(b"GET /10000000 HTTP/1.0\r\n\r\n")
            body = receive_all(client).partition(b"\r\n\r\n")[2]
            assert body == b"x" * 10_000_000


def curl(port: int) -> None:
    url = f"https://localhost:{port}"
    done = run("curl", "--silent", "--show-error", "--cacert", CA, f"{url}/a", f"{url}/b")
    assert done.returncode == 0, done.stderr
    assert b"resumed: no" in done.stdout, done.stdout
    done = run("curl", "--silent", "--show-error", "--cacert", CA, f"{url}/3000000")
    assert done.stdout == b"x" * 3_000_000
    done = run("curl", "--silent", "--cacert", str(CERTIFICATES / "strangers.pem"), url)
    assert done.returncode == 60, done.returncode  # the certificate cannot be checked


def s_client(port: int) -> None:
    command = ("openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-CAfile", CA, "-verify_return_error")
    named = (*command, "-verify_hostname", "localhost", "-servername", "localhost", "-ign_eof", "-quiet")
    for version in ("-tls1_2", "-tls1_3"):
        done = run(*named, version, give=REQUEST)
        assert b"cipher: " in done.stdout, done
    done = run(*command, "-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0", give=REQUEST)
    assert done.returncode != 0
    assert b"alert protocol version" in done.stderr, done.stderr


def garbage(port: int) -> None:
    for words in (b"GET / HTTP/1.1\r\n\r\n", bytes(range(256)) * 100, b"\x16\x03\x01\xff\xff" + b"\x00" * 70_000):
        with socket.create_connection(("127.0.0.1", port), timeout=20) as plain:
            try:
                plain.sendall(words)
                while plain.recv(65536):
                    pass
            except ConnectionError:
                pass
    silent = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(100)]
    with connect(port, ssl.create_default_context(cafile=CA)) as client:
        client.sendall(REQUEST)
        assert b"version: TLSv1.3" in receive_all(client)
    for each in silent:
        each.close()


def check_server() -> None:
    with served(*identity("server")) as (_, port):
        python_clients(port)
        curl(port)
        s_client(port)
        garbage(port)
        python_clients(port)


def check_mutual() -> None:
    with served(*identity("server"), "--client-ca", CA) as (_, port):
        context = ssl.create_default_context(cafile=CA)
        context.load_cert_chain(CERTIFICATES / "client.pem", CERTIFICATES / "client.key")
        with connect(port, context) as client:
            client.sendall(REQUEST)
            assert b"\npeer: CN=client,O=Millrace tests\n" in receive_all(client)
        nobody = run("curl", "--silent", "--show-error", "--cacert", CA, f"https://localhost:{port}")
        assert nobody.returncode != 0
        assert b"certificate required" in nobody.stderr, nobody.stderr
        done = get(port, "--ca", CA, *identity("client"))
        assert b"\npeer: CN=client,O=Millrace tests\n" in done.stdout, done
        done = get(port, "--ca", CA)
        assert done.returncode == 1
        assert b"certificate required" in done.stderr, done.stderr


def check_reload() -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = {kind: str(Path(folder) / f"mine.{kind}") for kind in ("pem", "key")}

        def use(name: str) -> None:
            for kind, file in files.items():
                shutil.copy(CERTIFICATES / f"{name}.{kind}", file)

        use("server")
        with served("--cert", files["pem"], "--key", files["key"]) as (server, port):
            assert get(port, "--ca", CA).returncode == 0
            use("other")
            server.send_signal(signal.SIGHUP)
            assert server.stderr
            assert server.stderr.readline() == "tls_info: has read its files again\n"
            assert b"tls_wrong_name" in get(port, "--ca", CA).stderr
            assert get(port, "--ca", CA, name="other.example.org").returncode == 0
            Path(files["pem"]).write_text("nonsense", encoding="ascii")
            server.send_signal(signal.SIGHUP)
            while "no certificate" not in server.stderr.readline():
                pass
            assert get(port, "--ca", CA, name="other.example.org").returncode == 0


def check_client_of_openssl() -> None:
    """Our client, with openssl s_server, which answers with a page about the connection."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    key = ["-cert", str(CERTIFICATES / "server.pem"), "-key", str(CERTIFICATES / "server.key")]
    command = ["openssl", "s_server", "-accept", f"127.0.0.1:{port}", *key, "-www"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout
        while server.stdout.readline().strip() != "ACCEPT":
            pass
        done = get(port, "--ca", CA, "--times", "3")
        assert done.returncode == 0, done
        assert done.stdout.count(b"HTTP/1.0 200 ok") == 3, done
        assert done.stderr.count(b"resumed: yes") == 2, done
        done = get(port, "--ca", CA, name="example.com")
        assert done.returncode == 1
        assert b"tls_wrong_name" in done.stderr, done.stderr
        assert b"hostname mismatch (example.com)" in done.stderr, done.stderr
        assert b"tls_certificate_untrusted" in get(port).stderr
    finally:
        server.kill()
        server.wait()


def serve_once(name: str, answer: Callable[[ssl.SSLSocket], None]) -> int:
    """A server of Python's ssl for one connection; the port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / f"{name}.pem", CERTIFICATES / f"{name}.key")
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with listener:
            plain = listener.accept()[0]
            try:
                with context.wrap_socket(plain, server_side=True) as client:
                    while b"\r\n\r\n" not in client.recv(65536):
                        pass
                    answer(client)
            except OSError:  # it has been refused
                pass

    threading.Thread(target=serve, daemon=True).start()
    return int(listener.getsockname()[1])


def check_client_of_python() -> None:
    def well(client: ssl.SSLSocket) -> None:
        client.sendall(b"y" * 5_000_000)
        client.unwrap()

    def cut(client: ssl.SSLSocket) -> None:
        client.sendall(b"some")
        client.shutdown(socket.SHUT_RDWR)

    done = get(serve_once("server", well), "--ca", CA)
    assert done.returncode == 0, done.stderr
    assert done.stdout == b"y" * 5_000_000
    done = get(serve_once("server", cut), "--ca", CA)
    assert (done.returncode, done.stdout) == (1, b"some"), done
    assert b"connection_cut_off" in done.stderr, done.stderr
    assert b"tls_certificate_expired" in get(serve_once("expired", well), "--ca", CA).stderr
    assert b"tls_certificate_untrusted" in get(serve_once("stranger", well), "--ca", CA).stderr


check_server()
check_mutual()
check_reload()
check_client_of_openssl()
check_client_of_python()
assert run(PROGRAM, "serve", "0").returncode == 1
assert run(PROGRAM, "serve").returncode == 2
