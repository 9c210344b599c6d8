"""The files that a run writes: whole or not at all, and none that is stale."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_READ_ONLY = 0o440


def write(path: str, data: bytes, *, read_only: bool = False) -> None:
    """All or nothing: whoever reads `path` sees the old contents or the new. Links are followed, and what is no regular
    file, such as a device or a pipe, is written to and not replaced."""
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    try:
        if is_special(path):
            target.write_bytes(data)
            return
        temporary.write_bytes(data)
        if read_only:
            temporary.chmod(_READ_ONLY)
        os.replace(temporary, target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, path) from error


def is_special(path: str) -> bool:
    """Whether something that is no regular file stands there: nothing is put beside it."""
    target = Path(os.path.realpath(path))
    return target.exists() and not target.is_file()


def remove(path: str) -> None:
    """A stale output must not be compiled in place of the one that could not be made."""
    try:
        if Path(path).is_file():
            Path(path).unlink()
    except OSError as error:
        print(f"actorc: {path}: {error.strerror}", file=sys.stderr)


def make_rule(input_path: str, output_path: str) -> str:
    """A make rule: the source, and actorc's own files, since a change of those changes the output too."""
    package = Path(__file__).resolve().parent
    own = sorted(path for pattern in ("*.py", "*.j2") for path in package.rglob(pattern))
    needed = [input_path, *map(str, own)]
    return f"{_escaped(output_path)}: " + " \\\n  ".join(map(_escaped, needed)) + "\n"


def _escaped(path: str) -> str:
    return path.replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ")
