"""The build presets of a tree, and which of them build the benchmarks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from common.failure import Failure

_FILES = ("CMakePresets.json", "CMakeUserPresets.json")
_SWITCH = "MILLRACE_BUILD_BENCH"


def presets(tree: Path) -> dict[str, bool]:
    """The names that CMake takes, each with whether it builds the benchmarks."""
    found: dict[str, dict[str, Any]] = {}
    for file in (tree / name for name in _FILES):
        try:
            document = json.loads(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            continue
        except (OSError, ValueError, RecursionError) as error:
            raise Failure(f"{file} is no JSON: {error}") from error
        found |= {preset["name"]: preset for preset in document.get("configurePresets", [])}
    return {name: _builds_bench(name, found) for name, preset in found.items() if not preset.get("hidden")}


def _builds_bench(name: str, found: dict[str, dict[str, Any]]) -> bool:
    value = _switch(name, found)
    return value is None or str(value).upper() not in ("OFF", "FALSE", "NO", "N", "0", "")


def _switch(name: str, found: dict[str, dict[str, Any]]) -> Any:
    """The value of the switch in the preset, or in the first inherited preset that sets it."""
    preset = found.get(name, {})
    value = preset.get("cacheVariables", {}).get(_SWITCH)
    if value is not None:
        return value.get("value") if isinstance(value, dict) else value
    parents = preset.get("inherits", [])
    inherited = (_switch(parent, found) for parent in ([parents] if isinstance(parents, str) else parents))
    return next((each for each in inherited if each is not None), None)
