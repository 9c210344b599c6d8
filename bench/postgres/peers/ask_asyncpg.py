"""asyncpg, with a pool: prints what bench/postgres/millrace.cpp prints."""

from __future__ import annotations

import asyncio
import resource
import sys
import time

import asyncpg

ONE = "SELECT id, name, price FROM item WHERE id = $1"
ALL = "SELECT id, name, price FROM item"
INSERT = "INSERT INTO sale (item, amount) VALUES ($1, $2)"
ITEMS, QUERIES, WARM_UP = 1000, 20, 0.1


def next_id(id: int) -> int:
    return id % ITEMS + 1


def check(item: asyncpg.Record, id: int) -> None:
    if item[0] != id or not item[1] or item[2] != 10 * id:
        raise SystemExit("the server has answered something else")


async def ask_once(pool: asyncpg.Pool, work: str, id: int) -> None:
    if work in ("row", "queries-20"):
        for _ in range(1 if work == "row" else QUERIES):
            check(await pool.fetchrow(ONE, id), id)
            id = next_id(id)
    elif work == "rows-1000":
        items = await pool.fetch(ALL)
        for id in range(ITEMS):
            check(items[id], id + 1)
    elif work == "stream-1000":
        id = 0
        async with pool.acquire() as connection, connection.transaction():
            async for item in connection.cursor(ALL):
                id += 1
                check(item, id)
    elif work == "insert":
        await pool.execute(INSERT, id, 7)
    else:
        raise SystemExit("there is no such work")


async def ask(pool: asyncpg.Pool, work: str, id: int, end: float, times: list[float]) -> None:
    while (asked := time.monotonic()) < end:
        await ask_once(pool, work, id)
        times.append(time.monotonic() - asked)
        id = next_id(id)


async def keep(_connection: object) -> None:
    """For the end of a use: without it, the pool asks the server for one more thing each time."""


def processor_time() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def measure(work: str, tasks: int, connections: int, seconds: float, url: str) -> None:
    options = dict(word.split("=") for word in url.split())
    options["database"] = options.pop("dbname")
    async with asyncpg.create_pool(**options, min_size=connections, max_size=connections, reset=keep) as pool:
        for duration in (WARM_UP, seconds):
            times: list[float] = []
            begin, used = time.monotonic(), processor_time()
            end = begin + duration
            await asyncio.gather(*(ask(pool, work, next_id(i * 37), end, times) for i in range(tasks)))
            took, used = time.monotonic() - begin, processor_time() - used
    times.sort()
    print(len(times), took, used, times[len(times) // 2] * 1e6, times[len(times) * 99 // 100] * 1e6)


asyncio.run(measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), sys.argv[5]))
