"""check_http.py PROGRAM: what http_program finds in streams of bytes, beside h11; its server beside real clients.

check_http_peers.py does the same with what takes longer.
"""

from __future__ import annotations

import http.client
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import h11

CORPUS = Path(__file__).resolve().parent / "http_corpus"
Requests = list[tuple[str, str, bytes]]
TAKEN = ("end", "closed", "taken")  # how a stream ends that was not refused


def read_by(command: list[str], streams: list[bytes]) -> list[tuple[str, Requests]]:
    """What a program finds in each stream: how it ends, and the requests."""
    data = b"".join(len(stream).to_bytes(4, "big") + stream for stream in streams)
    output = subprocess.run(command, input=data, capture_output=True, timeout=120, check=True).stdout
    results: list[tuple[str, Requests]] = []
    for line in output.decode("latin-1").split("\n")[:-1]:
        end, *words = line.split(" ")
        triples = zip(words[::3], words[1::3], words[2::3], strict=True)
        results.append((end, [(method, target, body_of(text)) for method, target, text in triples]))
    assert len(results) == len(streams)
    return results


def body_of(text: str) -> bytes:
    return b"" if text == "2d" else bytes.fromhex(text)


def read_by_h11(stream: bytes) -> tuple[str, Requests]:
    connection = h11.Connection(h11.SERVER)
    found: Requests = []
    connection.receive_data(stream)
    connection.receive_data(b"")
    request, body = None, b""
    try:
        while True:
            event = connection.next_event()
            if isinstance(event, h11.Request):
                request, body = event, b""
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                assert request
                found.append((request.method.decode(), request.target.decode(), body))
                connection.send(h11.Response(status_code=200, headers=[("Content-Length", "0")]))
                connection.send(h11.EndOfMessage())
                if connection.our_state is h11.MUST_CLOSE:
                    return "closed", found
                connection.start_next_cycle()
            elif isinstance(event, h11.ConnectionClosed):
                return "end", found
            else:
                return "other", found
    except h11.RemoteProtocolError:
        return "refused", found


