"""The results of mutants, by the state of the project: an interrupted run goes on where it was."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

Outcome = Literal["killed", "hung", "survived"]


@dataclass(frozen=True, slots=True)
class Result:
    project: str  # digest of its sources
    mutant: str
    change: str  # digest of the mutant
    outcome: Outcome
    by: str  # the test that has found it, and the step of tools/test
    seconds: float


class Results:
    def __init__(self, file: Path, project: str) -> None:
        self._file = file
        self._project = project
        self._known: dict[tuple[str, str], Result] = {}
        if file.exists():
            for line in file.read_text().splitlines():
                result = Result(**json.loads(line))
                if result.project == project:
                    self._known[result.mutant, result.change] = result

    def of(self, mutant: str, change: str) -> Result | None:
        return self._known.get((mutant, change))

    def add(self, mutant: str, change: str, outcome: Outcome, by: str, seconds: float) -> Result:
        result = Result(self._project, mutant, change, outcome, by, round(seconds, 1))
        self._known[mutant, change] = result
        with self._file.open("a") as out:
            out.write(json.dumps(asdict(result)) + "\n")
        return result
