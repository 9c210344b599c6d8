"""The files that a run writes: whole or not at all, and none that is stale."""

from __future__ import annotations

import os
import re
import sys

STANDARD = "-"  # standard input as an input, standard output as an output
_WRITE_BITS = 0o222


def write(path: str, data: bytes, *, read_only: bool = False) -> None:
    """Writes all or nothing: a reader of `path` sees the old contents or the new. Follows links. Writes to a device, a
    pipe or an open descriptor, and does not replace it. An error of standard output is raised without a path."""
    if path == STANDARD:
        sys.stdout.buffer.write(data)
        return
    number = descriptor(path)
    target = os.path.realpath(path)
    temporary = f"{target}.{os.getpid()}.tmp"
    try:
        if number is not None:
            with open(number, "wb", closefd=False) as file:
                file.write(data)
            return
        if is_special(path):
            _write(target, data)
            return
        _write(temporary, data)
        if read_only:
            os.chmod(temporary, os.stat(temporary).st_mode & ~_WRITE_BITS)
        os.replace(temporary, target)
    except OSError as error:
        if os.path.lexists(temporary):
            os.unlink(temporary)
        no_folder = not os.path.isdir(os.path.dirname(target))
        raise OSError(error.errno, "the folder does not exist" if no_folder else error.strerror, path) from error


def _write(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


def identifier_path(output: str) -> str:
    """Of the file beside an output that says which numbers its actors have."""
    return output + ".uid"


def is_special(path: str) -> bool:
    """Whether the path is no regular file, or an open descriptor of one, so that no file is written beside it."""
    return path == STANDARD or descriptor(path) is not None or (os.path.exists(path) and not os.path.isfile(path))


def descriptor(path: str) -> int | None:
    """The open descriptor that a path names, as /dev/stdout and /dev/fd/3 do."""
    for _ in range(40):  # as many links as Linux follows
        folder, name = os.path.realpath(os.path.dirname(path)), os.path.basename(path)
        if name.isdecimal() and re.fullmatch(rf"/proc/{os.getpid()}(/task/[0-9]+)?/fd", folder):
            return int(name)
        if not os.path.islink(path):
            break
        path = os.path.join(folder, os.readlink(path))
    return None


def remove(path: str) -> None:
    """A stale output must not be compiled in place of the one that could not be made."""
    try:
        if os.path.isfile(path) and not is_special(path):
            os.unlink(path)
    except OSError as error:
        print(f"actorc: {path}: {error.strerror}", file=sys.stderr)


def make_rule(input_path: str, output_path: str) -> str:
    """A make rule: the source, and actorc's own files, since a change of those changes the output too."""
    package = os.path.dirname(os.path.realpath(__file__))
    own = sorted(
        os.path.join(folder, name) for folder, _, names in os.walk(package) for name in names if name.endswith(".py")
    )
    needed = [input_path, *own]
    return f"{_escaped(output_path)}: " + " \\\n  ".join(map(_escaped, needed)) + "\n"


def _escaped(path: str) -> str:
    return path.replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ")
