"""`actorc migrate PATH...`: prints what it would do; with --write it does that."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from actorc import outputs
from actorc.packages import PackageMissing, find_package
from actorc.report.report import COLOURED, PLAIN, wants_colour
from actorc.run import EXIT_INTERNAL, EXIT_REJECTED
from actorc_migrate import report
from actorc_migrate.arguments import Arguments, parse
from actorc_migrate.diff import unified
from actorc_migrate.project import Project
from actorc_migrate.results import Result
from actorc_migrate.write import remove_left_behind, write_all


def main(argv: Sequence[str]) -> int:
    arguments = parse(argv)
    result = Project(arguments.paths, arguments.settings, _say).migrated(arguments.jobs)
    status = _status(result)
    if arguments.verifies and result.changed and not _is_verified(result, arguments):
        _print(result, arguments)
        return max(status, EXIT_REJECTED)
    try:
        for path in arguments.reports:  # first: if the report cannot be written, nothing is migrated
            _write_report(path, result)
        if arguments.mode == "write":
            for path in remove_left_behind(result.changed):
                _say(f"actorc: {path}: removed, which a run that was interrupted had left\n")
            write_all(result.changed)
    except OSError as error:
        _say(f"actorc: {error.filename}: {error.strerror}\n")
        return max(status, EXIT_REJECTED)
    except PackageMissing as error:
        _say(f"actorc: {error}\n")
        return max(status, EXIT_REJECTED)
    _print(result, arguments)
    if arguments.mode == "check" and result.changed:
        return max(status, EXIT_REJECTED)
    return status


def _is_verified(result: Result, arguments: Arguments) -> bool:
    from actorc_frames.compile import CannotCompile  # imported here: most runs compile nothing
    from actorc_migrate.verify.verify import as_text, verify

    try:
        found = verify(result, arguments.flags, arguments.tests, arguments.jobs)
    except CannotCompile as error:
        _say(f"actorc: {error}\n")
        return False
    result.frames, result.called, result.uncalled = found.frames, found.actors, found.uncalled
    _say(as_text(found))
    return found.is_passed


def _status(result: Result) -> int:
    if any(failure.kind == "internal" for failure in result.failures):
        return EXIT_INTERNAL
    return 0 if result.is_whole else EXIT_REJECTED


def _write_report(path: str, result: Result) -> None:
    if path.endswith(".json"):
        from actorc_migrate.document import as_json

        text = as_json(result)
    else:
        find_package("jinja2", "jinja2")
        from actorc_migrate.page import as_html  # imported here: it loads Jinja

        text = as_html(result)
    outputs.write(path, text.encode("utf-8", errors="replace"))


def _print(result: Result, arguments: Arguments) -> None:
    if arguments.mode == "diff":
        _put("".join(map(unified, result.changed)))
        _say(report.summary(result))
    elif arguments.mode == "check":
        _put("".join(f"{file.path}\n" for file in result.changed))
    else:
        palette = COLOURED if wants_colour(arguments.colour, sys.stdout) else PLAIN
        _put(report.as_text(result, palette))


def _put(text: str) -> None:
    """Bytes that are not UTF-8 are printed unchanged."""
    sys.stdout.flush()
    if hasattr(sys.stdout, "buffer"):
        sys.stdout.buffer.write(text.encode("utf-8", errors="surrogateescape"))
        sys.stdout.buffer.flush()
    else:
        sys.stdout.write(text)


def _say(text: str) -> None:
    encoding = sys.stderr.encoding or "utf-8"
    sys.stderr.write(text.encode(encoding, "replace").decode(encoding))
