"""Compiles sources for their debug information, with each installed compiler and the flags of the project.

Flags are those after `--`, or those of a compile_commands.json near the file. Flags for warnings and outputs are
dropped.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from actorc.diagnostics import Diagnostics
from actorc.driver import analyse, emitted
from actorc.source import Source
from actorc_frames.layout import COROUTINE, STATE_MACHINE

_COMPILERS = (("clang++-19", "clang++"), ("g++",))  # of each kind, the first that is installed
_BACKENDS = {STATE_MACHINE: "state-machine", COROUTINE: "coroutine"}
_SOURCE = re.compile(r"\.(?:c|cc|cpp|cppm|cxx|c\+\+)$")
_OPTIMISED = re.compile(r"-O(?:[123sz]|g|fast)")
_WITH_VALUE = ("-I", "-isystem", "-iquote", "-idirafter", "-include", "-D", "-U")
_KEPT = (*_WITH_VALUE, "-std=", "-m", "-f", "-pthread", "-nostdinc", "--sysroot", "-stdlib=")
_NOT_KEPT = ("-fsanitize", "-fno-sanitize", "-fdiagnostics", "-fcolor", "-fprofile", "-fcoverage", "-flto", "-fuse-ld")
_LAUNCHERS = ("ccache", "sccache", "distcc")
_GCC = re.compile(r"(?<!clan)g(?:\+\+|cc)")
OLDEST_GCC = 12  # that compiles flow
DEBUG = ("-g", "-gdwarf-4", "-fno-lto", "-w", "-DFLOW_IGNORE_FRAME_LIMITS=1")
# Without these flags clang 19 does not describe a coroutine's frame in optimised code. They change no instruction.
DESCRIBE_FRAMES = (
    *("-Xclang", "-fexperimental-assignment-tracking=disabled"),
    *("-mllvm", "-instcombine-lower-dbg-declare=0"),
)


class CannotCompile(Exception):
    """The message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A file of C++ to compile, for the frames of the functions in `source`."""

    source: str
    text: str  # the path of what is compiled
    style: str | None  # the path of actorc's output; None for a plain file
    compiler: str


def compilers() -> list[str]:
    """The names of those installed, at most one clang and one gcc."""
    found = (next((name for name in names if shutil.which(name)), None) for names in _COMPILERS)
    return [name for name in found if name is not None]


def missing() -> list[str]:
    return [names[0] for names in _COMPILERS if not any(shutil.which(name) for name in names)]


def units_of(path: str, found: Sequence[str], folder: str) -> list[Unit]:
    """The unit to compile for one file. Raises Rejected if actorc reports errors."""
    if not path.endswith(".actor.cpp"):
        return [Unit(path, path, None, compiler) for compiler in found]
    source = Source.read(path)
    file = analyse(source, Diagnostics())
    result = []
    for style, backend in _BACKENDS.items():
        output = os.path.join(folder, f"{os.path.basename(path)}.{backend}.cpp")
        with open(output, "wb") as stream:
            stream.write(source.encode(emitted(file, source, backend, output, nodiscard=False)))
        result += [Unit(path, output, style, compiler) for compiler in found]
    return result


def actors_of(path: str) -> list[str]:
    """The names of the actors that a file defines."""
    source = Source.read(path)
    file = analyse(source, Diagnostics())
    return ["::".join((*actor.qualifier, actor.name)) for actor in file.actors if actor.body is not None]


def compiled(unit: Unit, given: Sequence[str] | None, folder: str) -> str:
    """The path of the object file. Raises CannotCompile with the compiler's first error."""
    flags, directory, origin = flags_of(unit, given)
    output = os.path.join(folder, f"{os.path.basename(unit.text)}.{unit.compiler}.o")
    command = [unit.compiler, *flags, *DEBUG]
    if "clang" in unit.compiler:
        command += DESCRIBE_FRAMES
    if unit.style is not None:
        command += ["-DNO_INTELLISENSE", f"-iquote{os.path.dirname(os.path.abspath(unit.source))}"]
    command += ["-c", os.path.abspath(unit.text), "-o", output]
    run = subprocess.run(command, cwd=directory, capture_output=True, text=True, errors="replace", check=False)
    if run.returncode:
        raise CannotCompile(first_error(run.stderr, unit, origin))
    return output


def first_error(printed: str, unit: Unit, origin: str, command: str = "actorc --frames") -> str:
    lines = printed.splitlines()
    first = next((number for number, line in enumerate(lines) if re.search(r"\berror:", line)), None)
    if first is None:
        return f"{unit.compiler} failed:\n{printed}"
    last = first + 1
    while last < len(lines) and last < first + 6 and not re.search(r"\b(?:error|warning|note):", lines[last]):
        last += 1
    text = "\n".join(lines[first:last])
    if re.search(r"file not found|No such file or directory", lines[first]):
        text += (
            f"\n{origin}; give the compiler's flags after `--`, as in\n"
            f"    {command} {unit.source} -- -Iinclude -DNAME=1\n"
            "or let CMake write compile_commands.json (-DCMAKE_EXPORT_COMPILE_COMMANDS=ON)"
        )
    return text


