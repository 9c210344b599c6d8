"""`tools/fuzz --parser`: runs the parser fuzzer over several processes and says what it found."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed

from rich.console import Console

from benchlib.progress import Bar
from fuzzlib.mutation import Corpus
from fuzzlib.parser_fuzz import Campaign, minimised, run, text_of

_CHUNK = 2_000  # executions handed to a process at once


def _run_chunk(seed: int, first: int, end: int) -> Campaign:
    return run(_corpus(), seed, range(first, end))


def _corpus() -> Corpus:
    global _made
    if _made is None:
        _made = Corpus()
    return _made


_made: Corpus | None = None


def fuzz_parser(executions: int, seed: int, jobs: int) -> int:
    """Returns the exit code: 1 if there is a fault."""
    total = Campaign()
    chunks = [(first, min(first + _CHUNK, executions)) for first in range(0, executions, _CHUNK)]
    with Bar(Console(stderr=True), "fuzzing the parser") as bar, ProcessPoolExecutor(jobs) as pool:
        waiting = [pool.submit(_run_chunk, seed, first, end) for first, end in chunks]
        for done in as_completed(waiting):
            total.add(done.result())
            bar.update(total.executions, executions)
    per_second = total.executions / total.seconds if total.seconds else 0.0
    print(
        f"{total.executions} executions with seed {seed}: {total.accepted} accepted and emitted twice, "
        f"{total.executions - total.accepted} rejected or faulty, {per_second:.0f}/s a core, {len(total.faults)} faults"
    )
    for fault, (number, text, times) in sorted(total.faults.items()):
        print(f"\n{fault} ({times} times)")
        print(f"  again: tools/fuzz --parser --seed {seed} --only {number}")
        print(f"  short: {minimised(text, fault)!r}", flush=True)
    return 1 if total.faults else 0


def only(seed: int, number: int) -> int:
    """One execution again, whole: for who mends what it found."""
    text = text_of(_corpus(), seed, number)
    sys.stdout.write(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace") + "\n")
    return 1 if run(_corpus(), seed, range(number, number + 1)).faults else 0


def default_jobs() -> int:
    return os.cpu_count() or 1
