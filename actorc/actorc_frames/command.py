"""`actorc --frames FILE...`: compiles, reads the debug information, and prints what the frames contain."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

from actorc.driver import Rejected
from actorc.source import Source
from actorc_frames import tables
from actorc_frames.compile import CannotCompile, Unit, actors_of, compiled, compilers, missing, units_of
from actorc_frames.debug_info import NoDebugInfo, units
from actorc_frames.found import layouts_of
from actorc_frames.layout import COROUTINE, STATE_MACHINE, Layout

EXIT_FAILED = 1


def run(files: Sequence[str], flags: Sequence[str] | None, *, as_json: bool) -> int:
    """Prints the frames of the files; returns 1 if something failed."""
    layouts: list[Layout] = []
    failures: list[str] = []
    notes = [f"{name} is not installed: its coroutines are not shown" for name in missing()]
    found = compilers()
    if not found:
        failures.append("no C++ compiler is installed: clang++-19 or g++ is needed")
        found = []
    for path in files if found else []:
        try:
            layouts += _of_file(path, found, flags, failures, notes)
        except Rejected as error:
            first = error.diagnostics.errors[0]
            line = Source.read(path).line(first.span.start)
            failures.append(f"{path}:{line}: error: {first.message} [{first.code}]")
        except OSError as error:
            failures.append(f"{error.filename or path}: {error.strerror}")
    groups = tables.grouped(layouts)
    (_print_json if as_json else _print)(groups, notes, failures)
    return EXIT_FAILED if failures else 0


def _of_file(
    path: str, found: Sequence[str], flags: Sequence[str] | None, failures: list[str], notes: list[str]
) -> list[Layout]:
    if path.endswith((".h", ".hpp")):
        failures.append(f"{path}: a header is compiled by the files that include it: name one of those")
        return []
    with tempfile.TemporaryDirectory() as folder:
        work = units_of(path, found, folder)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(lambda unit: _of_unit(unit, flags, folder), work))
    layouts = [layout for result in results if not isinstance(result, str) for layout in result]
    errors = [result for result in results if isinstance(result, str)]
    failures += [f"{path}: {each}" for each in dict.fromkeys(errors)]
    if not errors:
        notes += _absent(path, layouts)
    return layouts


def _of_unit(unit: Unit, flags: Sequence[str] | None, folder: str) -> list[Layout] | str:
    """The frames of functions in the file itself, not in its includes; or what is wrong."""
    try:
        path = compiled(unit, flags, folder)
        every = [layout for top in units(path) for layout in layouts_of(top, unit.compiler)]
    except (CannotCompile, NoDebugInfo) as error:
        return str(error)
    wanted = os.path.realpath(unit.source)
    own = (each for each in every if os.path.realpath(each.file) == wanted)
    return list({(each.function, each.line, each.style): each for each in own}.values())


def _absent(path: str, layouts: Iterable[Layout]) -> list[str]:
    """Actors that have no frame in the debug information."""
    if not path.endswith(".actor.cpp"):
        return [] if layouts else [f"{path}: has no coroutine that returns a Future"]
    known = {(layout.style, layout.function.split("<")[0].rsplit("::", 1)[-1]) for layout in layouts}
    actors = list(dict.fromkeys(actors_of(path)))
    if not actors and not layouts:
        return [f"{path}: has no actors and no coroutines"]
    gone = [
        name
        for name in actors
        if not {(STATE_MACHINE, name.rsplit("::", 1)[-1]), (COROUTINE, name.rsplit("::", 1)[-1])} & known
    ]
    why = "a template that the file does not use, or static and never called"
    return [f"{path}: `{name}` is in no compiled code: {why}" for name in gone]


def _print(groups: Sequence[Sequence[Layout]], notes: Sequence[str], failures: Sequence[str]) -> None:
    if groups:
        print(tables.summary(groups))
    for group in groups:
        print()
        print("\n".join(tables.details(group)))
    if groups:
        print()
        print(tables.legend([layout for group in groups for layout in group]))
    for note in notes:
        print(f"note: {note}")
    for failure in failures:
        print(f"actorc: {failure}", file=sys.stderr)


def _print_json(groups: Sequence[Sequence[Layout]], notes: Sequence[str], failures: Sequence[str]) -> None:
    frames = [as_document(layout) for group in groups for layout in group]
    print(json.dumps({"version": 1, "frames": frames, "notes": notes, "failures": failures}, indent=2))


def as_document(layout: Layout) -> dict[str, object]:
    return asdict(layout) | {"block": layout.block, "own": layout.own, "waste": layout.waste}
