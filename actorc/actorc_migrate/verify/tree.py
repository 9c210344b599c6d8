"""A temporary copy of the migrated tree: first as it was, then with the changes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

_BUILD_TREE = "CMakeCache.txt"
_WITH_PATH = ("-I", "-isystem", "-iquote", "-idirafter", "-include")


class Tree:
    """`root`: the repository that all files are in, the working directory, or the innermost folder that has them all.
    It is copied without hidden files and without the trees in which CMake builds."""

    def __init__(self, paths: Sequence[str], folder: str) -> None:
        places = [os.path.realpath(path) for path in paths]
        self.root = _repository(places) or _common(places)
        self.place = os.path.join(os.path.realpath(folder), "tree")
        shutil.copytree(self.root, self.place, symlinks=True, ignore=_ignored)
        self._made: list[str] = []
        for place in places:  # some may be hidden
            copy = self.copy_of(place)
            if not os.path.exists(copy):
                os.makedirs(os.path.dirname(copy), exist_ok=True)
                shutil.copy2(place, copy)

    def copy_of(self, path: str) -> str:
        """Where the copy of a path is; the path itself if it is outside of the tree."""
        real = os.path.realpath(path)
        if real == self.root:
            return self.place
        inside = real.removeprefix(os.path.join(self.root, ""))
        return os.path.join(self.place, inside) if inside != real else path

    def flags(self, flags: Sequence[str], directory: str) -> list[str]:
        """Compiler's flags, given for a directory, with the paths of the copy."""
        found: list[str] = []
        words = iter(flags)
        for word in words:
            name = next((each for each in sorted(_WITH_PATH, key=len, reverse=True) if word.startswith(each)), None)
            if name is None:
                found.append(word)
                continue
            path = word.removeprefix(name) or next(words, "")
            found += [name, self.copy_of(os.path.join(directory, path))]
        return found

    def write(self, path: str, data: bytes) -> None:
        """`path`: in the copy."""
        with open(path, "wb") as file:
            file.write(data)

    def relink(self, old: str, new: str, text: str) -> None:
        """Renames a symbolic link and changes its target."""
        folder = self.copy_of(os.path.dirname(old) or ".")
        os.unlink(os.path.join(folder, os.path.basename(old)))
        os.symlink(text, os.path.join(folder, os.path.basename(new)))

    def make(self, path: str, data: bytes) -> None:
        """A file that is not part of the tree: `remove_made` removes it."""
        self._made.append(path)
        self.write(path, data)

    def remove_made(self) -> None:
        for path in self._made:
            os.unlink(path)
        self._made.clear()


def _repository(places: Sequence[str]) -> str | None:
    folder = os.path.dirname(places[0])
    while not os.path.lexists(os.path.join(folder, ".git")):
        if os.path.dirname(folder) == folder:
            return None
        folder = os.path.dirname(folder)
    return folder if all(place.startswith(os.path.join(folder, "")) for place in places) else None


def _common(places: Sequence[str]) -> str:
    here = os.getcwd()
    too_much = here in (os.path.sep, os.path.expanduser("~"))
    if not too_much and all(place.startswith(os.path.join(here, "")) for place in places):
        return here
    return os.path.commonpath([os.path.dirname(place) for place in places])


def _ignored(folder: str, names: list[str]) -> list[str]:
    def is_left_out(name: str) -> bool:
        path = os.path.join(folder, name)
        if name.startswith(".") or name == "__pycache__":
            return True
        if os.path.isdir(path) and not os.path.islink(path):
            return os.path.exists(os.path.join(path, _BUILD_TREE))
        return not os.path.islink(path) and not os.path.isfile(path)  # sockets and the like

    return [name for name in names if is_left_out(name)]
