"""The results of all runs in an SQLite file, to compare later runs with."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from millrace.common.arguments import UsageError
from millrace.simulate.arguments import KEPT_RUNS, LEDGER
from millrace.simulate.program import Program
from millrace.simulate.results import Result

_VERSION = 1
_PATIENCE = 30.0  # seconds that another run may keep it locked
_COMMIT = 1.0  # seconds between two commits

_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE run (
    id INTEGER PRIMARY KEY, test TEXT NOT NULL, program TEXT NOT NULL, hash TEXT NOT NULL, revision TEXT NOT NULL,
    first INTEGER NOT NULL, last INTEGER NOT NULL, began TEXT NOT NULL, ended TEXT,
    faults TEXT NOT NULL, probes TEXT NOT NULL -- that the program has: lists as JSON
);
CREATE TABLE seed (
    run INTEGER NOT NULL REFERENCES run, seed INTEGER NOT NULL, digest TEXT NOT NULL, events INTEGER NOT NULL,
    seconds REAL NOT NULL, -- of the world
    faults TEXT NOT NULL, probes TEXT NOT NULL, -- how often, and a list, as JSON
    signature TEXT NOT NULL, text TEXT NOT NULL, machine TEXT NOT NULL,
    PRIMARY KEY (run, seed)
) WITHOUT ROWID;
CREATE INDEX seed_of_any_run ON seed (seed);
PRAGMA user_version = {_VERSION};
COMMIT;
"""


@dataclass(frozen=True, slots=True)
class Difference:
    """Two runs of one seed with one program that differ."""

    test: str
    hash: str
    seed: int
    ways: tuple[tuple[str, str], ...]  # digest and machine

    def __str__(self) -> str:
        ways = " and ".join(f"{digest} ({machine})" for digest, machine in self.ways)
        return f"seed {self.seed} of {self.test}, program {self.hash}: {ways}"


class Ledger:
    """`kept`: how many runs stay when another begins; None: all."""

    def __init__(self, connection: sqlite3.Connection, kept: int | None = None) -> None:
        self.connection = connection
        self._kept = kept
        self._committed = time.monotonic()

    def begin(self, program: Program, test: str, revision: str, seeds: range) -> int:
        """Returns the number of the run."""
        values = (test, str(program.path), program.hash, revision, seeds[0], seeds[-1], _now())
        lists = (json.dumps(program.faults), json.dumps(program.probes))
        columns = "test, program, hash, revision, first, last, began, faults, probes"
        with self.connection:
            cursor = self.connection.execute(
                f"INSERT INTO run ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values + lists
            )
            assert cursor.lastrowid is not None
            if self._kept is not None:
                last = cursor.lastrowid - self._kept
                self.connection.execute("DELETE FROM seed WHERE run <= ?", (last,))
                self.connection.execute("DELETE FROM run WHERE id <= ?", (last,))
        return cursor.lastrowid

    def add(self, run: int, result: Result) -> None:
        faults, probes = json.dumps(result.faults), json.dumps(result.probes)
        values = (run, result.seed, result.digest, result.events, result.seconds, faults, probes)
        self.connection.execute(
            "INSERT OR REPLACE INTO seed VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*values, result.signature, result.text, result.machine),
        )
        if time.monotonic() - self._committed > _COMMIT:
            self.connection.commit()
            self._committed = time.monotonic()

    def end(self, run: int) -> None:
        self.connection.execute("UPDATE run SET ended = ? WHERE id = ?", (_now(), run))
        self.connection.commit()

    def differences(self, run: int | None = None) -> list[Difference]:
        """Of all runs, or between one and those before."""
        same = "SELECT r.test, r.hash, s.seed, s.digest, min(s.machine) FROM seed s JOIN run r ON r.id = s.run"
        where = "s.digest <> ''"
        if run is not None:
            where += (
                " AND s.seed IN (SELECT seed FROM seed WHERE run = :run) AND (r.test, r.hash) ="
                " (SELECT test, hash FROM run WHERE id = :run)"
            )
        found: dict[tuple[str, str, int], list[tuple[str, str]]] = {}
        query = f"{same} WHERE {where} GROUP BY r.test, r.hash, s.seed, s.digest ORDER BY r.test, s.seed, min(s.run)"
        for test, program, seed, digest, machine in self.connection.execute(query, {"run": run}):
            found.setdefault((test, program, seed), []).append((digest, machine))
        return [Difference(*which, tuple(ways)) for which, ways in found.items() if len(ways) > 1]


@contextmanager
def opened(path: Path, *, must_be: bool = False) -> Iterator[Ledger]:
    """A UsageError if it cannot be read or written, now or later; `must_be`: or if there is none."""
    if must_be and not path.exists():
        raise UsageError(f"there is no ledger {path}: millrace simulate run writes one")
    connection: sqlite3.Connection | None = None
    try:
        connection = sqlite3.connect(path, timeout=_PATIENCE)
        _prepare(connection, path)
    except (sqlite3.Error, OSError) as error:
        if connection:
            connection.close()
        raise UsageError(f"cannot write the ledger {path}: {error}") from error
    try:
        try:
            yield Ledger(connection, KEPT_RUNS if path == LEDGER else None)
        finally:
            connection.commit()
    except sqlite3.Error as error:
        raise UsageError(f"the ledger {path}: {error}") from error
    finally:
        connection.close()


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    [version] = connection.execute("PRAGMA user_version").fetchone()
    [tables] = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if version == 0 and tables == 0:
        connection.executescript(_SCHEMA)
    elif version != _VERSION:
        raise UsageError(f"{path} is no ledger of this millrace simulate")
    connection.execute("BEGIN IMMEDIATE")
    connection.rollback()


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
