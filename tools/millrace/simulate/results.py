"""The results of seeds, and groups of equal failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from millrace.simulate.batch import Record


@dataclass(frozen=True, slots=True)
class Result:
    """`digest` is empty if the program crashed before printing it, `signature` if nothing failed."""

    seed: int
    digest: str
    events: int
    seconds: float  # of the world
    faults: dict[str, int]
    probes: list[str]
    signature: str
    text: str
    machine: str
    injected: str = ""  # the faults, each by its number

    @staticmethod
    def of(record: Record, machine: str) -> Result:
        failure = record["failure"] or {"signature": "", "text": ""}
        return Result(
            record["seed"],
            record["digest"],
            record["events"],
            record["seconds"],
            record["faults"],
            record["probes"],
            (failure["signature"] or "without a signature") if record["failure"] else "",
            failure["text"],
            machine,
            record.get("injected", ""),
        )


@dataclass(frozen=True, slots=True)
class Group:
    """The failures of one signature; `smallest` is the one of the smallest seed."""

    signature: str
    count: int
    smallest: Result


def grouped(failures: Iterable[Result]) -> list[Group]:
    """The most frequent first."""
    by_signature: dict[str, list[Result]] = {}
    for each in failures:
        by_signature.setdefault(each.signature, []).append(each)
    groups = [Group(name, len(some), min(some, key=lambda one: one.seed)) for name, some in by_signature.items()]
    return sorted(groups, key=lambda group: (-group.count, group.smallest.seed))


@dataclass(slots=True)
class Tally:
    """The results of a run so far. A second result of a seed replaces the first."""

    seconds: float = 0  # of the world
    faults: Counter[str] = field(default_factory=Counter)
    failures: dict[int, Result] = field(default_factory=dict)
    done: set[int] = field(default_factory=set)

    def add(self, result: Result) -> None:
        if result.signature:
            self.failures[result.seed] = result
        if result.seed not in self.done:
            self.done.add(result.seed)
            self.seconds += result.seconds
            self.faults.update(result.faults)
