"""Counts instructions of one item: two runs with different numbers of passes, and the difference."""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from millrace.bench.callgrind import PLAIN_PROCESSOR, Process, valgrind, valgrind_version
from millrace.bench.plan import ITEMS, TIMES, groups
from millrace.bench.suite import Died, RunError, death, once
from millrace.common.process import side_by_side
from millrace.common.progress import Bar

# The versions, beside the compiler, that can change the counts of equal programs.
LIBC = "libc"
VALGRIND = "valgrind"


def count(program: Path, names: Sequence[str], loop: str, console: Console, title: str) -> dict[str, Any]:
    """The program's JSON in the order of `names`, with instructions_per_item in the place of times.

    If the program crashes in a benchmark, that one has an error, and the others are counted again.
    """
    valgrind()  # a missing valgrind is reported before anything runs
    deaths: dict[str, Died] = {}
    while alive := [name for name in names if name not in deaths]:
        try:
            document = _count(program, alive, loop, console, title)
        except Died as one:
            deaths[one.name] = one
            continue
        results = {result["name"]: result for result in document["benchmarks"]}
        return document | {"benchmarks": [results[name] if name in results else deaths[name].result for name in names]}
    raise next(iter(deaths.values()), RunError("there is nothing to count"))


def _count(program: Path, names: Sequence[str], loop: str, console: Console, title: str) -> dict[str, Any]:
    planned = list(groups(names, items_of(program, names, loop)))
    with tempfile.TemporaryDirectory() as folder, Bar(console, title) as bar:
        pairs = [
            tuple(_process(Path(folder) / f"{i}-{times}", some, passes * times) for times in (1, TIMES))
            for i, (some, passes) in enumerate(planned)
        ]
        processes = [process for pair in pairs for process in pair]
        done = 0

        def on_end(index: int, code: int, output: str) -> None:
            nonlocal done
            if code not in (0, 1):
                raise death(code, output.splitlines(), processes[index].names)
            if not processes[index].is_done():
                raise RunError("\n".join([*output.splitlines()[-20:], "valgrind did not run the benchmarks"]))
            done += 1
            bar.update(done, len(processes))

        commands = [process.command(program, loop) for process in processes]
        side_by_side(commands, os.cpu_count() or 1, on_end, PLAIN_PROCESSOR)
        results: dict[str, dict[str, Any]] = {}
        context: dict[str, Any] = {}
        for few, many in pairs:
            context = few.read()[1]["context"]
            results |= {result["name"]: result for result in per_item(few, many)}
    machine = {"loop": loop, LIBC: " ".join(platform.libc_ver()), VALGRIND: valgrind_version()}
    return {"context": context | machine, "benchmarks": [results[name] for name in names]}


def _process(folder: Path, names: Sequence[str], passes: int) -> Process:
    folder.mkdir()
    return Process(names, passes, folder)


def items_of(program: Path, names: Sequence[str], loop: str) -> dict[str, float]:
    """The number of items in a pass of each. One pass of each shows that, and that it works."""
    results = once(program, names, loop, 1)["benchmarks"]
    return {result["name"]: _items(result) for result in results}


def _items(result: Mapping[str, Any]) -> float:
    """As many as FEWEST_PASSES need, if the clock starts anew in each run: then callgrind writes a file for each."""
    return ITEMS if result.get("size") and result.get("intervals") else float(result.get("items_per_op", 1))


def per_item(few: Process, many: Process) -> list[dict[str, Any]]:
    """The result of each benchmark of two processes that differ only in their passes."""
    (few_counts, few_document), (many_counts, many_document) = few.read(), many.read()
    earlier = {result["name"]: result for result in few_document["benchmarks"]}
    found = []
    for later in many_document["benchmarks"]:
        name = later["name"]
        kept = {"name": name, "run_name": name, "run_type": "iteration", "passes": many.passes - few.passes}
        for failed in (earlier[name], later):
            if failed.get("error_occurred"):
                kept |= {"error_occurred": True, "error_message": failed.get("error_message", "")}
        if "error_occurred" not in kept:
            each = later.get("items_per_op", 1)
            kept["items_per_op"] = each
            kept["instructions_per_item"] = (
                difference(few_counts[name], few.passes, many_counts[name], many.passes) / each
            )
            allocations = [
                result["allocs_per_item"] * run.passes for result, run in ((earlier[name], few), (later, many))
            ]
            kept["allocs_per_item"] = difference(allocations[0], few.passes, allocations[1], many.passes)
            if "frame_bytes" in later:
                kept["frame_bytes"] = later["frame_bytes"]
        found.append(kept)
    return found


def difference(few: float, few_passes: int, many: float, many_passes: int) -> float:
    """The instructions of a pass, without the fixed part that both runs have in common."""
    return (many - few) / (many_passes - few_passes)
