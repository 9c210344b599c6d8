"""Summarises all runs in a ledger."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from dataclasses import dataclass, field

from millrace.simulate.ledger import Difference, Ledger


@dataclass(frozen=True, slots=True)
class Test:
    name: str
    runs: int
    seeds: int  # each time that one was run
    seconds: float  # of the world
    failed: int
    last: str  # when it was run last


@dataclass(frozen=True, slots=True)
class Failed:
    test: str
    signature: str
    count: int
    seed: int  # the smallest
    text: str  # its
    program: str
    last: str

    @property
    def again(self) -> str:
        """The command that runs it again."""
        return shlex.join([self.program, "--run", self.test, "--seeds", str(self.seed)])


@dataclass(slots=True)
class Summary:
    tests: list[Test] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    in_seeds: Counter[str] = field(default_factory=Counter)  # the number of seeds in which a fault was injected
    probes: Counter[str] = field(default_factory=Counter)  # in how many seeds
    all_faults: list[str] = field(default_factory=list)  # that the programs have
    all_probes: list[str] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)

    def never(self) -> list[str]:
        return [name for name in self.all_faults if not self.faults[name]]


_TESTS = """
SELECT r.test, count(DISTINCT r.id), count(s.seed), coalesce(sum(s.seconds), 0),
    coalesce(sum(s.signature <> ''), 0), max(r.began)
FROM run r LEFT JOIN seed s ON s.run = r.id WHERE :test IN ('', r.test) GROUP BY r.test ORDER BY r.test
"""
_FAULTS = """
SELECT each.key, sum(each.value), count(*)
FROM run r JOIN seed s ON s.run = r.id, json_each(s.faults) each WHERE :test IN ('', r.test) GROUP BY each.key
"""
_PROBES = """
SELECT each.value, count(*)
FROM run r JOIN seed s ON s.run = r.id, json_each(s.probes) each WHERE :test IN ('', r.test) GROUP BY each.value
"""
# With one min(), SQLite takes the other columns from its row.
_FAILED = """
SELECT r.test, s.signature, count(DISTINCT s.seed), min(s.seed), s.text, r.program, (
    SELECT max(q.began) FROM run q JOIN seed t ON t.run = q.id WHERE q.test = r.test AND t.signature = s.signature)
FROM run r JOIN seed s ON s.run = r.id WHERE s.signature <> '' AND :test IN ('', r.test)
GROUP BY r.test, s.signature ORDER BY r.test, count(DISTINCT s.seed) DESC
"""
# The newest program lists the current names; an older one may have removed names.
_KNOWN = "SELECT faults, probes FROM run WHERE :test IN ('', test) GROUP BY test HAVING id = max(id)"


def summary(ledger: Ledger, test: str = "") -> Summary:
    """Of all tests without a `test`."""
    found = Summary(differences=[each for each in ledger.differences() if test in ("", each.test)])
    values = {"test": test}
    found.tests = [Test(*row) for row in ledger.connection.execute(_TESTS, values)]
    for name, count, seeds in ledger.connection.execute(_FAULTS, values):
        found.faults[name], found.in_seeds[name] = count, seeds
    found.probes.update(dict(ledger.connection.execute(_PROBES, values)))
    found.failed = [Failed(*row) for row in ledger.connection.execute(_FAILED, values)]
    for faults, probes in ledger.connection.execute(_KNOWN, values):
        found.all_faults += [name for name in json.loads(faults) if name not in found.all_faults]
        found.all_probes += [name for name in json.loads(probes) if name not in found.all_probes]
    return found
