"""Fetches from a server of Python's library: check_fetch.py FETCH [CERTIFICATES]."""

from __future__ import annotations

import socket
import ssl
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

FETCH, *CERTIFICATES = sys.argv[1:]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def answer(self, status: int, body: bytes, **fields: str) -> None:
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        if self.path == "/moved":
            self.answer(302, b"there", Location="/hello?from=moved")
        elif self.path == "/chunked":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for i in range(1000):
                piece = b"%d\n" % i
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")
        elif self.path == "/cut":
            self.send_response(200)
            self.send_header("Content-Length", "10")
            self.end_headers()
            self.wfile.write(b"half")
            self.close_connection = True
        elif self.path == "/missing":
            self.answer(404, b"nothing\n")
        else:
            self.answer(200, f"{self.path} {self.headers.get('X-Key', '')}\n".encode())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(200, self.headers["Content-Type"].encode() + b": " + body)

    def do_CONNECT(self) -> None:
        host, port = self.path.split(":")
        with socket.create_connection((host, int(port)), timeout=20) as other:
            self.send_response_only(200)
            self.end_headers()
            back = threading.Thread(target=pump, args=[other, self.connection])
            back.start()
            pump(self.connection, other)
            back.join()
        self.close_connection = True


def pump(source: socket.socket, to: socket.socket) -> None:
    try:
        while piece := source.recv(65536):
            to.sendall(piece)
        to.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def fetch(*arguments: str) -> tuple[int, str, str]:
    done = subprocess.run([FETCH, *arguments], capture_output=True, text=True, timeout=20, check=False)
    return done.returncode, done.stdout, done.stderr


class Server(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """A client that has gone, as some of them do here."""


def start(secure: bool = False) -> str:
    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if secure:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        folder = Path(CERTIFICATES[0])
        context.load_cert_chain(folder / "server.pem", folder / "server.key")
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"{'https' if secure else 'http'}://localhost:{server.server_address[1]}"


def main() -> None:
    at = start()
    assert fetch(f"{at}/hello", "--header", "X-Key: 7") == (0, "/hello 7\n", "200 OK\n")
    assert fetch(f"{at}/moved") == (0, "/hello?from=moved \n", "200 OK\n")
    assert fetch(f"{at}/missing") == (0, "nothing\n", "404 Not Found\n")
    assert fetch(f"{at}/chunked") == (0, "".join(f"{i}\n" for i in range(1000)), "200 OK\n")
    assert fetch(at, "--data", "some text") == (0, "text/plain: some text", "200 OK\n")
    code, body, errors = fetch(f"{at}/cut")
    assert (code, body) == (1, "half"), errors
    assert f"GET {at}/cut: the connection ended" in errors, errors
    code, _, errors = fetch(f"{at}/chunked", "--most", "10")
    assert code == 1 and "--most" in errors, errors
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        code, _, errors = fetch(url, "--timeout", "0.2")
        assert code == 1 and f"GET {url}: " in errors and "`timeout`" in errors, errors
    code, _, errors = fetch(url)
    assert code == 1 and f"GET {url}: connect to 127.0.0.1:" in errors and "Connection refused" in errors, errors
    assert fetch(f"{at}/x", "--proxy", start()) == (0, "/x \n", "200 OK\n")
    if CERTIFICATES:
        authority = str(Path(CERTIFICATES[0]) / "ca.pem")
        secure = start(secure=True)
        assert fetch(f"{secure}/x", "--ca", authority) == (0, "/x \n", "200 OK\n")
        assert fetch(f"{secure}/x", "--ca", authority, "--proxy", at) == (0, "/x \n", "200 OK\n")
        code, _, errors = fetch(f"{secure}/x")
        assert code == 1 and f"GET {secure}/x: " in errors, errors
    for wrong in ([], ["a", "b"], [f"{at}/", "--most", "x"], [f"{at}/", "--most"]):
        assert fetch(*wrong)[0] == 2, wrong
    for wrong in (["nowhere"], ["ftp://a/"], ["http://a b/"]):
        code, _, errors = fetch(*wrong)
        assert code == 1 and "the URL" in errors, errors


main()
