"""A side that was measured before: the JSON of tools/bench --json."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchlib.compare.side import Recorded
from benchlib.results import Name, parse_name, per_item
from common.arguments import UsageError, unknown
from common.failure import Failure

_UNITS = ("ns", "us", "ms", "s")
_LONGEST = 1e15  # nanoseconds: no item takes eleven days
_COMPILER = "/compiler:"  # at the end of each name, if there are two


@dataclass(frozen=True, slots=True)
class Recording:
    context: dict[str, Any]
    repetitions: dict[Name, list[float]]  # nanoseconds per item


def read(side: Recorded) -> Recording:
    try:
        document = json.loads(side.file.read_text(encoding="utf-8"))
        mistake = next(_mistakes(document), "")
    except RecursionError:
        mistake = "it has too many brackets within brackets"
    except (OSError, ValueError) as error:
        mistake = str(error)
    if mistake:
        raise Failure(f"{side.file} is not what tools/bench --json writes: {mistake}")
    context, results = document["context"], document["benchmarks"]
    names = [result["name"] for result in results]
    compiler = _compiler(side, {name.partition(_COMPILER)[2] for name in names})
    repetitions: dict[Name, list[float]] = {}
    for result, full_name in zip(results, names, strict=True):
        name, _, found = full_name.partition(_COMPILER)
        if found == compiler and result.get("run_type") != "aggregate" and not result.get("error_occurred"):
            repetitions.setdefault(parse_name(name), []).append(per_item(result))
    return Recording(context, repetitions)


def _mistakes(document: Any) -> Iterator[str]:
    """The error in the file, with the name of the field."""
    if not isinstance(document, dict):
        yield "it is no object"
        return
    if not isinstance(document.get("context"), dict):
        yield "'context' is no object"
    if not isinstance(document.get("benchmarks"), list):
        yield "'benchmarks' is no list"
        return
    for place, result in enumerate(document["benchmarks"]):
        where = f"benchmarks[{place}]"
        if not isinstance(result, dict):
            yield f"{where} is no object"
        elif not isinstance(result.get("name"), str):
            yield f"{where} has no 'name'"
        elif result.get("run_type") != "aggregate" and not result.get("error_occurred"):
            yield from (f"{where}, {result['name']}: {mistake}" for mistake in _mistakes_of(result))


def _mistakes_of(result: dict[str, Any]) -> Iterator[str]:
    fields = ["ns_per_item"] if "ns_per_item" in result else ["cpu_time", "items_per_op"]
    if "ns_per_item" not in result and "cpu_time" not in result:
        yield "it has no time (tools/bench instructions writes none)"
        return
    for name in fields:
        value = result.get(name, 1)
        if isinstance(value, bool) or not isinstance(value, int | float):
            yield f"'{name}' is {value!r}, no number"
        elif not 0 < value < _LONGEST:
            yield f"'{name}' is {value}, which cannot be"
    if (unit := result.get("time_unit", "ns")) not in _UNITS:
        yield f"'time_unit' is {unit!r}, none of {', '.join(_UNITS)}"


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