class Writer:
    """Writes streams: of a few, most are right; of the others, some part is odd here and there."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.oddness = self.random.choice([0, 0, 0.03, 0.1])

    def pick(self, usual: list[bytes], odd: list[bytes]) -> bytes:
        return self.random.choice(odd if self.random.random() < self.oddness else usual)

    def chunked(self, body: bytes) -> bytes:
        out = b""
        while body:
            size = self.random.randint(1, len(body))
            text = self.random.choice([b"%x", b"%X", b"0%x"]) % size
            extension = self.pick([b"", b"", b";a", b";a=b", b';a="b"'], [b" ;a", b";a\rb", b";a\nb", b" "])
            out += text + extension + b"\r\n" + body[:size] + self.pick([b"\r\n"], [b"\n", b"", b"\r", b"\r\n\r\n"])
            body = body[size:]
        last = self.pick([b"0\r\n", b"00\r\n"], [b"0\n", b"-0\r\n", b"0x0\r\n", b"\r\n"])
        trailers = self.pick([b"", b"", b"Sum: 1\r\n", b"A: 1\r\nB: 2\r\n"], [b"A : 1\r\n", b"A: 1\n", b" A: 1\r\n"])
        return out + last + trailers + b"\r\n"

    def request(self) -> bytes:
        body = bytes(self.random.choice(b"ab\r\n0:;") for _ in range(self.random.randint(0, 30)))
        length = len(body)
        method = self.pick([b"GET", b"POST", b"PUT", b"DELETE", b"PURGE"], [b"", b"G(T", b"get "])
        target = self.pick([b"/", b"/a/b?c=d", b"/%20", b"http://a/b"], [b"*", b"/a#b", b"/a b", b"/\xff", b""])
        version = self.pick([b"HTTP/1.1"], [b"HTTP/1.0", b"HTTP/1.2", b"HTTP/1.10", b"http/1.1", b"HTTP/2.0"])
        fields = [self.pick([b"Host: a\r\n"], [b"", b"Host: a\r\nHost: b\r\n", b"Host : a\r\n"])]
        fields.append(
            self.pick([b"", b"X: 1\r\n", b"X: a b \r\nY:\tc\r\n"], [b"X : 1\r\n", b" X: 1\r\n", b"X: 1\r\n f\r\n"])
        )
        fields.append(
            self.pick([b"", b"Connection: keep-alive\r\n"], [b"Connection: close\r\n", b"X:\x00\r\n", b"X: \n\r\n"])
        )
        fields.append(self.pick([b""], [b"Content-Length: 3\r\n", b"Transfer-Encoding: chunked\r\n", b"Expect: x\r\n"]))
        kind = self.random.randint(0, 2)
        if kind == 1:
            fields.append(
                self.pick(
                    [b"Content-Length: %d\r\n", b"content-length:00%d\r\n"],
                    [b"Content-Length: +%d\r\n", b"Content-Length: 0x%x\r\n", b"Content-Length: %d;\r\n"],
                )
                % length
            )
            fields[-1] *= self.random.choice([1, 2]) if self.random.random() < self.oddness else 1
        elif kind == 2:
            odd = [b"gzip, chunked", b"chunked, chunked", b"identity", b"chunked, gzip", b"xchunked", b"chunked;q=1"]
            fields.append(b"Transfer-Encoding: " + self.pick([b"chunked", b"CHUNKED"], odd) + b"\r\n")
        self.random.shuffle(fields)
        data = [b"", body, self.chunked(body)][kind]
        end = self.pick([b"\r\n"], [b"\n", b"\r", b" \r\n"])
        return method + b" " + target + b" " + version + end + b"".join(fields) + b"\r\n" + data

    def stream(self) -> bytes:
        stream = b"".join(self.request() for _ in range(self.random.randint(1, 4)))
        if self.random.random() < self.oddness:
            at = self.random.randrange(len(stream))
            wrong = self.random.choice([b"", b"\r", b"\n", b" ", b"\x00", b"0", b"\xff"])
            stream = stream[:at] + wrong + stream[at + self.random.randint(0, 1) :]
        return stream


def check_same(streams: list[bytes], ours: list[tuple[str, Requests]], theirs: list[tuple[str, Requests]]) -> None:
    """Where both sides take a request, it is the same; where both take a whole stream, they find as many."""
    taken = 0
    for stream, (end, found), (their_end, theirs_found) in zip(streams, ours, theirs, strict=True):
        common = min(len(found), len(theirs_found))
        assert found[:common] == theirs_found[:common], (stream, found, theirs_found)
        if end in TAKEN and their_end in TAKEN:
            taken += 1
            assert found == theirs_found, (stream, found, theirs_found)
    print(f"{len(streams)} streams, {taken} of them taken by both sides")
    assert taken > len(streams) / 2, taken


def generated() -> list[bytes]:
    return [Writer(seed).stream() for seed in range(2000)]


def check_corpus(program: str) -> None:
    """A name is the end, the number of requests before it, and what the stream is about: 400-1-bare-lf."""
    files = sorted(CORPUS.iterdir())
    assert len(files) > 20
    results = read_by([program, "streams"], [file.read_bytes() for file in files])
    for file, (end, found) in zip(files, results, strict=True):
        wanted_end, wanted_count, _ = file.name.split("-", 2)
        assert (end, len(found)) == (wanted_end, int(wanted_count)), (file.name, end, found)


class Server:
    def __init__(self, program: str, port: int = 0) -> None:
        self.process = subprocess.Popen([program, "serve", str(port)], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        self.port = int(self.process.stdout.readline())

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(timeout=30) == 0


def curl(*arguments: str) -> str:
    command = ["curl", "--silent", "--show-error", "--fail-with-body", "--max-time", "30", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def check_curl(program: str) -> None:
    server = Server(program)
    base = f"http://127.0.0.1:{server.port}"
    assert curl(f"{base}/hello/you", f"{base}/hello/me") == "hello, you\nhello, me\n"
    assert curl("--http1.0", f"{base}/hello/you") == "hello, you\n"
    assert "Content-Length: 11\r\n" in curl("--head", f"{base}/hello/you").replace("\n", "\r\n")
    assert curl("--output", "/dev/null", "--write-out", "%{http_code}", f"{base}/hello/you?slow=1") == "200"
    with tempfile.NamedTemporaryFile() as file:
        file.write(random.Random(1).randbytes(3_000_000))
        file.flush()
        wanted = Path(file.name).read_bytes()
        for how in (["--header", "Expect: 100-continue"], ["--header", "Transfer-Encoding: chunked"]):
            with tempfile.NamedTemporaryFile() as answer:
                curl("--output", answer.name, "--data-binary", f"@{file.name}", *how, f"{base}/echo")
                assert Path(answer.name).read_bytes() == wanted
    server.stop()


class Clients:
    """Threads that ask a server until stop(): over kept connections, over new ones, and by curl."""

    def __init__(self, port: int) -> None:
        self.port, self.failures, self.answers = port, list[str](), 0
        self.stopped = threading.Event()
        self.threads = [threading.Thread(target=self.ask, args=(number,)) for number in range(6)]
        self.threads.append(threading.Thread(target=self.ask_by_curl))
        for thread in self.threads:
            thread.start()

    def ask(self, number: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        while not self.stopped.is_set():
            try:
                connection.request("GET", f"/hello/{number}" + ("?slow=1" if number % 2 else ""))
                text = connection.getresponse().read()
                assert text == f"hello, {number}\n".encode(), text
                self.answers += 1
                if number > 3:
                    connection.close()  # the next request makes a new one
            except Exception as error:
                self.failures.append(repr(error))
                connection.close()

    def ask_by_curl(self) -> None:
        url = f"http://127.0.0.1:{self.port}/hello/you"
        while not self.stopped.is_set():
            try:
                assert curl(url, f"{url}?slow=1", url) == "hello, you\n" * 3
                self.answers += 3
            except Exception as error:
                self.failures.append(f"{error!r} {getattr(error, 'stderr', '')}")

    def stop(self) -> None:
        self.stopped.set()
        for thread in self.threads:
            thread.join()


def check_restarts(program: str, restarts: int, *others: Callable[[int], Callable[[], None]]) -> None:
    """Clients that go on while one server after another takes the port over lose no request. Each of `others` is called
    with the port before the first restart, and afterwards what it has returned."""
    server = Server(program)
    clients = Clients(server.port)
    ends = [begin(server.port) for begin in others]
    for _ in range(restarts):
        time.sleep(0.2)
        following = Server(program, server.port)
        server.stop()
        server = following
    for end in ends:
        end()
    clients.stop()
    server.stop()
    print(f"{restarts} restarts: {clients.answers} answers, {len(clients.failures)} failed requests")
    assert not clients.failures, clients.failures[:3]
    assert clients.answers > 50, clients.answers


def main() -> int:
    program = sys.argv[1]
    check_corpus(program)
    streams = generated()
    check_same(streams, read_by([program, "streams"], streams), [read_by_h11(stream) for stream in streams])
    check_curl(program)
    check_restarts(program, 5)
    return 0


if __name__ == "__main__":
    sys.exit(main())
