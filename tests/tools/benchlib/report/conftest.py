"""A small run, as gather() would have found it: no benchmark runs for these tests."""

from __future__ import annotations

from typing import Any

import pytest

from actorc_frames.layout import COROUTINE, STATE_MACHINE, Layout, Member, filled
from benchlib.frames.gather import Frames
from benchlib.growth.series import Series
from benchlib.report.gather import Measured
from benchlib.report.history import Point
from benchlib.report.sections.flames import Profile
from benchlib.report.sections.growth import Growth
from millrace.bench.measure import Row as ProfileRow
from millrace.bench.results import Row, collect
from millrace.flame.stacks import Stacks
from millrace.pages.model import Missing
from millrace.profile.attribution import Spent


def result(name: str, ns: float, **more: Any) -> dict[str, Any]:
    return {"name": name, "run_type": "iteration", "ns_per_item": ns, **more}


def suite() -> list[Row]:
    counters = {"allocs_per_item": 1.0, "steps_per_item": 1.0, "frame_bytes": 96.0}
    results = [
        result(f"{work}/{size}/{style}", ns * factor + size / 1000, **counters)
        for work, ns in (("DELAY", 6.5), ("NET2", 30.0), ("cancel_handler", 2600.0))
        for size in (64, 4096)
        for style, factor in (("actor", 1.0), ("coroutine", 1.25), ("actorc-coroutine", 1.5))
    ]
    return collect([*results, result("map/library", 20.0, allocs_per_item=2.0, frame_bytes=80.0)])


def growth() -> Growth:
    sizes = [8**power for power in range(7)]

    def series(work: str, style: str, ns: float) -> Series:
        return Series("clang", work, style, {size: ns * (1 + size**0.5 / 500) for size in sizes})

    return Growth(
        (series("NET2", "actor", 30.0), series("NET2", "coroutine", 40.0), series("waiting", "actor", 96.0)),
        (series("NET2", "floor-callback", 8.0), series("NET2", "floor-coroutine", 11.0)),
    )


def peers() -> list[Row]:
    times = {"actor": 7.0, "coroutine": 6.0, "callback": 17.0, "floor-callback": 2.7, "asio": 174.0, "kj": 108.0}
    return collect([result(f"DELAY/4096/{style}", ns) for style, ns in times.items()])


def counted() -> list[Row]:
    counts = {"DELAY/64/actor": 88.0, "DELAY/64/coroutine": 80.0, "NET2/64/actor": 337.0, "NET2/64/coroutine": 366.0}
    return collect({"name": name, "instructions_per_item": value} for name, value in counts.items())


def history() -> list[Point]:
    return [
        Point("a" * 40, "2026-01-01", "the first", {"clang": {"NET2/64/actor": 400.0, "NET2/64/coroutine": 366.0}}),
        Point("b" * 40, "2026-01-02", "faster", {"clang": {"NET2/64/actor": 337.0, "NET2/64/coroutine": 366.0}}),
    ]


def frames() -> Frames:
    def layout(style: str, size: int) -> Layout:
        file = "bench/actors/tasks.actor.cpp" if style == STATE_MACHINE else "bench/coroutines/tasks.cpp"
        members = (Member("cell", 0, 32, "cell"), Member("resume", 32, 16, "header"), Member("sum", 48, 8, "parameter"))
        return Layout("increment", file, 7, style, "clang", size, filled(members, size))

    return {
        ("tasks", "increment", "actor"): layout(STATE_MACHINE, 64),
        ("tasks", "increment", "coroutine"): layout(COROUTINE, 72),
    }


def spent(total: float, causes: dict[str, float]) -> Spent:
    stacks = Stacks("ns per item")
    for cause, amount in causes.items():
        stacks.add(("all", "run<b>", f"{cause}()"), amount)
    result = Spent(total, 10_000, stacks=stacks, kinds={f"{cause}()": cause for cause in causes})
    result.causes.update(causes)
    result.functions.update({(cause, f"{cause}()"): amount for cause, amount in causes.items()})
    return result


def profile() -> Profile:
    styles = {
        "actor": spent(30.0, {"allocate": 10.0, "resume path": 20.0}),
        "coroutine": spent(33.0, {"allocate": 33.0}),
    }
    return Profile(
        "perf, samples by the clock", ("allocate", "resume path", "timers"), (ProfileRow("clang", "NET2/4096", styles),)
    )


@pytest.fixture(scope="module")
def measured() -> Measured:
    """With clang; gcc could not build."""
    failed = Missing("The build with gcc failed.", "g++-12: <not found>")
    found = Measured("0123456789ab", "2026-01-02 03:04 UTC", {"Processor": "A & B", "Cores": "2"})
    found.builds["clang"] = "clang 19.1.7, -O3 -DNDEBUG"
    found.noise["clang"] = "noise: medians are 1.0% above the minima"
    found.suite |= {"clang": suite(), "gcc": failed}
    found.growth |= {"clang": growth(), "gcc": failed}
    found.instructions |= {"clang": counted(), "gcc": failed}
    found.frames |= {"clang": frames(), "gcc": failed}
    found.profile = profile()
    found.history = history()
    found.peers = peers()
    found.problems.append("The build with gcc failed: g++-12: <not found>")
    return found
