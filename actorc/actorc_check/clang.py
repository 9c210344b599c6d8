"""Reads C++ by libclang, with the flags that the project compiles the file with."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Collection, Sequence
from functools import cache
from typing import Any

from actorc.packages import PackageMissing, find_package
from actorc.records import dataclass
from actorc.source import Source
from actorc.syntax import Span
from actorc_check.flow_names import hint_for
from actorc_check.reading import Reading
from actorc_frames.compile import CannotCompile, Unit, first_error, flags_of

_COMPILERS = ("clang++-19", "clang++")
_COMMAND = "actorc check"
_KEEP_GOING = 0x200  # libclang's option, which its Python has no name for
_ERROR = 3  # clang's severities: 2 is a warning, 4 a fatal error
# What clang says of a list that an actor returns, which it takes for the future itself.
_UNKNOWN = re.compile("unknown argument|unsupported option")
_OF_LIST = re.compile(r"(?:no matching constructor for |initialization of non-aggregate type ).*'(?:flow::)?Future<.*")
_REQUEST = re.compile(r"\brequested here$")
_loading = threading.Lock()  # files are read by several threads, and only one of them may load the library


@cache
def _load() -> Any:
    """The module clang.cindex. Raises PackageMissing."""
    find_package("clang", "libclang")
    from clang import cindex

    try:
        cindex.conf.lib  # noqa: B018  loads the shared library
    except cindex.LibclangError as error:
        raise PackageMissing(f"libclang cannot be loaded: {error}") from error
    return cindex


def _library() -> Any:
    with _loading:
        return _load()


@cache
def _builtin_headers() -> tuple[str, ...]:
    """Flags that lead to <stddef.h> and its like, which belong to a compiler and do not come with libclang."""
    for name in _COMPILERS:
        if shutil.which(name):
            run = subprocess.run([name, "-print-resource-dir"], capture_output=True, text=True, check=False)
            if run.returncode == 0:
                return "-resource-dir", run.stdout.strip()
    if shutil.which("g++"):
        run = subprocess.run(["g++", "-print-file-name=include"], capture_output=True, text=True, check=False)
        return "-idirafter", run.stdout.strip()
    return ()


def written_offset(location: Any) -> int:
    """Where the user wrote it: an argument of a macro, such as `when`, has a place of its own."""
    offset = ctypes.c_uint()
    _library().conf.lib.clang_getFileLocation(location, None, None, None, ctypes.byref(offset))
    return offset.value


@dataclass(frozen=True, slots=True)
class OwnError:
    """An error in the file itself, or one in a header that the file leads to."""

    error: Any
    place: Any  # the error, or its note about the file


@dataclass(frozen=True, slots=True)
class Tree:
    """What clang has made of a file."""

    unit: Any
    own_errors: list[OwnError]
    cannot_compile: CannotCompile | None  # the first error in another file
    errors: list[Any]  # all of them, in any file
    is_ported: bool  # it is compiled with the header names of FoundationDB's Flow


def parsed(
    path: str,
    flags: Sequence[str] | None,
    reading: Reading,
    *,
    is_actors: bool = False,
    lists: Collection[Span] = (),
    calls: Collection[Span] = (),
    others: Sequence[tuple[str, str]] = (),
    goes_on: bool = False,
) -> Tree:
    """An actor file is read as editors read it. Raises PackageMissing, and CannotCompile for wrong flags.

    `lists`: the places of lists that actors return. `calls`: those of calls of the function `loop`, which is a macro
    here. `others`: texts of other files, by their paths, instead of those on the disk. `goes_on`: also behind a header
    that is not there.
    """
    cindex = _library()
    unit = Unit(path, path, None, _COMPILERS[0])
    found, directory, origin = flags_of(unit, flags)
    absolute = os.path.abspath(path)
    arguments = ["-x", "c++", *found, *_builtin_headers(), f"-working-directory={directory}", "-w"]
    if is_actors:
        arguments.append("-UNO_INTELLISENSE")
    options = _KEEP_GOING if goes_on else 0
    texts = [*others, *([] if reading.unsaved is None else [(absolute, reading.unsaved)])]

    def parsed(arguments: Sequence[str]) -> Any:
        """None if clang does not know a flag."""
        try:
            tree = cindex.Index.create().parse(absolute, args=arguments, unsaved_files=texts, options=options)
        except cindex.TranslationUnitLoadError:
            return None
        return None if any(_UNKNOWN.match(each.spelling) for each in tree.diagnostics) else tree

    tree = parsed(arguments)
    if tree is None and flags is None:  # one of gcc
        tree = parsed([each for each in arguments if not each.startswith(("-f", "-m"))])
    if tree is None:
        raise CannotCompile(f"clang cannot read it with the flags {' '.join(arguments)}")
    is_ported = any("flow/compat" in argument for argument in arguments)
    errors = [
        each
        for each in tree.diagnostics
        if each.severity >= _ERROR
        and not (_OF_LIST.fullmatch(each.spelling) is not None and _is_in(each, lists, absolute, reading))
        and not _is_in(each, calls, absolute, reading)
    ]
    own, others = _sorted(errors, absolute)
    if not others:
        return Tree(tree, own, None, errors, is_ported)
    shown, hint = _shown(others[0]), hint_for(others[0].spelling, is_ported=is_ported)
    text = f"{shown}\nhint: {hint}" if hint else first_error(shown, unit, origin, _COMMAND)
    return Tree(tree, own, CannotCompile(text), errors, is_ported)


def precompiled(header: str, flags: Sequence[str], result: str) -> bool:
    """Writes what clang has made of a header, for -include-pch. False if it has errors. Raises PackageMissing."""
    cindex = _library()
    arguments = ["-x", "c++-header", *flags, *_builtin_headers(), f"-working-directory={os.getcwd()}", "-w"]
    try:
        unit = cindex.Index.create().parse(header, args=arguments)
        if any(each.severity >= _ERROR for each in unit.diagnostics):
            return False
        unit.save(result)
    except (cindex.TranslationUnitLoadError, cindex.TranslationUnitSaveError):
        return False
    return True


def _shown(error: Any) -> str:
    """An error with its source line and a caret."""
    where = error.location
    if where.file is None:
        return str(error.format())
    try:
        line = Source.read(where.file.name).line_text(where.line)
    except (OSError, IndexError):
        return str(error.format())
    blanks = "".join("\t" if character == "\t" else " " for character in line[: where.column - 1])
    return f"{error.format()}\n    {line}\n    {blanks}^"


def _sorted(errors: Sequence[Any], path: str) -> tuple[list[OwnError], list[Any]]:
    """The errors with a place in the file itself, and the others. Of errors in headers, only the first at each place.

    clang reports further errors of a failed instantiation without its place: they are left out behind one that has it.
    """
    own: list[OwnError] = []
    others: list[Any] = []
    led: set[int] = set()  # the places that lead to headers
    for error in errors:
        place = _place(error, path)
        if place is error:
            own.append(OwnError(error, error))
        elif place is not None:
            start = written_offset(place.location)
            if start not in led:
                own.append(OwnError(error, place))
            led.add(start)
        elif not led or error.severity != _ERROR:
            others.append(error)
    return own, others


def is_inclusion(note: Any) -> bool:
    return bool(note.spelling.startswith("in file included"))


def _place(error: Any, path: str) -> Any:
    """What has the place in the file itself: the error, or the first note of an instantiation that the file asks for.
    None if it has none."""
    if _is_of(error, path):
        return error if error.severity == _ERROR else None
    return next((note for note in error.children if _REQUEST.search(note.spelling) and _is_of(note, path)), None)


def _is_of(message: Any, path: str) -> bool:
    file = message.location.file
    return file is not None and file.name == path


def _is_in(error: Any, places: Collection[Span], path: str, reading: Reading) -> bool:
    if not places or not _is_of(error, path):
        return False
    start = reading.offset(written_offset(error.location))
    return any(each.start <= start < each.end for each in places)
