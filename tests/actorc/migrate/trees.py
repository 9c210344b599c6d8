"""Small trees of files, before and after a migration."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from actorc.__main__ import main

KEYWORDS = '#include "flow/actorcompiler.h" // This must be the last #include.\n'
# The top of an actor file; afterwards only flow.h is left of it.
TOP = '#include "flow/flow.h"\nusing namespace flow;\n' + KEYWORDS
NEW_TOP = '#include "flow/flow.h"\nusing namespace flow;\n'


def make(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", errors="surrogateescape"))


def tree(folder: Path) -> dict[str, str]:
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        str(path.relative_to(folder)): path.read_bytes().decode("utf-8", errors="surrogateescape") for path in found
    }


def migrate(*arguments: str) -> int:
    return main(["migrate", "--jobs=1", *arguments])


def migrated(folder: Path, files: dict[str, str], *options: str, status: int = 0) -> dict[str, str]:
    """What a tree becomes, all of which is given; a second run must leave it as it is."""
    make(folder, files)
    with contextlib.chdir(folder):  # wherever the test stands, it must not migrate what is there
        assert migrate(".", "--write", *options) == status
        found = tree(folder)
        migrate(".", "--write", *options)
    assert tree(folder) == found
    return found


def killed(monkeypatch: pytest.MonkeyPatch, steps: int, *names: str) -> int:
    """The process id of a run that ends at once after some calls of functions of `os`."""
    child = os.fork()
    if child:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
        return child
    done: list[str] = []

    def limited(function: Callable[..., None]) -> Callable[..., None]:
        def step(*arguments: str) -> None:
            if len(done) == steps:
                os._exit(9)
            done.append(arguments[0])
            function(*arguments)

        return step

    for name in names:
        monkeypatch.setattr(os, name, limited(getattr(os, name)))
    migrate(".", "--write")
    os._exit(0)
