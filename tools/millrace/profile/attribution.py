"""Divides a profile among causes, functions and lines, and makes the stacks of a flame graph."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from millrace.flame.stacks import Stacks
from millrace.profile.causes import CALLER, UNMAPPED, Attribution
from millrace.profile.names import KNOWN, short
from millrace.profile.samples import Profile
from millrace.profile.symbols import Frame, expand

HARNESS = "benchmark harness"
FUNCTIONS = 4  # shown under each cause
SMALL = 0.004  # of the total: a function that takes less is not shown


def _amounts() -> defaultdict[Any, float]:
    return defaultdict(float)


@dataclass(slots=True)
class Spent:
    """One benchmark in one style, with all amounts in ns per item; or one program, with all in ms."""

    total: float
    samples: float  # their number
    outside: float = 0.0  # the share of all samples that belong to no pass
    causes: defaultdict[str, float] = field(default_factory=_amounts)
    functions: defaultdict[tuple[str, str], float] = field(default_factory=_amounts)  # by cause and name
    lines: defaultdict[tuple[str, int, str], float] = field(default_factory=_amounts)  # by file, line and cause
    stacks: Stacks = field(default_factory=Stacks)
    kinds: dict[str, str] = field(default_factory=dict)  # of the frames in the stacks: the cause of each

    def share(self, cause: str) -> float:
        return self.causes.get(cause, 0.0) / self.total if self.total else 0.0

    def error(self, amount: float) -> float:
        """The standard error of an amount, by the number of samples."""
        if not self.samples or not self.total:
            return 0.0
        share = min(1.0, amount / self.total)
        return self.total * math.sqrt(max(share * (1 - share), 1 / self.samples) / self.samples)


def attribute(profile: Profile, attribution: Attribution, total: float, unit: str = "ns per item") -> Spent:
    """`total` is the time that the samples of the passes divide among them."""
    inside, outside = of_passes(profile, attribution)
    samples = sum(weight for _, weight in inside)
    factor = total / samples if samples else 0.0
    result = Spent(samples * factor, samples, stacks=Stacks(unit))
    elsewhere = sum(weight for _, weight in outside)
    result.outside = elsewhere / (samples + elsewhere) if elsewhere else 0.0
    for stack, weight in inside:
        _add(result, stack, weight * factor, attribution)
    return result


Weighed = list[tuple[list[Frame], float]]


def of_passes(profile: Profile, attribution: Attribution) -> tuple[Weighed, Weighed]:
    """The stacks that belong to passes of the benchmark, from the beginning of the pass, and the others.

    A stack with a lost outer part, since a library has no frame pointers, belongs to a pass.
    """
    frames = expand(place for stack in profile.weights for place in stack)
    inside: Weighed = []
    outside: Weighed = []
    for places, weight in profile.weights.items():
        stack = [frame for place in places for frame in frames[place]]
        start = attribution.start_of_pass(stack)
        if start is None and any(attribution.of_frame(frame) == HARNESS for frame in stack):
            outside.append((stack, weight))
        else:
            inside.append((stack[start or 0 :], weight))
    return inside, outside


def _add(result: Spent, stack: list[Frame], amount: float, attribution: Attribution) -> None:
    cause, decisive = attribution.decisive(stack)
    frame = stack[decisive]
    result.causes[cause] += amount
    result.functions[cause, without_part(short(frame.name))] += amount
    result.lines[frame.file or frame.object, frame.line, cause] += amount
    for one in stack:
        kind = attribution.of_frame(one)
        if kind != CALLER:
            result.kinds.setdefault(short(one.name), kind or UNMAPPED)
    result.stacks.add(shown(stack), amount)


def shown(stack: list[Frame]) -> list[str]:
    """The names of those that a flame graph has."""
    names: list[str] = []
    for frame in stack:
        name = short(frame.name)
        if _is_shell(frame, name) or (frame.is_inlined and names and without_part(names[-1]) == name):
            continue
        names.append(name)
    return names


def without_part(name: str) -> str:
    """Removes the part of an actor from the name, since the cause shows it: the styles have different parts, but share
    a line."""
    return re.sub(r" \[(start|body|resume)\]$", "", name)


def _is_shell(frame: Frame, name: str) -> bool:
    """Names that only an ACTOR has around its code, and internals of the standard library."""
    if frame.file.startswith("/usr/"):
        return frame.is_inlined or (name.startswith("std::") and name not in KNOWN.values())
    return frame.is_inlined and (name in ("start", "Actor::activate") or name.endswith((" [start]", " [body]")))


def top_functions(spent: Sequence[Spent], cause: str) -> list[str]:
    """Those that take most in any style."""
    most: dict[str, float] = {}
    for one in spent:
        for (of, name), amount in one.functions.items():
            if of == cause and one.total:
                most[name] = max(most.get(name, 0.0), amount / one.total)
    found = sorted((name for name, share in most.items() if share >= SMALL), key=lambda name: -most[name])
    return found[:FUNCTIONS]
