"""The simulation is tested by what it must find: the planted faults of tests/sim/mutants.h, one at a time.

check_mutants.py PROGRAM [--seeds N] [--share PERCENT] [--jobs N] [--only MUTANT...]

Runs the simulation `kv` with the seeds from 0 on until one fails, and prints for each fault which that was. PROGRAM is
`mutants`, beside that of the simulations: there the library can have faults, too. The exit code is 1 if fewer than the
share of them were found.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from ensemblelib.batch import Batch, Record

TIMEOUT = 120.0  # real seconds, for each seed


def hunt(program: str, mutant: str, seeds: int) -> Record | None:
    """The record of the first seed that fails."""
    found: list[Record] = []
    over = threading.Event()

    def look(record: Record) -> None:
        if record["failure"] is not None and not found:
            found.append(record)
            over.set()

    command = [program, "--run", "kv", "--once"]
    Batch(command, TIMEOUT, {"MILLRACE_MUTANT": mutant}, look, over.is_set).run(0, seeds - 1)
    return found[0] if found else None


def mutants(program: str) -> list[str]:
    command = [program, "--list"]
    asked = {**os.environ, "MILLRACE_MUTANT": "?"}
    return subprocess.run(command, env=asked, stdout=subprocess.PIPE, text=True, check=True).stdout.split()


def hunts(program: str, names: list[str], seeds: int, jobs: int) -> Iterator[tuple[str, Record | None, float]]:
    def one(name: str) -> tuple[str, Record | None, float]:
        began = time.monotonic()
        record = hunt(program, name, seeds)
        return name, record, time.monotonic() - began

    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(one, names)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="PROGRAM")
    parser.add_argument("--only", metavar="MUTANT", nargs="+", help="default: all")
    parser.add_argument("--seeds", type=int, default=1000, metavar="N", help="at most, for each; default: 1000")
    parser.add_argument("--share", type=float, default=95.0, metavar="PERCENT", help="default: 95")
    parser.add_argument("--jobs", type=int, default=1, metavar="N")
    options = parser.parse_args()
    names = options.only or mutants(options.program)
    missed = []
    print(f"{'mutant':22} {'seed':>5} {'s':>6}  how it was found", flush=True)
    for name, record, seconds in hunts(options.program, names, options.seeds, options.jobs):
        seed, how = "none", ""
        if record:
            seed, how = str(record["seed"]), record["failure"]["signature"].splitlines()[0][:90]
        else:
            missed.append(name)
        print(f"{name:22} {seed:>5} {seconds:6.1f}  {how}".rstrip(), flush=True)
    found = len(names) - len(missed)
    share = 100 * found / len(names)
    print(f"found {found} of {len(names)}, {share:.1f} %, within {options.seeds} seeds", end="; ")
    print(f"missed: {', '.join(missed) or 'none'}")
    return 0 if share >= options.share else 1


sys.exit(main())
