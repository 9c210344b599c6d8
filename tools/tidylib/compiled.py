"""Which headers compiled in the last run: they are not compiled again until they, or what they include, change."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

# A compiler, and the headers that a file includes.
Unit = tuple[str, tuple[str, ...]]


class Compiled:
    """Kept in the file. `texts` of all files, by path; `includes`: which file has which. Headers of the system are
    taken for those of the compiler's version."""

    def __init__(
        self, file: Path, flags: Sequence[str], texts: dict[str, str], includes: Iterable[tuple[str, str]]
    ) -> None:
        self._file = file
        self._flags = flags
        self._digests = {path: hashlib.sha256(text.encode()).hexdigest() for path, text in texts.items()}
        self._includes: dict[str, set[str]] = {path: set() for path in texts}
        for path, target in includes:
            self._includes[path].add(target)
        try:
            self._before = set(json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            self._before = set()
        self._now: set[str] = set()

    def has(self, unit: Unit) -> bool:
        key = self._key(unit)
        if key in self._before:
            self._now.add(key)
        return key in self._before

    def add(self, units: Iterable[Unit]) -> None:
        """For the next run, besides those of this one that has() has found."""
        self._now.update(map(self._key, units))
        self._file.parent.mkdir(exist_ok=True)
        self._file.write_text(json.dumps(sorted(self._now)), encoding="utf-8")

    def _key(self, unit: Unit) -> str:
        compiler, headers = unit
        reached: set[str] = set()
        waiting = list(headers)
        while waiting:
            if (path := waiting.pop()) in self._includes and path not in reached:
                reached.add(path)
                waiting += self._includes[path]
        parts = [version(compiler), *self._flags, *headers, *(self._digests[path] for path in sorted(reached))]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@cache
def version(compiler: str) -> str:
    return subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
