"""`actorc check FILE...`: looks for traps, and prints what is found as the compiler prints its messages.

Exit status: 0 nothing was found; 1 something was found; 2 wrong arguments, or a file cannot be checked; 3 a fault of
actorc.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from actorc.diagnostics import Diagnostics, Fault, Severity
from actorc.driver import examine
from actorc.packages import PackageMissing
from actorc.report.failure import Failure
from actorc.report.report import Reporter
from actorc.source import Source
from actorc.syntax import File
from actorc_check import gcc, handlers
from actorc_check.actors import ACTOR_FILES, check_actors, loop_calls, returned_lists
from actorc_check.arguments import Arguments, read
from actorc_check.clang import Tree, parsed
from actorc_check.declared import report_declarations
from actorc_check.differences import report_differences
from actorc_check.dying import DyingLocals
from actorc_check.heads import edits_of_heads, included
from actorc_check.reading import Reading
from actorc_check.traps import Traps
from actorc_check.tree import Function, functions
from actorc_frames.compile import OLDEST_GCC, CannotCompile, gcc_version

EXIT_FOUND = 1
EXIT_FAILED = 2


def main(argv: Sequence[str]) -> int:
    arguments = read(argv)
    reporter = Reporter(arguments.format, arguments.colour, warnings=True)
    status = 0
    without_clang = False
    with ThreadPoolExecutor(arguments.jobs) as pool:  # clang reads without Python's lock
        for source, diagnostics, failure in pool.map(lambda path: _checked(path, arguments), arguments.files):
            if source is not None:
                reporter.add(source, diagnostics)
            if len(diagnostics):
                status = max(status, EXIT_FOUND)
            if failure is not None or any(found.fault is Fault.WRONG_CPP for found in diagnostics.errors):
                status = EXIT_FAILED
            if isinstance(failure, _Unlooked):
                if without_clang:
                    continue  # the same is true of all files
                without_clang = True
            if failure is not None:
                reporter.fail(failure)
    reporter.finish()
    return status


def _look_for_traps(
    found: list[Function],
    traps: Traps,
    text: bytes,
    diagnostics: Diagnostics,
    version_of_gcc: int | None,
    dying: DyingLocals | None,
) -> None:
    """In functions that clang could read. An error outside of functions may mean that others are read wrongly."""
    wrong = [each.span.start for each in diagnostics if each.fault is Fault.WRONG_CPP]
    places = [(function, traps.span(function.node.start, function.node.end)) for function in found]
    if not all(any(place.start <= start < place.end for _, place in places) for start in wrong):
        return
    for function, place in places:
        if not any(place.start <= start < place.end for start in wrong):
            traps.look(function)
            handlers.look(function, traps, text, diagnostics)
            if dying is not None:
                dying.look(function)
            if version_of_gcc:
                gcc.look(function, traps, text, diagnostics, version_of_gcc)


class _Unlooked(Failure):
    """The traps of C++ were not looked for, since libclang is missing."""


def _checked(path: str, arguments: Arguments) -> tuple[Source | None, Diagnostics, Failure | None]:
    diagnostics = Diagnostics()
    source = None
    failure: Failure | None = None
    try:
        source = Source.read(path)
        if arguments.differences:
            report_differences(examine(source, Diagnostics()).words, diagnostics)
            diagnostics.drop_allowed(source)
        check(source, arguments.flags, diagnostics, version_of_gcc=OLDEST_GCC if arguments.gcc else None)
    except OSError as error:
        failure = Failure(error.filename or path, "file", error.strerror or str(error))
    except CannotCompile as error:
        failure = Failure(path, "file", str(error))
    except PackageMissing as error:
        message = f"the traps of C++ were not looked for, in this or any other file: {error}"
        failure = _Unlooked(path, "file", message)
    gc.collect()  # what clang has read takes some 100 MB, and is part of reference cycles
    return source, diagnostics, failure


def check(
    source: Source,
    flags: Sequence[str] | None,
    diagnostics: Diagnostics,
    *,
    is_saved: bool = True,
    version_of_gcc: int | None = None,
) -> None:
    """Adds what is wrong in a file that has that text, on the disk or not. Raises CannotCompile and PackageMissing.

    `version_of_gcc`: this version of gcc compiles it, whatever a compile_commands.json says.
    """
    file = None
    if source.path.endswith(ACTOR_FILES):
        file = check_actors(source, diagnostics)
        if diagnostics.errors:
            return
    path = os.path.abspath(source.path)
    reading, tree = read_tree(source, file, flags, is_saved=is_saved)
    traps = Traps(source, reading, diagnostics)
    # clang reads actors as an editor does: not exactly
    severity = Severity.ERROR if file is None else Severity.WARNING
    for error in tree.own_errors:
        traps.add_error(error, path, severity, is_ported=tree.is_ported)
    diagnostics.drop_allowed(source)
    if tree.cannot_compile is None:
        if version_of_gcc is None and flags is None:
            version_of_gcc = gcc_version(source.path)
        dying = None if file is None else DyingLocals(tree.unit, file, source, reading, diagnostics)
        found = functions(tree.unit, path, reading.text)
        _look_for_traps(found, traps, reading.text, diagnostics, version_of_gcc, dying)
    if file is not None and tree.cannot_compile is None:
        report_declarations(tree.unit, file, source, reading, diagnostics)
    diagnostics.drop_allowed(source)
    if tree.cannot_compile is not None:
        raise tree.cannot_compile


def read_tree(
    source: Source, file: File | None, flags: Sequence[str] | None, *, is_saved: bool, goes_on: bool = False
) -> tuple[Reading, Tree]:
    """The text that clang has read, and what it has made of it. `goes_on`: also behind a header that is not there."""
    reading = Reading(source, is_saved=is_saved)
    if file is None:
        return reading, parsed(source.path, flags, reading, goes_on=goes_on)
    lists, calls = returned_lists(file, source), tuple(loop_calls(source))
    tree = parsed(source.path, flags, reading, is_actors=True, lists=lists, calls=calls, goes_on=goes_on)
    if tree.own_errors or tree.cannot_compile is not None:
        own = Reading(source, edits_of_heads(tree.unit, os.path.abspath(source.path), file, source), is_saved=is_saved)
        others = included(tree.unit)
        if others or own.text != reading.text:
            tree = parsed(
                source.path, flags, own, is_actors=True, lists=lists, calls=calls, others=others, goes_on=goes_on
            )
            return own, tree
    return reading, tree
