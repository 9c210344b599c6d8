"""`actorc check FILE...`: looks for traps, and prints what is found as the compiler prints its messages.

Exit status: 0 nothing was found; 1 something was found; 2 wrong arguments, or a file cannot be checked; 3 a fault of
actorc.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from actorc.diagnostics import Diagnostics
from actorc.packages import PackageMissing
from actorc.report.failure import Failure
from actorc.report.report import Reporter
from actorc.source import Source
from actorc_check import handlers
from actorc_check.actors import check_actors
from actorc_check.arguments import parse
from actorc_check.clang import errors_in, translation_unit
from actorc_check.traps import Traps
from actorc_check.tree import functions
from actorc_frames.compile import CannotCompile

EXIT_FOUND = 1
EXIT_FAILED = 2
ACTOR_FILES = (".actor.cpp", ".actor.h")


def main(argv: Sequence[str]) -> int:
    arguments = parse(argv)
    reporter = Reporter(arguments.format, arguments.colour, warnings=True)
    status = 0
    with ThreadPoolExecutor(arguments.jobs) as pool:  # clang reads without Python's lock
        for found in pool.map(lambda path: _checked(path, arguments.flags), arguments.files):
            if isinstance(found, Failure):
                reporter.fail(found)
                status = EXIT_FAILED
                continue
            source, diagnostics = found
            reporter.add(source, diagnostics)
            if len(diagnostics):
                status = max(status, EXIT_FOUND)
    reporter.finish()
    return status


def _checked(path: str, flags: Sequence[str] | None) -> tuple[Source, Diagnostics] | Failure:
    try:
        with open(path, "rb") as file:
            text = file.read()
        source = Source.from_bytes(path, text)
        return source, check(source, text, flags)
    except OSError as error:
        return Failure(error.filename or path, "file", error.strerror or str(error))
    except (CannotCompile, PackageMissing) as error:
        return Failure(path, "file", str(error))


def check(source: Source, text: bytes, flags: Sequence[str] | None) -> Diagnostics:
    """What is wrong in a file that is on the disk. Raises CannotCompile and PackageMissing."""
    diagnostics = Diagnostics()
    is_actors = source.path.endswith(ACTOR_FILES)
    if is_actors:
        check_actors(source, diagnostics)
        if diagnostics.errors:
            return diagnostics
    unit = translation_unit(source.path, flags, is_actors=is_actors)
    traps = Traps(source, text, diagnostics)
    errors = errors_in(unit, source.path)
    for error in errors:
        traps.add_error(error, os.path.abspath(source.path))
    if errors:
        diagnostics.drop_allowed(source)
        return diagnostics
    for function in functions(unit, os.path.abspath(source.path), text):
        traps.look(function)
        handlers.look(function, traps, text, diagnostics)
    diagnostics.drop_allowed(source)
    return diagnostics
