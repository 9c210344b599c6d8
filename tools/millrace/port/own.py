"""What a code base brings itself: headers that are there or that its build makes, and the errors that it defines."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

_TEMPLATES = (".in", ".cmake")  # of headers that CMake's configure_file() writes
_NOT_READ = {".git", "node_modules", ".venv"}
_DEFINED = re.compile(r"\b([a-z]+(?:_[a-z]+)*)\s*\(\s*(?:void\s*)?\)\s*(?:const\s*)?(?:noexcept\s*)?\{")
_DECLARED = re.compile(r"\bError\s+(\w+)\s*\(\s*(?:void\s*)?\)")
_ERROR = re.compile(r"\bERROR\(\s*(\w+)\s*,")  # a line of a table of errors, as Flow has one
_MADE = re.compile(r"[\w.-]+\.(?:h|hpp|hh)\b")


class OwnHeaders:
    """`flows`: the headers of Flow, which no build of a program makes."""

    def __init__(self, folder: Path, flows: Collection[str]) -> None:
        self._flows = flows
        self._names: set[str] = set()  # each with all ends of its path: `a/b/c.h` is also included as `b/c.h`
        self._templates: set[str] = set()  # the same of the headers that templates are for
        self._made: set[str] = set()  # the file names that build files speak of
        for where, folders, files in os.walk(folder):
            folders[:] = sorted(set(folders) - _NOT_READ)
            inside = Path(where).relative_to(folder).parts
            for name in files:
                if name == "CMakeLists.txt" or name.endswith(".cmake"):
                    text = (Path(where) / name).read_text("utf-8", "replace")
                    self._made |= set(_MADE.findall(text))
                made = name.removesuffix(_TEMPLATES[0]).removesuffix(_TEMPLATES[1])
                to = self._names if made == name else self._templates
                to |= {"/".join((*inside[start:], made)) for start in range(len(inside) + 1)}

    def has(self, header: str) -> bool:
        return header in self._names or self.is_made(header)

    def is_made(self, header: str) -> bool:
        """Whether it is no file of the code base, and its build makes it."""
        if header in self._names:
            return False
        is_of_actors = header.endswith(".actor.g.h") and header.replace(".actor.g.h", ".actor.h") in self._names
        is_named = header not in self._flows and header.rpartition("/")[2] in self._made
        return is_of_actors or is_named or header in self._templates


def own_errors(codes: Mapping[str, str]) -> set[str]:
    """The functions without parameters that the code base defines, and the names in its tables of errors."""
    return {name for pattern in (_DEFINED, _DECLARED, _ERROR) for name in _found(pattern, codes.values())}


def _found(pattern: re.Pattern[str], texts: Iterable[str]) -> Iterable[str]:
    return (name for text in texts for name in pattern.findall(text))
