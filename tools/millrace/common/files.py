"""The files that commands write: checked before a long measurement, and written whole or not at all."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from millrace.common.arguments import UsageError
from millrace.common.failure import Failure

_BLOCK = 1 << 16  # bytes that must fit at least


def check_writable(file: Path) -> None:
    """A UsageError if it cannot be written; leaves everything as it was."""
    if file.is_dir():
        raise UsageError(f"cannot write {file}: it is a folder")
    try:
        if _is_special(file):
            file.open("ab").close()
            return
        _try(file.resolve().parent)
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror}") from error


def check_folder(folder: Path) -> None:
    """A UsageError if no files can be written there; makes it where there is none."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder {folder}: {error.strerror}") from error
    try:
        _try(folder)
    except OSError as error:
        raise UsageError(f"cannot write into {folder}: {error.strerror}") from error


def _try(folder: Path) -> None:
    with tempfile.TemporaryFile(dir=folder) as probe:
        probe.write(bytes(_BLOCK))


def write(file: Path, content: str | bytes) -> None:
    """Writes the file whole, or keeps the old one. A Failure says where the content is instead: in a temporary file or,
    if that cannot be written either, on the terminal."""
    data = content.encode() if isinstance(content, str) else content
    try:
        _replace(file, data)
    except OSError as error:
        raise Failure(f"cannot write {file}: {error.strerror}{_rescue(file, data)}") from error


def _replace(file: Path, data: bytes) -> None:
    if _is_special(file):
        file.write_bytes(data)
        return
    file = file.resolve()  # writes the target of a link
    part = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with part.open("wb") as stream:
            stream.write(data)
        if file.exists():
            shutil.copymode(file, part)
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)


def _rescue(file: Path, data: bytes) -> str:
    try:
        other = Path(tempfile.mkdtemp(prefix="millrace-")) / file.name
        other.write_bytes(data)
        return f"; what was to be there is in {other}"
    except OSError:
        try:
            print(data.decode())
            sys.stdout.flush()
            return "; what was to be there was printed"
        except (OSError, UnicodeError):
            return ""


def _is_special(file: Path) -> bool:
    """A terminal, a pipe, /dev/null: to be written into, not replaced."""
    return file.exists() and not file.is_file()
