"""The page that millrace console shows: what a loop does, what is ready, what is pending, which steps run long."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from millrace.common.table import Table

MOST_KINDS = 12  # of computations
MOST_STEPS = 8  # that run long


@dataclass(frozen=True, slots=True)
class Sample:
    """What one loop said at one moment."""

    figures: Mapping[str, Any]
    pending: Mapping[str, Any] | None  # None: a step keeps the loop busy
    running: str = ""  # what runs then


def page(now: Sample, before: Sample | None, plain: bool) -> list[Table | str]:
    """`before` makes rates of counters: those since then; without it since the program began to count."""
    figures = now.figures
    old = before.figures if before else {}
    passed = figures["seconds"] - old.get("seconds", 0.0)

    def rate(key: str) -> str:
        return f"{(figures[key] - old.get(key, 0)) / passed:,.0f}" if passed > 0 else "-"

    busy = (figures["busy"] - old.get("busy", 0.0)) / passed if passed > 0 else 0.0
    pending = f"{now.pending['pending']:,} pending" if now.pending else "does not answer"
    head = (
        f"loop {figures['loop']}: {min(max(busy, 0.0), 1.0):.0%} busy, {pending}, "
        f"{sum(count for _, count in figures['ready']):,} ready, {figures['timers']:,} timers, "
        f"{figures['bytesLive'] / 1e6:,.1f} MB in blocks, {figures['bytesHeld'] / 1e6:,.1f} MB held"
    )
    counts = Table("a second", plain)
    counts.numbers("steps", "turns", "sleeps", "by steps", "by timers", "by posts", "by news", "blocks")
    keys = ("steps", "turns", "sleeps", "bySteps", "byTimers", "byPosts", "byNews", "blocksAllocated")
    counts.add_row(*(rate(key) for key in keys))
    parts: list[Table | str] = [head, counts]
    if figures["ready"]:
        ready = Table("ready", plain)
        ready.numbers("priority", "steps")
        for priority, count in figures["ready"]:
            ready.add_row(str(priority), f"{count:,}")
        parts.append(ready)
    if now.pending:
        parts.append(_pending(now.pending, before.pending if before else None, plain))
        parts += [f"cycle: {cycle['length']} computations wait for each other" for cycle in now.pending["cycles"]]
    else:
        parts.append(now.running)
    if figures["longSteps"]:
        parts.append(_long_steps(figures, plain))
    return parts


def _pending(now: Mapping[str, Any], before: Mapping[str, Any] | None, plain: bool) -> Table:
    def key(kind: Mapping[str, Any]) -> tuple[Any, ...]:
        return kind["style"], kind["name"], kind.get("file"), kind.get("line"), kind["for"]

    old = {key(kind): kind["count"] for kind in before["kinds"]} if before else {}
    table = Table("pending", plain)
    table.numbers("count", "more")
    table.texts("computation", "waits for")
    kinds = now["kinds"]
    for kind in kinds[:MOST_KINDS]:
        more = kind["count"] - old.get(key(kind), 0 if before else kind["count"])
        place = f" at {kind['file']}:{kind['line']}" if "line" in kind else ""
        name = f"{kind['style']} {kind['name']}{place}"
        table.add_row(f"{kind['count']:,}", f"{more:+,}" if more else "", name, kind["for"])
    if len(kinds) > MOST_KINDS:
        rest = sum(kind["count"] for kind in kinds[MOST_KINDS:])
        table.add_row(f"{rest:,}", "", f"and {len(kinds) - MOST_KINDS} kinds more", "")
    return table


def _long_steps(figures: Mapping[str, Any], plain: bool) -> Table:
    table = Table("long steps", plain)
    table.texts("actor")
    table.numbers("times", "seconds", "longest, ms")
    for step in figures["longSteps"][:MOST_STEPS]:
        table.add_row(step["actor"], f"{step['count']:,}", f"{step['seconds']:.2f}", f"{1000 * step['longest']:.1f}")
    return table
