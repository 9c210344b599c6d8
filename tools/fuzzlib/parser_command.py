"""`tools/fuzz --parser`: runs the parser fuzzer in several processes and prints the faults."""

from __future__ import annotations

import sys
from contextlib import closing

from fuzzlib.mutation import Corpus
from fuzzlib.parser_fuzz import Campaign, fault, minimised, run, text_of
from fuzzlib.workers import unordered
from millrace.common.console import plain
from millrace.common.progress import Bar

_CHUNK = 2_000  # executions that a process gets at a time


def _run_chunk(chunk: tuple[int, range]) -> Campaign:
    seed, numbers = chunk
    return run(_corpus(), seed, numbers)


def _corpus() -> Corpus:
    global _made
    if _made is None:
        _made = Corpus()
    return _made


_made: Corpus | None = None


def fuzz_parser(executions: int, seed: int, jobs: int) -> int:
    """Returns the exit code: 1 if there is a fault."""
    total = Campaign()
    chunks = [(seed, range(first, min(first + _CHUNK, executions))) for first in range(0, executions, _CHUNK)]
    results = unordered(_run_chunk, chunks, jobs)
    try:
        with Bar(plain(stderr=True), "fuzzing the parser") as bar, closing(results):
            for done in results:
                total.add(done)
                bar.update(total.executions, executions)
    except KeyboardInterrupt:
        faults = len(total.faults)
        print(f"tools/fuzz: interrupted after {total.executions} executions, {faults} faults", file=sys.stderr)
        return 130
    per_second = total.executions / total.seconds if total.seconds else 0.0
    print(
        f"{total.executions} executions with seed {seed}: {total.accepted} accepted and emitted twice, "
        f"{total.executions - total.accepted} rejected or faulty, {per_second:.0f}/s a core, {len(total.faults)} faults"
    )
    for what, (number, text, times) in sorted(total.faults.items()):
        print(f"\n{what} ({times} times)")
        print(f"  again: tools/fuzz --parser --seed {seed} --only {number}")
        print(f"  short: {minimised(text, what)!r}", flush=True)
    return 1 if total.faults else 0


def only(seed: int, number: int) -> int:
    """Runs one execution again and prints its whole text, for debugging."""
    text = text_of(_corpus(), seed, number)
    sys.stdout.write(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace") + "\n")
    found = fault(text)
    if found is None:
        return 0
    print(f"tools/fuzz: {found}", file=sys.stderr)
    return 1
