"""The simulation is tested by what it must find: the planted faults of tests/sim/plant.py, one at a time.

check_mutants.py PROGRAM [--seeds N] [--share PERCENT] [--jobs N] [--timeout SECONDS] [--only MUTANT...]

Runs the simulation `kv`, `journal` for faults that need two failures of a disk, or `adversary` for those that attackers
show, with the seeds from 0 on until one fails, and prints for each fault which that was. PROGRAM is `mutants`, beside
that of the simulations: there the library can have faults, too. Found is what the program says that a seed has failed
by, and does not without the fault; if it hangs or crashes instead, nothing is. The exit code is 1 if fewer than the
share of them were found, and 2 for a wrong command line.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import attacked
from plant import MEANINGS

from millrace.common.arguments import unknown
from millrace.simulate.batch import NO_END, Batch, Record
from mutantslib.mutant import VARIABLE

# By which simulation a fault is found, if it is another one than `kv`.
SIMULATIONS = dict.fromkeys(("TrustsMemory", "OneCopyOnly", "OneCopyWritten"), "journal")
SIMULATIONS |= dict.fromkeys(attacked.MEANINGS, "adversary")


def hunt(program: str, mutant: str, seeds: range, timeout: float, *, planted: bool = True) -> Record | None:
    """The record of the first seed that fails. Not planted: of the program as it should be."""
    found: list[Record] = []
    over = threading.Event()

    def look(record: Record) -> None:
        if record["failure"] is not None and not found:
            found.append(record)
            over.set()

    command = [program, "--run", SIMULATIONS.get(mutant, "kv"), "--once"]
    Batch(command, timeout, {VARIABLE: mutant if planted else ""}, look, over.is_set).run(seeds[0], seeds[-1])
    return found[0] if found else None


def outcome(record: Record | None, without: Record | None) -> str:
    """What it is if a seed fails with the mutant, or none does, and whether it does so without."""
    if record is None:
        return "missed"
    if without is not None:
        return "without"
    if record["digest"]:
        return "found"
    return "hung" if record["failure"]["signature"] == NO_END else "died"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="PROGRAM")
    parser.add_argument("--only", metavar="MUTANT", nargs="+", help="default: all")
    parser.add_argument("--seeds", type=int, default=1000, metavar="N", help="at most, for each; default: 1000")
    parser.add_argument("--share", type=float, default=95.0, metavar="PERCENT", help="default: 95")
    parser.add_argument("--jobs", type=int, default=1, metavar="N")
    parser.add_argument("--timeout", type=float, default=20.0, metavar="SECONDS", help="for each seed; default: 20")
    options = parser.parse_args()
    names = options.only or list(MEANINGS)
    for name in names:
        if name not in MEANINGS:
            parser.error(unknown("mutant", name, MEANINGS))

    def one(name: str) -> tuple[str, str, Record | None, float]:
        began = time.monotonic()
        record = hunt(options.program, name, range(options.seeds), options.timeout)
        seeds = range(record["seed"], record["seed"] + 1) if record else range(0)
        without = hunt(options.program, name, seeds, options.timeout, planted=False) if seeds else None
        return name, outcome(record, without), record, time.monotonic() - began

    by_outcome: dict[str, list[str]] = defaultdict(list)
    print(f"{'mutant':22} {'seed':>5} {'s':>6}  how it was found", flush=True)
    with ThreadPoolExecutor(options.jobs) as pool:
        for name, what, record, seconds in pool.map(one, names):
            seed, how = "none", ""
            by_outcome[what].append(name)
            if record:
                seed, how = str(record["seed"]), record["failure"]["signature"].splitlines()[0][:90]
                how = how if what == "found" else f"{what}: {how}"
            print(f"{name:22} {seed:>5} {seconds:6.1f}  {how}".rstrip(), flush=True)
    found = len(by_outcome["found"])
    share = 100 * found / len(names)
    others = [f"{what}: {', '.join(by_outcome[what]) or 'none'}" for what in ("missed", "hung", "died", "without")]
    print(f"found {found} of {len(names)}, {share:.1f} %, within {options.seeds} seeds; {'; '.join(others)}")
    return 0 if share >= options.share else 1


sys.exit(main())
