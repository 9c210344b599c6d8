"""Worktrees of other revisions with their builds, in build/compare/. The latest are kept, the oldest removed."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from millrace.common.failure import Failure

KEPT = 6  # trees; one with a build is some 100 MB
_HASH_LENGTH = 12
_TREE = re.compile(f"[0-9a-f]{{{_HASH_LENGTH}}}")
_UNFINISHED = ".unfinished"  # the suffix of a tree's name until it is whole
_COPIES = "copies-"  # of programs, one folder for each compare that runs


class Store:
    """The folder of all that compare keeps. Every checkout and build holds its lock."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "build" / "compare"
        self._root = root

    @contextmanager
    def locked(self, console: Console) -> Iterator[None]:
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                console.print("another compare builds: waiting for it")
                fcntl.flock(file, fcntl.LOCK_EX)
            self._remove_remains()
            yield

    def tree(self, commit: str) -> Path:
        """Checks out a commit, unless it is there from an earlier run."""
        tree = self.folder / commit[:_HASH_LENGTH]
        if not tree.exists():
            unfinished = tree.with_suffix(_UNFINISHED)
            # Twice the force replaces the entry of a worktree that a killed git has left.
            self._worktree("add", "--detach", "--force", "--force", "--quiet", str(unfinished), commit)
            self._worktree("move", str(unfinished), str(tree))
        now = time.time_ns()  # finer than what the kernel would write
        os.utime(tree, ns=(now, now))  # so that the least recently used ones can be found
        return tree

    def prune(self, kept: int = KEPT) -> None:
        """Removes all trees but those used last."""
        trees = sorted(self._trees(), key=lambda tree: tree.stat().st_mtime_ns, reverse=True)
        for tree in trees[kept:]:
            # Renamed first, so that a half-removed tree is not used as a whole one.
            tree.rename(tree.with_suffix(_UNFINISHED))
        self._remove_remains()

    @contextmanager
    def copies(self) -> Iterator[Path]:
        """A folder with copies of the programs that one compare runs, since another compare may rebuild them
        meanwhile."""
        with TemporaryDirectory(prefix=f"{_COPIES}{os.getpid()}-", dir=self.folder, ignore_cleanup_errors=True) as name:
            yield Path(name)

    def _trees(self) -> list[Path]:
        return [each for each in self.folder.iterdir() if _TREE.fullmatch(each.name)]

    def _worktree(self, *arguments: str) -> None:
        command = ["git", "worktree", *arguments]
        done = subprocess.run(command, cwd=self._root, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Failure(f"cannot check out a revision: {done.stderr.strip()}")

    def _remove_remains(self) -> None:
        """Removes trees that are not whole, with git's entries of them, and what a killed compare has left."""
        trees = list(self.folder.glob(f"*{_UNFINISHED}"))
        copies = [each for each in self.folder.glob(f"{_COPIES}*") if not _is_alive(each)]
        for each in [*trees, *copies]:
            shutil.rmtree(each, ignore_errors=True)
        if trees:
            self._worktree("prune")


def _is_alive(copies: Path) -> bool:
    process = copies.name.removeprefix(_COPIES).partition("-")[0]
    return Path("/proc", process).exists()
