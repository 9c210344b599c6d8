"""A side that was measured before: the JSON of tools/bench --json."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from common.failure import Failure
from perf.arguments import UsageError, unknown
from perf.compare.side import Recorded
from perf.results import Name, parse_name, per_item

_COMPILER = "/compiler:"  # at the end of each name, if there are two


@dataclass(frozen=True, slots=True)
class Recording:
    context: dict[str, Any]
    repetitions: dict[Name, list[float]]  # nanoseconds per item


def read(side: Recorded) -> Recording:
    try:
        document = json.loads(side.file.read_text(encoding="utf-8"))
        context, results = dict(document["context"]), list(document["benchmarks"])
        names = [str(result["name"]) for result in results]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Failure(f"{side.file} is not what tools/bench --json writes: {error!r}") from error
    compiler = _compiler(side, {name.partition(_COMPILER)[2] for name in names})
    repetitions: dict[Name, list[float]] = {}
    for result, full_name in zip(results, names, strict=True):
        name, _, found = full_name.partition(_COMPILER)
        if found == compiler and result.get("run_type") != "aggregate" and not result.get("error_occurred"):
            repetitions.setdefault(parse_name(name), []).append(per_item(result))
    return Recording(context, repetitions)


def _compiler(side: Recorded, found: set[str]) -> str:
    """Which of those that the file has; "" if it is about one only."""
    if found <= {""}:
        if side.compiler:
            raise UsageError(f"{side.file} has the results of one compiler only: leave out ':{side.compiler}'")
        return ""
    if side.compiler is None:
        raise UsageError(f"{side.file} has the results of more than one compiler: write {side.file}:{min(found)}")
    if side.compiler not in found:
        raise UsageError(f"{side.file}: {unknown('compiler', side.compiler, sorted(found))}")
    return side.compiler
