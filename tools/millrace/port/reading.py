"""Reads the files of a code base with clang, where a compile_commands.json has their flags.

The headers of millrace::compat stand in front of those that the flags lead to. What clang reports is then what the
project does not have, or what it does in another way: members, macros, arguments, types. flow/flow.h, which takes
longest, is read once for all files with the same flags.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from actorc.diagnostics import Diagnostics
from actorc.driver import examine
from actorc.packages import PackageMissing
from actorc.source import Source
from actorc_check.actors import ACTOR_FILES
from actorc_check.clang import Tree, precompiled
from actorc_check.command import read_tree
from actorc_check.flow_names import hint_for
from actorc_frames.compile import CannotCompile, Unit, flags_of
from millrace.port.vocabulary import compat_folders

NO_FLAGS = "no compile_commands.json has its flags"
_SOURCES = (".cpp", ".cc", ".cxx")
_PATHS = ("-I", "-iquote", "-isystem", "-idirafter", "-include")


@dataclass(frozen=True, slots=True)
class Refused:
    """One error of clang's."""

    file: str
    line: int
    message: str
    advice: str


@dataclass(slots=True)
class Reading:
    """What clang has read."""

    files: set[str] = field(default_factory=set)  # that it has read to their ends
    errors: list[Refused] = field(default_factory=list)
    by_names: dict[str, str] = field(default_factory=dict)  # why it has not read a file

    def clean(self) -> set[str]:
        return self.files - {error.file for error in self.errors}


def read(folder: Path, files: Iterable[str], is_made: Callable[[str], bool]) -> Reading:
    """`is_made`: whether a header that is not there is one that the code base's own build makes."""
    result = Reading()
    flags = {}
    for name in files:
        if name.endswith(_SOURCES):
            found = _flags(folder / name)
            if found is None:
                result.by_names[name] = NO_FLAGS
            else:
                flags[name] = found
    with tempfile.TemporaryDirectory(prefix="millrace-port") as kept, ThreadPoolExecutor(os.cpu_count()) as pool:
        headers = _Precompiled(Path(kept), list(flags.values()))

        def one(name: str) -> Tree | str:
            return _tree(folder / name, [*headers.before(flags[name]), *flags[name]])

        for name, tree in zip(flags, pool.map(one, flags), strict=True):
            if isinstance(tree, str):
                result.by_names[name] = tree
            else:
                _add(result, folder, name, tree, is_made)
    for name in files:
        if name not in result.files:
            result.by_names.setdefault(name, "no source that clang has read includes it")
    result.errors = sorted(set(result.errors), key=lambda error: (error.file, error.line, error.message))
    return result


def _add(result: Reading, folder: Path, name: str, tree: Tree, is_made: Callable[[str], bool]) -> None:
    found: list[Refused] = []
    for each in tree.errors:
        lost = each.spelling.removesuffix("' file not found").removeprefix("'")
        if lost != each.spelling and (is_made(lost) or not lost.startswith(("flow/", "fdbrpc/"))):
            why = "which its own build makes" if is_made(lost) else "which its flags do not lead to"
            result.by_names[name] = f"it includes {lost}, {why}"
            return
        place = _place(each, folder)
        if place is None:
            result.by_names[name] = f"clang: {each.format()}"
            return
        advice = hint_for(each.spelling, is_ported=True) or f"see {place[0]}:{place[1]}"
        found.append(Refused(*place, each.spelling, advice))
    result.errors += found
    inside = (_inside(folder, each.include.name) for each in tree.unit.get_includes())
    result.files |= {name, *(path for path in inside if path is not None)}


def _place(error: Any, folder: Path) -> tuple[str, int] | None:
    """Where the code base asks for it: an error in a header of the project's has notes that say so."""
    for each in (error, *error.children):
        if each.location.file is not None and (path := _inside(folder, each.location.file.name)) is not None:
            return path, each.location.line
    return None


def _inside(folder: Path, path: str) -> str | None:
    try:
        return Path(path).resolve().relative_to(folder.resolve()).as_posix()
    except ValueError:
        return None


def _flags(file: Path) -> tuple[str, ...] | None:
    path = str(file)
    found, directory, origin = flags_of(Unit(path, path, None, "clang++-19"), None)
    if not origin.startswith("the flags are"):
        return None
    folders = [word for each in compat_folders() for word in ("-iquote", str(each))]
    return (*folders, *_absolute(found, directory))


def _absolute(flags: Sequence[str], directory: str) -> Iterable[str]:
    is_path = False
    for flag in flags:
        kind = next((each for each in _PATHS if flag.startswith(each) and flag != each), None)
        if is_path:
            yield os.path.join(directory, flag)
        elif kind is not None and not flag.startswith("-include-"):
            yield kind + os.path.join(directory, flag.removeprefix(kind))
        else:
            yield flag
        is_path = flag in _PATHS


def _tree(file: Path, flags: Sequence[str]) -> Tree | str:
    """What clang has made of it, or why it has not."""
    try:
        source = Source.read(str(file))
        parsed = None
        if file.name.endswith(ACTOR_FILES):
            diagnostics = Diagnostics()
            parsed = examine(source, diagnostics)
            if diagnostics.errors:
                return "actorc refuses it: actorc check says why"
        return read_tree(source, parsed, flags, is_saved=True, goes_on=True)[1]
    except (CannotCompile, OSError) as error:
        return f"clang: {error}"
    except PackageMissing as error:
        return str(error)


class _Precompiled:
    """flow/flow.h for each set of flags that several files have."""

    def __init__(self, folder: Path, flags: Sequence[tuple[str, ...]]) -> None:
        self._folder = folder
        self._made: dict[tuple[str, ...], list[str]] = {each: [] for each in flags if flags.count(each) == 1}
        self._lock = Lock()

    def before(self, flags: tuple[str, ...]) -> list[str]:
        with self._lock:
            if flags not in self._made:
                self._made[flags] = self._make(flags)
            return self._made[flags]

    def _make(self, flags: tuple[str, ...]) -> list[str]:
        header = self._folder / f"{len(self._made)}.h"
        header.write_text('#include "flow/flow.h"\n', encoding="utf-8")
        made = f"{header}.pch"
        try:
            return ["-include-pch", made] if precompiled(str(header), flags, made) else []
        except PackageMissing:
            return []
