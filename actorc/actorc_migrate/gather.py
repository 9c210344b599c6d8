"""Finds the files that the paths of a command line name.

A folder means all actor, C++ and CMake files in it and below it, by their names. Hidden folders, hidden files and build
trees of CMake are left out, and links to folders are not followed. A file that is named twice is given once; but links
to actor files are given too: see links.py.
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
_UNKNOWN = "does not have the name of an actor file, a C++ file or a CMake file"


class Kind(Enum):
    ACTORS = "actors"  # what is to be migrated
    PLAIN = "plain"  # C++ that may call actors and include their headers
    CMAKE = "cmake"


@dataclass(frozen=True, slots=True)
class Given:
    path: str  # as messages show it
    kind: Kind


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link that leads to an actor file."""

    path: str  # as messages show it
    text: str  # what it says


@dataclass(frozen=True, slots=True)
class Unusable:
    """A given path that cannot be read, or that a migration does not handle."""

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


def place_of(path: str) -> str:
    """The one path of a file or link, whatever links to folders lead to it."""
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))


@dataclass(slots=True)
class Found:
    """Files by their real paths, links by their own."""

    files: dict[str, Given]
    links: dict[str, Link]
    unusable: list[Unusable]

    def add(self, path: str) -> None:
        real = os.path.realpath(path)
        kind = kind_of(path)
        if not os.path.exists(path):
            self.unusable.append(Unusable(path, "a link that leads nowhere"))
        elif _leads_to_actors(path):
            self.links.setdefault(place_of(path), Link(os.path.normpath(path), os.readlink(path)))
        elif os.path.islink(path) and kind is Kind.ACTORS:
            self.unusable.append(Unusable(path, f"a link to {real}, which {_UNKNOWN}"))
        else:
            assert kind is not None
            self.files.setdefault(real, Given(os.path.normpath(path), kind))


def gather(paths: Iterable[str]) -> Found:
    found = Found({}, {}, [])
    for path in paths:
        if os.path.isdir(path):
            for file in _below(path, found.unusable):
                found.add(file)
        elif not os.path.exists(path):
            what = "a link that leads nowhere" if os.path.islink(path) else "No such file or directory"
            found.unusable.append(Unusable(path, what))
        elif not os.path.isfile(path) or (kind_of(path) is None and not _leads_to_actors(path)):
            found.unusable.append(Unusable(path, _unknown(path)))
        else:
            found.add(path)
    return found


def _leads_to_actors(path: str) -> bool:
    return os.path.islink(path) and kind_of(os.path.realpath(path)) is Kind.ACTORS


def _unknown(path: str) -> str:
    if path.endswith(_GENERATED_ENDINGS):
        return "is made by actorc: name the .actor.cpp or .actor.h file"
    return _UNKNOWN


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
            if is_file and not name.startswith(".") and (kind_of(name) is not None or _leads_to_actors(path)):
                yield path
