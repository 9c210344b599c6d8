"""The command line: `actorc [--backend state-machine|coroutine] INPUT OUTPUT [--depfile FILE]`.

Exit status: 0 success; 1 the source is wrong, or a file cannot be read or written; 3 a fault of actorc itself;
100 missing arguments.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from pathlib import Path
from typing import NoReturn

from actorc import __version__
from actorc.diagnostics import Diagnostics
from actorc.driver import BACKENDS, Rejected, compile_text
from actorc.source import Source

EXIT_REJECTED = 1
EXIT_INTERNAL = 3
EXIT_USAGE = 100


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(EXIT_USAGE, f"actorc: {message}\n")


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = _Parser(prog="actorc", description="Compile an actor source to C++20.", allow_abbrev=False)
    parser.add_argument("input", metavar="INPUT", help="the .actor.cpp or .actor.h file")
    parser.add_argument("output", metavar="OUTPUT", help="the C++ file to write")
    parser.add_argument("--backend", choices=BACKENDS, default=BACKENDS[0], help="what actors become (%(default)s)")
    parser.add_argument("--depfile", metavar="FILE", help="write a make rule with everything OUTPUT depends on")
    parser.add_argument("--disable-diagnostics", action="store_true", help="print no warnings")
    parser.add_argument("--version", action="version", version=f"actorc {__version__}")
    arguments = parser.parse_args(argv)
    if os.path.realpath(arguments.input) == os.path.realpath(arguments.output):
        parser.error("OUTPUT is the same file as INPUT")
    return arguments


def main(argv: list[str] | None = None) -> int:
    arguments = _arguments(argv)
    status = EXIT_INTERNAL
    try:
        status = _run(arguments)
    except OSError as error:
        status = EXIT_REJECTED
        print(f"actorc: {error.filename or arguments.input}: {error.strerror or error}", file=sys.stderr)
    except Exception as error:  # the author of an actor can do nothing with a traceback
        _report_internal(error, arguments.input)
    finally:
        if status != 0:
            _remove(arguments.output)
    return status


def _run(arguments: argparse.Namespace) -> int:
    source = Source.read(arguments.input)
    diagnostics = Diagnostics()
    try:
        text = compile_text(source, arguments.backend, arguments.output, diagnostics)
    except Rejected:
        _print_diagnostics(diagnostics, source, arguments)
        return EXIT_REJECTED
    _print_diagnostics(diagnostics, source, arguments)
    _write(arguments.output, source.encode(text))
    if arguments.depfile is not None:
        _write(arguments.depfile, _dependencies(arguments.input, arguments.output).encode())
    return 0


def _print_diagnostics(diagnostics: Diagnostics, source: Source, arguments: argparse.Namespace) -> None:
    text = diagnostics.render(source, warnings=not arguments.disable_diagnostics)
    sys.stderr.write(text.encode(sys.stderr.encoding or "utf-8", "replace").decode(sys.stderr.encoding or "utf-8"))


def _write(path: str, data: bytes) -> None:
    """All or nothing: whoever reads `path` sees the old contents or the new. Links are followed, and what is no regular
    file, such as a device or a pipe, is written to and not replaced."""
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(data)
            return
        temporary.write_bytes(data)
        os.replace(temporary, target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, path) from error


def _remove(path: str) -> None:
    """A stale output must not be compiled in place of the one that could not be made."""
    try:
        if Path(path).is_file():
            Path(path).unlink()
    except OSError as error:
        print(f"actorc: {path}: {error.strerror}", file=sys.stderr)


def _dependencies(input_path: str, output_path: str) -> str:
    """A make rule: the source, and actorc's own files, since a change of those changes the output too."""
    package = Path(__file__).resolve().parent
    own = sorted(path for pattern in ("*.py", "*.j2") for path in package.rglob(pattern))
    needed = [input_path, *map(str, own)]
    return f"{_escaped(output_path)}: " + " \\\n  ".join(map(_escaped, needed)) + "\n"


def _escaped(path: str) -> str:
    return path.replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ")


def _report_internal(error: Exception, input_path: str) -> None:
    if os.environ.get("ACTORC_TRACEBACK") == "1":
        traceback.print_exception(error)
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "an unknown place"
    what = f"{type(error).__name__}: {error}".splitlines()[0]
    print(
        f"actorc: {input_path}: internal error at {place}: {what}\n"
        "actorc: this is a bug in actorc, not in your source; set ACTORC_TRACEBACK=1 to see more",
        file=sys.stderr,
    )


if __name__ == "__main__":
    sys.exit(main())
