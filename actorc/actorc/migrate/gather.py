"""Which files the paths of a command line stand for.

A folder stands for the files in it and below it whose names tell what they are. Hidden folders, hidden files and the
trees in which CMake builds are left out, and links to folders are not followed. A file that is named twice, in whatever
way, is given once.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from enum import Enum

from actorc.records import dataclass

_BUILD_TREE = "CMakeCache.txt"
_ACTOR_ENDINGS = (".actor.cpp", ".actor.h")
_GENERATED_ENDINGS = (".actor.g.cpp", ".actor.g.h")
_PLAIN_ENDINGS = (".cpp", ".cc", ".cxx", ".h", ".hpp", ".inl")


class Kind(Enum):
    ACTORS = "actors"  # what is to be migrated
    PLAIN = "plain"  # C++ that may call actors and include their headers
    CMAKE = "cmake"


@dataclass(frozen=True, slots=True)
class Given:
    path: str  # as messages show it
    kind: Kind


@dataclass(frozen=True, slots=True)
class Unusable:
    """What was given and cannot be read, or is nothing that a migration knows."""

    path: str
    message: str


def kind_of(path: str) -> Kind | None:
    name = os.path.basename(path)
    if name.endswith(_GENERATED_ENDINGS):
        return None
    if name.endswith(_ACTOR_ENDINGS) and name not in _ACTOR_ENDINGS:
        return Kind.ACTORS
    if name == "CMakeLists.txt" or name.endswith(".cmake"):
        return Kind.CMAKE
    return Kind.PLAIN if name.endswith(_PLAIN_ENDINGS) else None


def new_path(path: str) -> str:
    """`x.actor.cpp` -> `x.cpp`"""
    stem, ending = os.path.splitext(path)
    return stem.removesuffix(".actor") + ending


def gather(paths: Iterable[str]) -> tuple[list[Given], list[Unusable]]:
    found: dict[str, Given] = {}  # by the real path
    unusable: list[Unusable] = []
    for path in paths:
        if os.path.isdir(path):
            for file in _below(path, unusable):
                _add(file, found, unusable)
        elif not os.path.exists(path):
            what = "a link that leads nowhere" if os.path.islink(path) else "No such file or directory"
            unusable.append(Unusable(path, what))
        elif kind_of(path) is None or not os.path.isfile(path):
            unusable.append(Unusable(path, _unknown(path)))
        else:
            _add(path, found, unusable)
    return list(found.values()), unusable


def _unknown(path: str) -> str:
    if path.endswith(_GENERATED_ENDINGS):
        return "is made by actorc: name the .actor.cpp or .actor.h file"
    return "is no actor file, no C++ file and no CMake file, as far as its name tells"


def _below(folder: str, unusable: list[Unusable]) -> Iterator[str]:
    def fail(error: OSError) -> None:
        unusable.append(Unusable(error.filename or folder, error.strerror or str(error)))

    for parent, folders, names in os.walk(folder, onerror=fail):
        if _BUILD_TREE in names:
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = os.path.normpath(os.path.join(parent, name))
            is_file = os.path.isfile(path) or os.path.islink(path)
            if is_file and not name.startswith(".") and kind_of(name) is not None:
                yield path


def _add(path: str, found: dict[str, Given], unusable: list[Unusable]) -> None:
    kind = kind_of(path)
    assert kind is not None
    if not os.path.exists(path):
        unusable.append(Unusable(path, "a link that leads nowhere"))
    elif os.path.islink(path) and kind is Kind.ACTORS:
        unusable.append(Unusable(path, f"a link, which would lead nowhere: name {os.path.realpath(path)} instead"))
    else:
        found.setdefault(os.path.realpath(path), Given(os.path.normpath(path), kind))
