"""Runs the steps of the tutorial as separate processes: check_tutorial.py PROGRAM."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "tools"))
from common.ports import free_ports

PROGRAM = sys.argv[1]


def output_of(*arguments: str) -> str:
    done = subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE, text=True, timeout=60, check=False)
    assert done.returncode == 0, (arguments, done.returncode, done.stdout)
    return done.stdout


def start_server(port: str) -> tuple[subprocess.Popen[str], str]:
    """The server, and where it listens."""
    command = [PROGRAM, "--port", port, "echoServer", "kvServer"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout
    line = server.stdout.readline().strip()
    assert line.startswith("listening at 127.0.0.1:"), line
    return server, line.removeprefix("listening at ")


def check_alone() -> None:
    assert output_of("promises") == "Who is there?\nHello, world!\nThe promise: broken_promise\n"
    assert output_of("triggers") == "Ring 1\nRing 2\nRing 3\n"


def check_arguments() -> None:
    for wrong in (
        [],
        ["sing"],
        ["--port", "99999", "echoServer"],
        ["--server", "nonsense", "echoClient"],
        ["--seconds", "abc", "promises"],
        ["echoClient"],
    ):
        done = subprocess.run([PROGRAM, *wrong], stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        assert done.returncode == 2 and done.stderr.startswith("usage: "), (wrong, done)


def check_echo(address: str) -> None:
    assert output_of("--server", address, "echoClient") == (
        "Sent Hello World, received Hello World\n"
        "Sent Hello World, received dlroW olleH\n"
        "Received 10 replies of a stream\n"
    )


def check_store(address: str) -> None:
    assert output_of("--server", address, "kvClient") == "foo is bar\nfoo is gone\n"
    command = [PROGRAM, "--server", address, "--seconds", "0.5", "kvBenchmark"]
    clients = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    for client in clients:
        said, _ = client.communicate(timeout=60)
        found = re.fullmatch(r"(\d+) requests per second\n", said)
        assert client.returncode == 0 and found and int(found[1]) > 0, said


def check_client_first() -> None:
    """A client that starts before the server waits for it; after its server is killed it continues with the next."""
    (port,) = free_ports(1)
    server, address = start_server(str(port))
    server.kill()
    server.wait()
    command = [PROGRAM, "--server", address, "echoClient"]
    client = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    server, _ = start_server(str(port))
    try:
        said, _ = client.communicate(timeout=60)
        assert client.returncode == 0 and said.startswith("Sent Hello World"), said
    finally:
        server.kill()
        server.wait()


def main() -> None:
    check_arguments()
    check_alone()
    server, address = start_server("0")
    try:
        check_echo(address)
        check_store(address)
        check_echo(address)
        assert server.poll() is None, f"the server has ended with {server.returncode}"
    finally:
        server.send_signal(signal.SIGKILL)
        server.wait(20)
    check_client_first()


if __name__ == "__main__":
    main()
