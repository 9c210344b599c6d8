"""The tree of this project: where it is, which revision it has, and where its tools put what they make."""

from __future__ import annotations

from pathlib import Path

from millrace.common import process
from millrace.common.files import check_writable

ROOT = Path(__file__).resolve().parents[2]


def revision() -> str:
    return process.revision(ROOT)


def default_file(name: str) -> Path:
    """The default path of a command's output; check_result_file() makes the folder."""
    return ROOT / "build" / name


def check_result_file(file: Path) -> None:
    """Like check_writable(), and makes the folder of a default_file()."""
    if file.parent == ROOT / "build":
        file.parent.mkdir(exist_ok=True)
    check_writable(file)
