"""A side that was measured before: a file of --json."""

from __future__ import annotations

import json
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from millrace.bench.results import Name, parse_name, per_item
from millrace.common.arguments import UsageError, unknown
from millrace.common.failure import Failure

_LONGEST = 1e15  # nanoseconds: no item takes eleven days
_COMPILER = "/compiler:"  # at the end of each name, if there are two


@dataclass(frozen=True, slots=True)
class Recorded:
    text: str
    file: Path
    compiler: str | None  # which of the two that `tools/bench --compiler both` measured


@dataclass(frozen=True, slots=True)
class Recording:
    context: dict[str, Any]
    repetitions: dict[Name, list[float]]  # nanoseconds per item


def existing(file: Path) -> Path:
    if not file.is_file():
        near = get_close_matches(file.name, [each.name for each in sorted(file.parent.glob("*.json"))], n=1)
        raise UsageError(f"there is no file '{file}'" + (f"; did you mean {file.with_name(near[0])}?" if near else ""))
    return file


def read(side: Recorded) -> Recording:
    try:
        document = json.loads(side.file.read_text(encoding="utf-8"))
        context = dict(document["context"])
        times = [(str(one["name"]), _time(one)) for one in document["benchmarks"] if _has_time(one)]
    except RecursionError as error:
        raise UsageError(f"{side.file} has too many brackets within brackets") from error
    except (OSError, ValueError, TypeError, AttributeError, LookupError, ArithmeticError, Failure) as error:
        said = f"{error} is missing or unknown" if isinstance(error, LookupError) else str(error)
        raise UsageError(f"{side.file} is not what --json writes ({said:.200})") from error
    compiler = _compiler(side, {name.partition(_COMPILER)[2] for name, _ in times})
    repetitions: dict[Name, list[float]] = {}
    for full_name, time in times:
        name, _, found = full_name.partition(_COMPILER)
        if found == compiler:
            repetitions.setdefault(parse_name(name), []).append(time)
    return Recording(context, repetitions)


def _has_time(result: Any) -> bool:
    return result.get("run_type") != "aggregate" and not result.get("error_occurred")


def _time(result: Any) -> float:
    time = per_item(result)
    if not 0 < time < _LONGEST:
        raise ValueError(f"{result['name']} cannot take {time} ns")
    return time


def _compiler(side: Recorded, found: set[str]) -> str:
    """The compiler to take from the file; "" if the file has only one."""
    if found <= {""}:
        if side.compiler:
            raise UsageError(f"{side.file} has the results of one compiler only: leave out ':{side.compiler}'")
        return ""
    if side.compiler is None:
        raise UsageError(f"{side.file} has the results of more than one compiler: write {side.file}:{min(found)}")
    if side.compiler not in found:
        raise UsageError(f"{side.file}: {unknown('compiler', side.compiler, sorted(found))}")
    return side.compiler
