"""Reads and writes a baseline: the counts of each benchmark, by compiler, one on a line, so that a diff is readable."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from millrace.bench.count import LIBC, VALGRIND
from millrace.bench.results import STYLES, parse_name
from millrace.common import files
from millrace.common.failure import Failure

# The versions of the tools that counted.
TOOLS = ("compiler", LIBC, VALGRIND)

# The kept numbers of a row: the key in the file, the key in the benchmarks' results, and the digits.
MEASURES = {
    "instructions": ("instructions_per_item", 2),
    "allocs": ("allocs_per_item", 4),
    "bytes": ("frame_bytes", 0),
}

_MOST = 1e15

Numbers = dict[str, float]


@dataclass(slots=True)
class Baseline:
    """Of one compiler."""

    tools: dict[str, str] = field(default_factory=dict)
    rows: dict[str, Numbers] = field(default_factory=dict)  # by the name of the benchmark, with its style


def counted(document: Mapping[str, Any]) -> Baseline:
    """The entry of the file for these results; a Failure if one of them is an error."""
    rows = {}
    for result in document["benchmarks"]:
        if result.get("error_occurred"):
            raise Failure(f"{result['name']}: {result.get('error_message', '')}")
        found = {what: (result.get(key), digits) for what, (key, digits) in MEASURES.items()}
        rows[result["name"]] = {what: round(x, digits) for what, (x, digits) in found.items() if x is not None}
    return Baseline({tool: str(document["context"][tool]) for tool in TOOLS}, rows)


def read(file: Path, update: str) -> dict[str, Baseline]:
    """Reads the baselines by compiler. A Failure says what is wrong with the file, and what to do: `update` is the
    command that writes it."""
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise Failure(f"there is no {file}: '{update}' writes it") from error
    except (OSError, UnicodeError) as error:
        raise Failure(f"{file} cannot be read: {error}") from error
    try:
        return {compiler: _baseline(section) for compiler, section in _members(json.loads(text), "the file").items()}
    except json.JSONDecodeError as error:
        why = f"line {error.lineno}: {error.msg}"
    except ValueError as error:
        why = str(error)
    except RecursionError:
        why = "it has too many brackets within brackets"
    raise Failure(f"{file} is broken: {why}; get it back from git, or remove it and run '{update}'")


def _members(value: object, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{what} is not an object")
    return value


def _baseline(section: object) -> Baseline:
    members = dict(_members(section, "what stands under a compiler"))
    rows = _members(members.pop("rows", None), "rows")
    if members.keys() != set(TOOLS) or not all(isinstance(version, str) for version in members.values()):
        raise ValueError(f"a compiler must have {', '.join(TOOLS)} and rows")
    for name, numbers in rows.items():
        for what, number in _members(numbers, name).items():
            if what not in MEASURES or isinstance(number, bool) or not isinstance(number, int | float):
                raise ValueError(f"{name}: '{what}: {number}' is none of {', '.join(MEASURES)}, or no number")
            if not 0 <= number < _MOST:  # NaN compares as neither more nor less: a row with NaN would never fail
                raise ValueError(f"{name}: '{what}: {number!s:.40}' cannot be")
        if "instructions" not in numbers:
            raise ValueError(f"{name} has no instructions")
    return Baseline(members, rows)


def write(file: Path, baselines: Mapping[str, Baseline]) -> None:
    files.write(file, text_of(baselines))


def text_of(baselines: Mapping[str, Baseline]) -> str:
    sections = []
    for compiler, baseline in sorted(baselines.items()):
        lines = [f"    {json.dumps(tool)}: {json.dumps(baseline.tools[tool])}," for tool in TOOLS]
        names = sorted(baseline.rows, key=_order)
        rows = [f"      {json.dumps(name)}: {_numbers(baseline.rows[name])}" for name in names]
        lines += ['    "rows": {', ",\n".join(rows), "    }"]
        sections.append("\n".join([f"  {json.dumps(compiler)}: {{", *lines, "  }"]))
    return "{\n" + ",\n".join(sections) + "\n}\n"


def _numbers(numbers: Numbers) -> str:
    # A whole number is written without a point, whatever its type.
    plain = {what: int(x) if (x := numbers[what]) == int(x) else x for what in MEASURES if what in numbers}
    return json.dumps(plain)


def _order(name: str) -> tuple[str, int, int, str]:
    parsed = parse_name(name)
    place = STYLES.index(parsed.style) if parsed.style in STYLES else len(STYLES)
    return parsed.benchmark, parsed.size or 0, place, parsed.style
