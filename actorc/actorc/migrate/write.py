"""The files that a migration writes: all or none, each whole; an old one goes only when the new is there."""

from __future__ import annotations

import os
from collections.abc import Sequence

from actorc.migrate.results import FileResult
from actorc.records import dataclass


@dataclass(frozen=True, slots=True)
class _Prepared:
    temporary: str
    target: str
    old: str | None  # what is to go


def write_all(files: Sequence[FileResult]) -> None:
    """Raises OSError, before anything is changed, if one of the files cannot be written."""
    prepared: list[_Prepared] = []
    try:
        for file in files:
            prepared.append(_place(file))
            _prepare(file, prepared[-1])
    except OSError as error:
        for each in prepared:
            if os.path.lexists(each.temporary):
                os.unlink(each.temporary)
        raise OSError(error.errno, error.strerror, files[len(prepared) - 1].new_path) from error
    for each in prepared:
        os.replace(each.temporary, each.target)
    for each in prepared:
        if each.old is not None:
            os.unlink(each.old)


def _place(file: FileResult) -> _Prepared:
    moves = file.new_path != file.path
    target = file.new_path if moves else os.path.realpath(file.path)
    return _Prepared(f"{target}.{os.getpid()}.tmp", target, file.path if moves else None)


def _prepare(file: FileResult, prepared: _Prepared) -> None:
    mode = os.stat(file.path).st_mode & 0o7777
    with open(prepared.temporary, "wb") as new:
        new.write(file.source.encode(file.text))
        new.flush()
        os.fsync(new.fileno())  # else a machine that fails could have lost the old text, and not have the new one
    os.chmod(prepared.temporary, mode)
