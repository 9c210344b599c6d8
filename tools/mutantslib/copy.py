"""The copy of the project in which mutants are planted, compiled and tested. The project itself is never changed."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from common.tree import ROOT
from mutantslib.mutant import HEADER, Mutant, planted

# Where planted sources find it: every program that includes such a source has this folder, an installed one as well.
_HEADER = "flow/base/planted.h"
_KEPT = {".git", ".venv", "build"}  # of the copy alone
_OWN = "tools/mutantslib/"  # a mutant more, or another reason, changes no result of others


def sources() -> list[str]:
    """The files of the project, as they are now."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    found = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    return sorted({name for name in found if name and (ROOT / name).is_file()})


class Copy:
    def __init__(self, folder: Path, mutants: Sequence[Mutant]) -> None:
        self.folder = folder
        self._mutants = mutants

    def update(self) -> str:
        """Makes it what the project is now, with all that can be switched on; returns the digest of the project. What
        has not changed stays, and is not compiled again."""
        names = sources()
        digest = hashlib.sha256()
        for name in names:
            content = (ROOT / name).read_bytes()
            if not name.startswith(_OWN):
                digest.update(name.encode() + b"\0" + hashlib.sha256(content).digest())
            self._write(name, self._planted(name, content))
            shutil.copymode(ROOT / name, self.folder / name)
        self._write(_HEADER, HEADER.read_bytes())
        self._remove_all_but({*names, _HEADER})
        self._add_what_is_no_source()
        return digest.hexdigest()[:16]

    @contextmanager
    def with_alone(self, name: str) -> Iterator[None]:
        """In the block the mutant is planted, if it cannot be switched on."""
        alone = [mutant for mutant in self._mutants if mutant.name == name and not mutant.is_switched]
        before = {mutant.file: (self.folder / mutant.file).read_bytes() for mutant in alone}
        texts = {file: content.decode() for file, content in before.items()}
        for mutant in alone:
            texts[mutant.file] = mutant.planted(texts[mutant.file])
        try:
            for file, text in texts.items():
                self._write(file, text.encode())
            yield
        finally:
            for file, content in before.items():
                self._write(file, content)

    def _planted(self, name: str, content: bytes) -> bytes:
        own = [mutant for mutant in self._mutants if mutant.file == name]
        return planted(content.decode(), own, _HEADER).encode() if own else content

    def _write(self, name: str, content: bytes) -> None:
        file = self.folder / name
        if file.is_file() and file.read_bytes() == content:
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)

    def _remove_all_but(self, names: set[str]) -> None:
        for top in self.folder.iterdir():
            if top.name in _KEPT:
                continue
            for file in [top] if top.is_file() else list(top.rglob("*")):
                is_left = file.is_file() and "__pycache__" not in file.parts
                if is_left and str(file.relative_to(self.folder)) not in names:
                    file.unlink()

    def _add_what_is_no_source(self) -> None:
        environment = self.folder / ".venv"
        if not environment.is_symlink():
            environment.symlink_to(ROOT / ".venv")
        if not (self.folder / ".git").exists():  # commands of tests must not act on the project's
            subprocess.run(["git", "init", "--quiet"], cwd=self.folder, check=True)
