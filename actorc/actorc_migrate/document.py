"""The result of a migration as JSON, for programs.

One object: `version` of this shape (1), `tool` (`name`, `version`), `target`, `style`, and

- `totals`: `files` by status, `actors` (`migrated`, `left`), `constructs` by name, `hazards` by code, `places`,
  `byHand` (declarations that must be changed by hand);
- `hazards`: the title of each code that occurs;
- `files`: each with `path`, `newPath`, `status`, `reason`, `changed`, and
  - `actors`: `name`, `range`, `constructs`, `left` (why it stays an actor, or null),
  - `notes`: `code`, `actor`, `message`, `instead` (what keeps the meaning to the letter, or null), `range`,
  - `places`: `message`, `range`: something outside of actors of which the reader must decide;
- `failures`: `file`, `kind` ("file" or "internal"), `message`;
- `frames`: `actor`, `compiler`, `before` and `after` in bytes; empty unless they were measured;
- `called`: the actors that --verify called; `uncalled`: `actor` and `reason` of those that it did not.

A status is "migrated" (has a new name), "kept" (stays an actor file, though actors in it may have been migrated),
"rejected" (has errors), "refused" (its new name is taken), "updated" or "unchanged". A range has `start` and `end`, in
the source as it was, each with `line`, `column` and `offset`.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from actorc import __version__
from actorc.records import dataclass
from actorc.report.formats import json_range
from actorc_migrate.notes import Hazard
from actorc_migrate.results import FileResult, Result


@dataclass(frozen=True, slots=True)
class Totals:
    files: Counter[str]
    migrated: int  # actors
    left: int
    constructs: Counter[str]
    hazards: Counter[Hazard]
    places: int


def totals(result: Result) -> Totals:
    """Definitions and declarations count as actors alike."""
    outcomes = [outcome for file in result.files for outcome in file.outcomes]
    constructs: Counter[str] = Counter()
    for outcome in outcomes:
        constructs.update(outcome.constructs)
    left = sum(bool(outcome.left) for outcome in outcomes)
    return Totals(
        Counter(file.status.value for file in result.files),
        len(outcomes) - left,
        left,
        constructs,
        Counter(note.hazard for file in result.files for note in file.notes),
        sum(len(file.places) for file in result.files),
    )


def as_json(result: Result) -> str:
    counted = totals(result)
    met = [hazard for hazard in Hazard if hazard in counted.hazards]
    document = {
        "version": 1,
        "tool": {"name": "actorc", "version": __version__},
        "target": result.settings.target,
        "style": result.settings.style,
        "totals": {
            "files": dict(counted.files),
            "actors": {"migrated": counted.migrated, "left": counted.left},
            "constructs": dict(sorted(counted.constructs.items())),
            "hazards": {hazard.code: counted.hazards[hazard] for hazard in met},
            "places": counted.places,
            "byHand": result.by_hand,
        },
        "hazards": {hazard.code: hazard.title for hazard in met},
        "files": [_file(file) for file in result.files],
        "failures": [{"file": each.path, "kind": each.kind, "message": each.message} for each in result.failures],
        "frames": [
            {"actor": each.actor, "compiler": each.compiler, "before": each.before, "after": each.after}
            for each in result.frames
        ],
        "called": result.called,
        "uncalled": [{"actor": name, "reason": reason} for name, reason in result.uncalled],
    }
    return json.dumps(document, indent=2) + "\n"


def _file(file: FileResult) -> dict[str, Any]:
    source = file.source
    return {
        "path": file.path,
        "newPath": file.new_path,
        "status": file.status.value,
        "reason": file.reason,
        "changed": file.is_changed,
        "actors": [
            {
                "name": outcome.name,
                "range": json_range(outcome.span, source),
                "constructs": outcome.constructs,
                "left": outcome.left or None,
            }
            for outcome in file.outcomes
        ],
        "notes": [
            {
                "code": note.hazard.code,
                "actor": note.actor,
                "message": note.message,
                "instead": note.instead or None,
                "range": json_range(note.span, source),
            }
            for note in file.notes
        ],
        "places": [{"message": place.message, "range": json_range(place.span, source)} for place in file.places],
    }
