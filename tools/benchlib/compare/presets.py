"""The build presets of a tree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from millrace.common.failure import Failure

_FILES = ("CMakePresets.json", "CMakeUserPresets.json")


def presets(tree: Path) -> list[str]:
    """The names that CMake takes."""
    found: dict[str, dict[str, Any]] = {}
    for file in (tree / name for name in _FILES):
        try:
            document = json.loads(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            continue
        except (OSError, ValueError, RecursionError) as error:
            raise Failure(f"{file} is no JSON: {error}") from error
        found |= {preset["name"]: preset for preset in document.get("configurePresets", [])}
    return [name for name, preset in found.items() if not preset.get("hidden")]
