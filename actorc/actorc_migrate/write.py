"""Writes the files of a migration: all or none, each whole. An old file is removed only when the new one exists.

Each is first written under a name of its own, `.x.cpp.PID.actorc-migrate`. The next run removes such files that a
killed run has left.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from actorc.records import dataclass
from actorc_migrate.results import FileResult

_TEMPORARY = re.compile(r"\..+\.(\d+)\.actorc-migrate")


@dataclass(frozen=True, slots=True)
class _Prepared:
    temporary: str
    target: str
    old: str | None  # files to remove


def write_all(files: Sequence[FileResult]) -> None:
    """Raises OSError, before anything is changed, if one of the files cannot be written. Links must come behind what
    they lead to."""
    prepared: list[_Prepared] = []
    target = ""
    try:
        for file in files:
            target = file.new_path
            prepared.append(_place(file))
            _prepare(file, prepared[-1])
        for each in prepared:
            target = each.target
            os.replace(each.temporary, target)
    except BaseException as error:
        for each in prepared:
            if os.path.lexists(each.temporary):
                os.unlink(each.temporary)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, target) from error
        raise
    # Links go first, so that after an interrupt the next run finds all targets of the remaining links.
    for old in sorted((each.old for each in reversed(prepared) if each.old is not None), key=_rank):
        os.unlink(old)


def remove_left_behind(files: Sequence[FileResult]) -> Iterator[str]:
    """Removes temporary files of runs that have ended; returns their paths."""
    for folder in sorted({os.path.dirname(_place(file).temporary) for file in files}):
        for name in sorted(os.listdir(folder or ".")):
            match = _TEMPORARY.fullmatch(name)
            if match is not None and not _runs(int(match[1])):
                path = os.path.join(folder, name)
                os.unlink(path)
                yield path


def _rank(path: str) -> int:
    """Links lead to files, and sources include headers."""
    return 0 if os.path.islink(path) else 1 + path.endswith(".h")


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # another process owns it
        pass
    return True


def _place(file: FileResult) -> _Prepared:
    moves = file.new_path != file.path
    follows = not moves and os.path.islink(file.path) and not file.is_link
    target = os.path.realpath(file.path) if follows else file.new_path
    folder, name = os.path.split(target)
    return _Prepared(
        os.path.join(folder, f".{name}.{os.getpid()}.actorc-migrate"), target, file.path if moves else None
    )


def _prepare(file: FileResult, prepared: _Prepared) -> None:
    if file.is_link:
        os.symlink(file.text, prepared.temporary)
        return
    mode = os.stat(file.path).st_mode & 0o7777
    with open(prepared.temporary, "wb") as new:
        new.write(file.source.encode(file.text))
        new.flush()
        os.fsync(new.fileno())  # otherwise a crash of the machine could lose the old text before the new one is on disk
    os.chmod(prepared.temporary, mode)