def flags_of(unit: Unit, given: Sequence[str] | None) -> tuple[list[str], str, str]:
    """The flags, the directory that they are for, and where they come from."""
    if given is not None:
        flags, directory, origin = list(given), os.getcwd(), "the flags after `--` do not lead to it"
    elif (entry := _entry(unit)) is not None:
        path, command, directory = entry
        flags, origin = _kept(command, is_clang="clang" in unit.compiler), f"the flags are those of {path}"
    else:
        flags, directory, origin = [], os.getcwd(), "there is no compile_commands.json with this file"
    if not any(flag.startswith("-std=") for flag in flags):
        flags.insert(0, "-std=c++20")
    if not any(_OPTIMISED.fullmatch(flag) for flag in flags):
        flags = [flag for flag in flags if flag != "-O0"] + ["-O2"]
    if (root := own_headers()) is not None:
        flags += ["-idirafter", root]
    return flags, directory, origin


def _kept(command: Sequence[str], *, is_clang: bool) -> list[str]:
    kept: list[str] = []
    words = iter(command)
    for word in words:
        if word == "-Xclang":
            # CMake hands a precompiled header to clang in this way, and after it the header itself. With a plain
            # -include, clang would take the precompiled one, which is made with other flags.
            if next(words, "") == "-include" and next(words, "") == "-Xclang":
                header = next(words, "")
                kept += ["-Xclang", "-include", "-Xclang", header] if is_clang else ["-include", header]
        elif word == "-mllvm":
            next(words, "")
        elif word in _WITH_VALUE:
            value = next(words, "")
            kept += [] if (word, value) == ("-U", "NO_INTELLISENSE") else [word, value]
        elif word == "-UNO_INTELLISENSE" or word.startswith(_NOT_KEPT):
            continue
        elif word.startswith(_KEPT) or _OPTIMISED.fullmatch(word):
            kept.append(word)
    return kept


def own_headers() -> str | None:
    """Where flow/flow.h is: in the tree that actorc belongs to, or in the prefix where it is installed."""
    here = os.path.dirname(os.path.realpath(__file__))
    for up in ("../..", "../../../../include/millrace"):
        root = os.path.normpath(os.path.join(here, up))
        if os.path.exists(os.path.join(root, "flow", "flow.h")):
            return root
    return None


def gcc_version(path: str) -> int | None:
    """Of the oldest gcc that the entries for a file in a compile_commands.json near it name; None if they name none."""
    entries = _entries(Unit(path, path, None, _COMPILERS[1][0]))
    most = max((each[0][:2] for each in entries), default=None)
    versions = [_version_of_gcc(*_compiler(each[2], each[3])) for each in entries if each[0][:2] == most]
    return min((version for version in versions if version is not None), default=None)


def _compiler(command: Sequence[str], directory: str) -> tuple[str, str]:
    """Its name, behind links if it is a general one, and how it is called."""
    word = next((word for word in command if os.path.basename(word) not in _LAUNCHERS), "")
    called = os.path.join(directory, word) if os.path.dirname(word) else shutil.which(word) or word
    name = os.path.realpath(called) if os.path.basename(word) in ("c++", "cc") else word
    return os.path.basename(name), called


@cache
def _version_of_gcc(name: str, called: str) -> int | None:
    if _GCC.search(name) is None:
        return None
    try:
        run = subprocess.run([called, "-dumpversion"], capture_output=True, text=True, check=False)
        return int(run.stdout.partition(".")[0])
    except (OSError, ValueError):
        return OLDEST_GCC


def _entry(unit: Unit) -> tuple[str, list[str], str] | None:
    """Of those that suit best, the one that was made for this compiler and optimises, if there is one."""
    found = _entries(unit)
    if not found:
        return None
    _, path, command, directory = max(found, key=lambda each: each[0])
    return path, command[1:], directory


def _entries(unit: Unit) -> list[tuple[tuple[int, bool, bool, bool], str, list[str], str]]:
    """From the compile_commands.json files near the source and the working directory, those of the source. Of a header,
    which has none, those of all sources: best is that of one near it, and of the same name.

    Each has how well it suits, the file, the command and its directory.
    """
    wanted = os.path.realpath(unit.source)
    is_header = _SOURCE.search(wanted) is None
    found: list[tuple[tuple[int, bool, bool, bool], str, list[str], str]] = []
    for path in _databases(unit.source):
        for entry in _read(path):
            directory = str(entry.get("directory", os.path.dirname(path)))
            source = os.path.realpath(os.path.join(directory, str(entry.get("file", ""))))
            if source != wanted and not is_header:
                continue
            arguments = entry.get("arguments")
            command = arguments if isinstance(arguments, list) else shlex.split(str(entry.get("command", "")))
            if not command:
                continue
            is_clang = "clang" in os.path.basename(command[0])
            optimises = any(re.fullmatch(r"-O[23]", word) for word in command)
            has_name = _stem(source) == _stem(wanted)
            near = len(os.path.commonpath([source, wanted]))
            suits = (near, has_name, is_clang == ("clang" in unit.compiler), optimises)
            found.append((suits, path, command, directory))
    return found


def _stem(path: str) -> str:
    return os.path.basename(path).partition(".")[0]


def _databases(source: str) -> list[str]:
    name = "compile_commands.json"
    found: list[str] = []
    for start in (os.path.dirname(os.path.realpath(source)), os.getcwd()):
        folder = start
        while True:
            build = os.path.join(folder, "build")
            inside = sorted(os.listdir(build)) if os.path.isdir(build) else []
            found += [os.path.join(folder, name), *(os.path.join(build, each, name) for each in ("", *inside))]
            if os.path.dirname(folder) == folder:
                break
            folder = os.path.dirname(folder)
    return [path for path in dict.fromkeys(found) if os.path.isfile(path)]


def _read(path: str) -> list[dict[str, list[str] | str]]:
    try:
        with open(path, encoding="utf-8") as stream:
            entries = json.load(stream)
    except (OSError, ValueError):
        return []
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
