"""Tests the program `message` with pyzmq: check_message.py PROGRAM [COUNT].

COUNT is the number of messages of each test, by default 2000. With 100000 the largest message has 64 MiB.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import zmq

PROGRAM = sys.argv[1]
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
LARGEST = (64 << 20) if COUNT >= 100_000 else 5_000_000


@contextmanager
def program(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """It runs; it has ended cleanly when the block is left. One that ends by itself is awaited in the block, since a
    signal while it ends would kill it."""
    running = subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield running
        running.send_signal(signal.SIGTERM)
        assert running.wait(20) == 0, f"{arguments}: exit code {running.returncode}"
    finally:
        running.kill()
        running.wait()


def bound(running: subprocess.Popen[str]) -> str:
    assert running.stderr
    line = running.stderr.readline()
    assert line.startswith("bound to "), line
    return line.removeprefix("bound to ").strip()


def socket(context: zmq.Context[zmq.Socket[bytes]], kind: int, **options: object) -> zmq.Socket[bytes]:
    made = context.socket(kind)
    made.linger = 0
    made.rcvtimeo = made.sndtimeo = 20_000
    made.ipv6 = True
    for name, value in options.items():
        setattr(made, name, value)
    return made


def bind(peer: zmq.Socket[bytes], endpoint: str) -> None:
    """libzmq gives a port back some time after its socket was closed."""
    deadline = time.monotonic() + 20
    while True:
        try:
            return peer.bind(endpoint)
        except zmq.ZMQError:
            assert time.monotonic() < deadline, f"{endpoint} is in use"
            time.sleep(0.01)


def check_echo(context: zmq.Context[zmq.Socket[bytes]], ours: str, kind: int, endpoint: str) -> None:
    with program("echo", ours, "bind", endpoint) as running, socket(context, kind) as peer:
        peer.connect(bound(running))
        for size in (0, 1, 255, 256, 65_535, 65_536, LARGEST):
            parts = [b"a" * size, b"", bytes(range(256))]
            peer.send_multipart(parts)
            assert peer.recv_multipart() == parts, f"{ours}: {size}"
        if kind == zmq.REQ:
            return
        echo(peer)


def check_restart(context: zmq.Context[zmq.Socket[bytes]], endpoint: str) -> None:
    """A program that is killed can be started again at the same place, and its clients connect again."""
    with socket(context, zmq.REQ, req_relaxed=True, req_correlate=True) as peer:
        peer.connect(endpoint)
        for _ in range(2):
            running = subprocess.Popen([PROGRAM, "echo", "REP", "bind", endpoint], stderr=subprocess.DEVNULL)
            try:
                deadline = time.monotonic() + 20
                while not peer.poll(200):  # a question may go down with the old connection
                    assert time.monotonic() < deadline, f"no answer at {endpoint}"
                    peer.send(b"hello")
                assert peer.recv() == b"hello"
            finally:
                running.kill()
                running.wait()


def check_connect(context: zmq.Context[zmq.Socket[bytes]]) -> None:
    """We connect to them, before and after they bind, and again when they come back."""
    with socket(context, zmq.ROUTER) as first:
        port = first.bind_to_random_port("tcp://127.0.0.1")
    endpoint = f"tcp://127.0.0.1:{port}"
    with program(
        "source",
        "DEALER",
        "connect",
        endpoint,
        "--count",
        "1000000",
        "--size",
        "3",
        "--identity",
        "me",
        "--linger",
        "0",
    ):
        for _ in range(3):
            with socket(context, zmq.ROUTER) as router:
                bind(router, endpoint)
                for _ in range(COUNT):
                    name, _number, body = router.recv_multipart()
                    assert name == b"me" and body == b"x" * 3


def check_push(context: zmq.Context[zmq.Socket[bytes]]) -> None:
    with socket(context, zmq.PULL) as pull:
        port = pull.bind_to_random_port("tcp://127.0.0.1")
        arguments = ("source", "PUSH", "connect", f"tcp://127.0.0.1:{port}", "--count", str(COUNT), "--size", "9")
        ended = subprocess.Popen([PROGRAM, *arguments])
        for number in range(COUNT):
            assert pull.recv_multipart() == [b"%d" % number, b"x" * 9]
        assert ended.wait(20) == 0
    with (
        program("sink", "PULL", "bind", "tcp://127.0.0.1:*", "--count", "3") as sink,
        socket(context, zmq.PUSH) as push,
    ):
        push.connect(bound(sink))
        for number in range(3):
            push.send_multipart([b"%d" % number, b"\x00\xff"])
        assert sink.stdout
        assert sink.stdout.read().split("\n") == ["30 00ff", "31 00ff", "32 00ff", ""]
        assert sink.wait(20) == 0


def check_publish(context: zmq.Context[zmq.Socket[bytes]]) -> None:
    with socket(context, zmq.SUB) as sub:
        port = sub.bind_to_random_port("tcp://127.0.0.1")
        sub.subscribe(b"b")
        arguments = ("source", "PUB", "connect", f"tcp://127.0.0.1:{port}", "--count", "50", "--size", "1")
        with program(*arguments, "--topic", "a") as other, program(*arguments, "--topic", "b") as ours:
            for number in range(50):
                assert sub.recv_multipart() == [b"b%d" % number, b"x"]
            assert other.wait(20) == 0
            assert ours.wait(20) == 0
    with socket(context, zmq.XPUB) as publisher:
        port = publisher.bind_to_random_port("tcp://127.0.0.1")
        with program("sink", "SUB", "connect", f"tcp://127.0.0.1:{port}", "--topic", "x", "--count", "2") as sink:
            assert publisher.recv() == b"\x01x"
            for text in (b"x1", b"y", b"x2"):
                publisher.send(text)
            assert sink.stdout
            assert sink.stdout.read() == "7831\n7832\n"
            assert sink.wait(20) == 0


def check_other_types(context: zmq.Context[zmq.Socket[bytes]]) -> None:
    """Those that the other checks leave out, as the side that binds and as the side that connects."""
    for ours, kind in (("PAIR", zmq.PAIR), ("DEALER", zmq.DEALER)):
        with program("echo", ours, "bind", "tcp://127.0.0.1:*") as running, socket(context, kind) as peer:
            peer.connect(bound(running))
            echo(peer)
        with socket(context, kind) as peer:
            port = peer.bind_to_random_port("tcp://127.0.0.1")
            with program("echo", ours, "connect", f"tcp://localhost:{port}"):
                echo(peer)
    with socket(context, zmq.REP) as replier:
        port = replier.bind_to_random_port("tcp://127.0.0.1")
        arguments = ("source", "REQ", "connect", f"tcp://127.0.0.1:{port}", "--count", str(COUNT), "--size", "2")
        asking = subprocess.Popen([PROGRAM, *arguments])
        for number in range(COUNT):
            assert replier.recv_multipart() == [b"%d" % number, b"xx"]
            replier.send(b"")
        assert asking.wait(20) == 0
    for kind in (zmq.SUB, zmq.XSUB):
        arguments = ("bind", "tcp://127.0.0.1:*", "--topic", "t", "--count", str(COUNT), "--size", "1", "--hwm", "0")
        with program("source", "XPUB", *arguments) as running, socket(context, kind, rcvhwm=0) as subscriber:
            subscriber.connect(bound(running))
            if kind == zmq.SUB:
                subscriber.subscribe(b"t")
            else:
                subscriber.send(b"\x01t")
            for number in range(COUNT):
                assert subscriber.recv_multipart() == [b"t%d" % number, b"x"]
            assert running.wait(20) == 0
    for kind in (zmq.PUB, zmq.XPUB):
        with socket(context, kind, sndhwm=0) as publisher:
            port = publisher.bind_to_random_port("tcp://127.0.0.1")
            arguments = ("connect", f"tcp://127.0.0.1:{port}", "--topic", "t", "--count", "1")
            with program("sink", "XSUB", *arguments) as sink:
                while sink.poll() is None:
                    publisher.send_multipart([b"t", b"\xff"])
                    publisher.send(b"another topic")
                    time.sleep(0.01)
                assert sink.stdout
                assert sink.stdout.read() == "74 ff\n"


def echo(peer: zmq.Socket[bytes]) -> None:
    for start in range(0, COUNT, 100):
        for number in range(start, start + 100):
            peer.send(b"%d" % number)
        for number in range(start, start + 100):
            assert peer.recv() == b"%d" % number


def check_plain(context: zmq.Context[zmq.Socket[bytes]]) -> None:
    with program("echo", "REP", "bind", "tcp://127.0.0.1:0", "--plain", "ann:secret") as running:
        endpoint = bound(running)
        right = {"plain_username": b"ann", "plain_password": b"secret"}
        with socket(context, zmq.REQ, **right) as peer:
            peer.connect(endpoint)
            peer.send(b"hello")
            assert peer.recv() == b"hello"
        for wrong in ({"plain_username": b"ann", "plain_password": b"wrong"}, {}):
            with socket(context, zmq.REQ, **wrong) as peer:
                peer.rcvtimeo = 300
                peer.connect(endpoint)
                peer.send(b"hello")
                try:
                    raise AssertionError(f"{wrong} got {peer.recv()!r}")
                except zmq.Again:
                    pass


def check_curve(context: zmq.Context[zmq.Socket[bytes]], directory: str) -> None:
    """CURVE in both directions: with a wrong key of the server no client connects."""
    server_public, server_secret = zmq.curve_keypair()
    client_public, client_secret = zmq.curve_keypair()
    files = {}
    for name, key in (("public", server_public), ("server", server_secret), ("client", client_secret)):
        files[name] = f"{directory}/{name}.key"
        with open(files[name], "wb") as file:
            file.write(key + b"\n")
    right = {"curve_publickey": client_public, "curve_secretkey": client_secret, "curve_serverkey": server_public}
    with program("echo", "ROUTER", "bind", "tcp://127.0.0.1:0", "--curve-server", files["server"]) as running:
        endpoint = bound(running)
        with socket(context, zmq.DEALER, **right) as peer:
            peer.connect(endpoint)
            for size in (0, 1, 255, 256, 65_535, 1_000_000):
                parts = [b"a" * size, b"", bytes(range(256))]
                peer.send_multipart(parts)
                assert peer.recv_multipart() == parts, f"CURVE: {size}"
            echo(peer)
        for wrong in ({**right, "curve_serverkey": client_public}, {}):
            with socket(context, zmq.DEALER, **wrong) as peer:
                peer.rcvtimeo = 300
                peer.connect(endpoint)
                peer.send(b"hello")
                try:
                    raise AssertionError(f"{wrong} got {peer.recv()!r}")
                except zmq.Again:
                    pass
    options = {"curve_server": True, "curve_secretkey": server_secret}
    with socket(context, zmq.PULL, **options) as pull, socket(context, zmq.XPUB, **options) as publisher:
        endpoint = f"tcp://127.0.0.1:{pull.bind_to_random_port('tcp://127.0.0.1')}"
        arguments = ("--count", str(COUNT), "--size", "9", "--curve-client", files["public"], files["client"])
        ended = subprocess.Popen([PROGRAM, "source", "PUSH", "connect", endpoint, *arguments])
        for number in range(COUNT):
            assert pull.recv_multipart() == [b"%d" % number, b"x" * 9]
        assert ended.wait(20) == 0
        endpoint = f"tcp://127.0.0.1:{publisher.bind_to_random_port('tcp://127.0.0.1')}"
        arguments = ("--topic", "x", "--count", "1", "--curve-client", files["public"], files["client"])
        with program("sink", "SUB", "connect", endpoint, *arguments) as sink:
            assert publisher.recv() == b"\x01x"
            for text in (b"y", b"x1"):
                publisher.send(text)
            assert sink.stdout
            assert sink.stdout.read() == "7831\n"
            assert sink.wait(20) == 0


def check_heartbeats(context: zmq.Context[zmq.Socket[bytes]]) -> None:
    """Whoever sends PINGs, and with whatever TTL: idle connections stay."""
    beating = {"heartbeat_ivl": 200}
    cases: list[tuple[list[str], dict[str, int]]] = [
        (["--heartbeat", "0.2"], {}),
        (["--heartbeat", "0.25"], {"heartbeat_ivl": 300}),
        ([], {**beating, "heartbeat_ttl": 200}),
        ([], {**beating, "heartbeat_timeout": 400}),
        (["--heartbeat", "0.2"], {**beating, "heartbeat_ttl": 1000, "heartbeat_timeout": 1000}),
    ]
    with ExitStack() as stack:
        peers = []
        for options_here, options in cases:
            running = stack.enter_context(program("echo", "ROUTER", "bind", "tcp://127.0.0.1:*", *options_here))
            peer = stack.enter_context(socket(context, zmq.DEALER, **options))
            ended = peer.get_monitor_socket(zmq.EVENT_DISCONNECTED)
            peer.connect(bound(running))
            peers.append((peer, ended, f"{options_here}, {options}"))
        time.sleep(1.5)
        for peer, ended, case in peers:
            assert not ended.poll(0), f"{case}: the connection has ended"
            peer.disable_monitor()
            peer.send(b"still there")
            assert peer.recv() == b"still there"


def check_arguments() -> None:
    for arguments in (
        [],
        ["echo", "PULL", "bind", "tcp://*:0"],
        ["echo", "REP", "listen", "tcp://*:0"],
        ["echo", "REP", "bind", "tcp://nowhere"],
        ["echo", "REP", "bind", "udp://127.0.0.1:1"],
        ["echo", "REP", "bind", "tls://127.0.0.1:*"],
        ["echo", "REP", "bind", "tcp://localhost:1"],
        ["echo", "REP", "bind", "tcp://192.0.2.1:5555"],
        ["echo", "REP", "bind", "ipc:///nowhere/file"],
        ["echo", "REP", "bind", "ipc://*"],
        ["source", "PUSH", "connect", "tcp://127.0.0.1:1", "--count", "1", "--size", "4000000000"],
        ["echo", "REP", "connect", "tcp://127.0.0.1:0"],
        ["echo", "REP", "bind", "tcp://127.0.0.1:0", "--what", "1"],
        ["echo", "REP", "bind", "tcp://127.0.0.1:0", "--hwm"],
        ["echo", "REP", "bind", "tcp://127.0.0.1:0", "--hwm", "many"],
        ["source", "PUSH", "connect", "tcp://127.0.0.1:1"],
        ["echo", "REP", "bind", "tcp://127.0.0.1:0", "--curve-server", "/nowhere/key"],
        ["echo", "REP", "bind", "tcp://127.0.0.1:0", "--curve-client", "/nowhere/key"],
        ["echo", "REP", "bind", "tcp://127.0.0.1:0", "--curve-client", "/nowhere/key", "/nowhere/other"],
    ):
        ended = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=20)
        assert ended.returncode == 2, f"{arguments}: {ended}"
        assert ended.stderr.count("\n") == 1, f"{arguments}: {ended}"


def main() -> None:
    check_arguments()
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    with tempfile.TemporaryDirectory() as directory:
        for ours, kind in (("ROUTER", zmq.DEALER), ("ROUTER", zmq.REQ), ("REP", zmq.REQ), ("REP", zmq.DEALER)):
            for endpoint in ("tcp://127.0.0.1:*", "tcp://[::1]:0", f"ipc://{directory}/{ours}{kind}"):
                if (ours, kind) != ("REP", zmq.DEALER):  # needs an envelope
                    check_echo(context, ours, kind, endpoint)
        if zmq.has("curve"):
            check_curve(context, directory)
        check_restart(context, f"ipc://{directory}/restart")
    check_connect(context)
    check_push(context)
    check_publish(context)
    check_other_types(context)
    check_plain(context)
    check_heartbeats(context)


main()
