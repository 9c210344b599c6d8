"""Writes profile.tsv anew, which test_causes.py reads: what perf sees of some benchmarks, in all styles.

PYTHONPATH=tools .venv/bin/python tests/tools/benchlib/profile/record_profile.py [NAME...]

`tools/bench --compiler both` must have built the benchmarks. Needed when causes.toml gets a pattern for what is not
among these functions.
"""

from __future__ import annotations

import sys
from collections.abc import Container
from pathlib import Path

from benchlib.arguments import COMPILERS, binary
from benchlib.profile import record
from benchlib.profile.attribution import Weighed, of_passes
from benchlib.profile.causes import KINDS, Attribution, read, text_of
from benchlib.profile.measure import command
from benchlib.profile.symbols import Frame

# The works, and passes of each that take some tenths of a second.
PASSES = {
    "NET2/1": 2_000_000,
    "NET2/4096": 1000,
    "callback/4096": 1500,
    "DELAY/64": 8_000_000,
    "chain/1000": 4000,
    "cancel/1024": 3000,
    "cancel_handler/1": 50_000,
    "race_first": 2_000_000,
    "stream_waiting/4096": 3000,
    "collection/4096": 800,
    "timers/4096": 500,
    "timer_fire/1000": 1_000_000,
    "post/4096": 500,
}
STYLES = ("actor", "coroutine")
NAMES = [(f"{label}/{style}", passes) for label, passes in PASSES.items() for style in STYLES]
NAMES += [("Callback/library", 5_000_000), ("CODE_PROBE/library", 50_000_000)]
FILE = Path(__file__).with_name("profile.tsv")
INNERMOST = 4  # frames of each stack, or more, if one further out decides
COVERED_OUTSIDE = 0.5
COVERED = 0.98  # of the samples of each benchmark; what is left are stacks that were seen once


def main() -> None:
    attribution = Attribution(read())
    frames: dict[tuple[str, ...], int] = {}
    wanted = {name: passes for name, passes in NAMES if not sys.argv[1:] or name in sys.argv[1:]}
    stacks = kept(wanted, frames)
    for compiler in COMPILERS:
        for name, passes in wanted.items():
            whole = name + ("/real_time" if name.startswith("post/") else "")
            profile = record.record(command(binary(compiler), whole, "sim", passes))
            inside, outside = of_passes(profile, attribution)
            stacks.append(f"{compiler} {name}\t{written(inside, COVERED, frames, attribution)}")
            written(outside, COVERED_OUTSIDE, frames, attribution)  # rules for the harness fit these functions only
    lines = ["\t".join(text) for text in frames]
    FILE.write_text("\n".join([*lines, "", *stacks, ""]), encoding="utf-8")
    print(f"{FILE}: {len(frames)} functions, stacks of {len(stacks)} benchmarks")


def kept(but: Container[str], frames: dict[tuple[str, ...], int]) -> list[str]:
    """The lines of what is not recorded again."""
    functions, stacks = FILE.read_text(encoding="utf-8").split("\n\n") if FILE.exists() else ("", "")
    old = [tuple(line.split("\t")) for line in functions.splitlines()]
    lines = []
    used: set[int] = set()
    for line in stacks.splitlines():
        name, *found = line.split("\t")
        parts = []
        for weight, *numbers in map(str.split, found):
            used.update(map(int, numbers))
            if name.split()[1] not in but:
                parts.append(" ".join([weight, *(str(frames.setdefault(old[int(i)], len(frames))) for i in numbers)]))
        if parts:
            lines.append("\t".join([name, *parts]))
    for i, text in enumerate(old):
        if i not in used:  # outside of the passes
            frames.setdefault(text, len(frames))
    return lines


def written(some: Weighed, covered: float, frames: dict[tuple[str, ...], int], attribution: Attribution) -> str:
    """Each stack, without what is further out than it takes; adds to `frames` what is in none yet."""
    found: dict[tuple[tuple[str, ...], ...], float] = {}
    for stack, weight in some:
        _, deciding = attribution.decisive(stack)
        key = tuple(texts(frame) for frame in stack[max(0, min(deciding, len(stack) - INNERMOST)) :])
        found[key] = found.get(key, 0.0) + weight
    total, seen = sum(found.values()), 0.0
    stacks = []
    for key, weight in sorted(found.items(), key=lambda item: -item[1]):
        if seen > covered * total:
            break
        seen += weight
        numbers = (str(frames.setdefault(text, len(frames))) for text in key)
        stacks.append(" ".join([f"{weight:.0f}", *numbers]))
    return "\t".join(stacks)


def texts(frame: Frame) -> tuple[str, ...]:
    """The properties of a frame that rules use. They read the text only of the benchmarks' own lines."""
    is_own = frame.file.startswith("bench/")
    return tuple(text_of(frame, kind) if kind != "lines" or is_own else "" for kind in KINDS)


if __name__ == "__main__":
    main()
