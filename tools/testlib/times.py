"""How long steps take: by the clock when they last passed, and of the processor, by file."""

from __future__ import annotations

import json
import resource
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from common.tree import ROOT

# Seconds by the clock that each step took when it last passed, by what was asked for, then by its name.
LAST = ROOT / "build" / "test_times.json"


def last_times() -> dict[str, dict[str, float]]:
    try:
        found = json.loads(LAST.read_text()).items()
    except (OSError, ValueError, AttributeError):
        return {}
    return {arguments: times for arguments, times in found if isinstance(times, dict)}


def expectation(steps: Iterable[str], arguments: str) -> str:
    names, times = list(steps), last_times().get(arguments, {})
    known = [times[name] for name in names if name in times]
    words = "1 step" if len(names) == 1 else f"{len(names)} steps"
    if not known:
        return f"{words}; never run with these arguments, so the time is not known"
    return f"{words}; {len(known)} of them took {sum(known) / 60:.1f} min when they were last run"


def note_time(step: str, arguments: str, seconds: float) -> None:
    times = last_times()
    times.setdefault(arguments, {})[step] = round(seconds, 1)
    LAST.parent.mkdir(exist_ok=True)
    LAST.write_text(json.dumps(times))


def used() -> float:
    """Processor seconds of all that this process started and that has ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def of_tests(times: Path) -> dict[str, float]:
    """By test file, from what tests/conftest.py wrote for each test."""
    if not times.exists():
        return {}
    seconds: defaultdict[str, float] = defaultdict(float)
    for line in times.read_text(encoding="utf-8").splitlines():
        spent, _, name = line.partition("\t")
        seconds[name.partition("::")[0]] += float(spent)
    return dict(seconds)


def of_build(binary: Path, start: float) -> dict[str, float]:
    """Seconds by the clock for each output that ninja has made since."""
    found = {}
    for line in (binary / ".ninja_log").read_text(encoding="utf-8").splitlines()[1:]:
        began, ended, made, output, *_ = line.split("\t")
        if int(made) / 1e9 >= start:
            found[output] = (int(ended) - int(began)) / 1000
    return found


def table(steps: Mapping[str, tuple[float, Mapping[str, float]]]) -> str:
    """A line for each step, then one for each file of it: processor seconds, the step, the file. Those of a step are
    shared out as its files have their seconds by the clock, or of the processor."""
    lines = [f"{seconds:.1f}\t{name}\t" for name, (seconds, _) in steps.items()]
    for name, (seconds, shares) in steps.items():
        whole = sum(shares.values()) or 1.0
        parts = sorted(((share / whole * seconds, file) for file, share in shares.items()), reverse=True)
        lines += [f"{part:.1f}\t{name}\t{file}" for part, file in parts]
    return "\n".join(lines) + "\n"
