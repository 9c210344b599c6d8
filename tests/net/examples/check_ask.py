"""Asks an echo server over a pool of connections: check_ask.py ASK ECHO."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading

from server import running

ASK, ECHO = sys.argv[1:]


def ask(*arguments: str, lines: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([ASK, *arguments], input=lines, capture_output=True, text=True, timeout=20, check=False)


def check_connections(most: int) -> None:
    """A server that answers nothing before it has as many connections as it may have."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        clients: list[socket.socket] = []

        def serve(client: socket.socket) -> None:
            with client, client.makefile("rwb") as stream:
                for line in stream:
                    stream.write(line.upper())
                    stream.flush()

        def accept() -> None:
            listener.settimeout(20)
            clients.extend(listener.accept()[0] for _ in range(most))
            for client in clients:
                threading.Thread(target=serve, args=[client], daemon=True).start()

        acceptor = threading.Thread(target=accept)
        acceptor.start()
        at = f"127.0.0.1:{listener.getsockname()[1]}"
        done = ask(at, "--connections", str(most), lines="".join(f"line {i}\n" for i in range(100)))
        acceptor.join()
        assert done.stdout == "".join(f"LINE {i}\n" for i in range(100)), done
        listener.settimeout(0)
        try:
            listener.accept()
            raise AssertionError("ask makes more connections than it may")
        except BlockingIOError:
            pass


def main() -> None:
    lines = "".join(f"{i}\n" for i in range(2000))
    with running(ECHO, "0") as (_, port):
        for options in ([], ["--connections", "1"]):
            done = ask(f"localhost:{port}", *options, lines=lines)
            assert (done.returncode, done.stdout) == (0, lines), done
    done = ask(f"127.0.0.1:{port}", lines="x\n")
    assert done.returncode == 1, done
    assert "Connection refused" in done.stderr, done
    check_connections(3)
    for wrong in (["nowhere"], ["localhost:1", "--connections", "0"], ["localhost:1", "--connections", "x"]):
        assert ask(*wrong).returncode == 2, wrong


main()
