"""Looks up an address: the function, and the functions inlined there, with file and line."""

from __future__ import annotations

import bisect
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from millrace.common.failure import Failure
from millrace.common.packages import headers_folder
from millrace.profile.samples import Place

_PLACE = re.compile(r"(.*):(\d+|\?)(?: \(discriminator \d+\))?$")
_SYSTEM = ("/usr/", "/lib")  # their objects are installed without debug information
# That of binutils 2.40 does not know the names of functions with constraints.
DEMANGLERS = ("llvm-cxxfilt-19", "llvm-cxxfilt", "c++filt")
_SYMBOL = re.compile(r"([0-9a-f]+) [tTwWiuV] (.*)$")


@dataclass(frozen=True, slots=True)
class Frame:
    """One function on a stack, inlined or not. `file` is relative to the project if it is ours; "" if unknown."""

    name: str
    file: str
    line: int
    object: str  # without its folder
    is_inlined: bool = False


def expand(places: Iterable[Place]) -> dict[Place, tuple[Frame, ...]]:
    """The frames at each place, outermost first: one, or more where functions were inlined."""
    wanted: dict[str, list[Place]] = {}
    result: dict[Place, tuple[Frame, ...]] = {}
    for place in set(places):
        if place.address is not None and _has_symbols(place.object):
            wanted.setdefault(place.object, []).append(place)
        else:
            result[place] = (Frame(place.name or "[unknown]", "", 0, Path(place.object).name),)
    for file, some in wanted.items():
        result |= _expand(file, some)
    mangled = sorted({frame.name for frames in result.values() for frame in frames if frame.name.startswith("_Z")})
    plain = dict(zip(mangled, demangled(mangled), strict=True))
    return {
        place: tuple(
            Frame(plain[one.name], one.file, one.line, one.object, one.is_inlined) if one.name in plain else one
            for one in frames
        )
        for place, frames in result.items()
    }


def _has_symbols(file: str) -> bool:
    """Not every object of a profiler is a file: "[vdso]" and callgrind's "???" are not."""
    return file.startswith("/") and not file.startswith(_SYSTEM) and Path(file).is_file()


def demangled(names: list[str]) -> list[str]:
    tool = next((each for each in DEMANGLERS if shutil.which(each)), None)
    return _output([tool], names)[: len(names)] if names and tool else names


def _expand(file: str, places: list[Place]) -> dict[Place, tuple[Frame, ...]]:
    symbols = _symbols(file)
    lines = _output(["addr2line", "-e", file, "-a", "-i", "-f", "-C"], [hex(place.address or 0) for place in places])
    result: dict[Place, tuple[Frame, ...]] = {}
    for place, chain in zip(places, paragraphs(lines), strict=True):
        name = Path(file).name
        inner = [
            Frame(function, *source(where), name, is_inlined=True)
            for function, where in zip(chain[::2], chain[1::2], strict=True)
        ]
        # The parts of a coroutine have one name in the debug information, and different names in the symbol table.
        outermost = inner[-1]
        symbol = symbols.at(place.address or 0) or place.name or outermost.name
        inner[-1] = Frame(symbol, outermost.file, outermost.line, name)
        result[place] = tuple(reversed(inner))
    return result


def paragraphs(lines: Iterable[str]) -> list[list[str]]:
    """Parses addr2line's output for each address: function and place in turn, innermost first."""
    result: list[list[str]] = []
    for line in lines:
        if line.startswith("0x"):
            result.append([])
        else:
            result[-1].append(line)
    return result


@lru_cache(maxsize=65536)
def source(text: str) -> tuple[str, int]:
    """File and line of "file:line"."""
    match = _PLACE.match(text)
    if not match or match[1].startswith("??"):
        return "", 0
    return _relative(match[1]), int(match[2]) if match[2].isdigit() else 0


@lru_cache(maxsize=4096)
def _relative(file: str) -> str:
    """A compiler cache may have compiled it in another checkout: only the path below the project's folder matters."""
    path = Path(re.sub(r"[^/]+/\.\./", "", re.sub(r"[^/]+/[^/]+/\.\./\.\./", "", file)))
    for start in range(1, len(path.parts)):
        below = Path(*path.parts[start:])
        if below.parts[0] in ("flow", "bench", "build", "net", "tests") and _is_ours(below):
            return below.as_posix()
    return path.as_posix()


def _is_ours(below: Path) -> bool:
    """An installation has no sources, but most have a header of their name."""
    try:
        place = headers_folder() / below
    except Failure:
        return False
    return place.exists() or place.with_suffix(".h").exists()


class _Symbols:
    """The functions of an object by address."""

    def __init__(self, file: str) -> None:
        found = (_SYMBOL.match(line) for line in _output(["nm", "-C", "--defined-only", file], []))
        table = sorted((int(match[1], 16), match[2]) for match in found if match)
        self._starts = [start for start, _ in table]
        self._names = [name for _, name in table]

    def at(self, address: int) -> str | None:
        index = bisect.bisect_right(self._starts, address) - 1
        return self._names[index] if index >= 0 else None


@lru_cache(maxsize=8)
def _symbols(file: str) -> _Symbols:
    return _Symbols(file)


def _output(command: list[str], lines: list[str]) -> list[str]:
    try:
        done = subprocess.run(command, input="\n".join([*lines, ""]), capture_output=True, text=True, check=False)
    except OSError as error:
        raise Failure(f"{command[0]}: {error.strerror}") from error
    if done.returncode:
        raise Failure(done.stderr.strip() or f"{command[0]}: exit code {done.returncode}")
    return done.stdout.splitlines()
