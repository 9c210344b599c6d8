"""Lets asyncio drive our loop, beside a server of asyncio on the same thread: check_asyncio_ask.py MODULE."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from typing import Any

MODULE = sys.argv[1]


def load() -> Any:
    spec = importlib.util.spec_from_file_location("asyncio_ask", MODULE)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def check() -> None:
    ours = load()
    loop = asyncio.get_running_loop()
    calls = 0

    def run_ready() -> None:
        nonlocal calls
        calls += 1
        ours.run_ready()

    loop.add_reader(ours.descriptor(), run_ready)

    async def ask(address: str, question: bytes) -> bytes | str:
        answer: asyncio.Future[bytes | str] = loop.create_future()
        ours.ask(address, question, lambda line, error: answer.set_result(error if line is None else line))
        return await asyncio.wait_for(answer, 20)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = await reader.readline()
        await asyncio.sleep(0.01)
        writer.write(line.upper())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    answers = await asyncio.gather(*(ask(address, f"line {i}\n".encode()) for i in range(100)))
    assert answers == [f"LINE {i}\n".encode() for i in range(100)], answers
    server.close()
    refused = await ask(address, b"x\n")
    assert isinstance(refused, str) and "refused" in refused, refused
    before = calls
    await asyncio.sleep(0.2)
    assert calls - before <= 2, f"asyncio has called run_ready() {calls - before} times, although nothing was due"


asyncio.run(check())
