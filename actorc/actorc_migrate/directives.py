"""Preprocessor directives of a file, and what its includes lead to among the given files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from actorc.records import dataclass
from actorc.syntax import Span, Words
from actorc_migrate.gather import new_path

_INCLUDE = re.compile(r"#\s*include\s*[<\"]([^>\"\n]*)[>\"]")
_INCLUDES = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]*)[>\"]", re.MULTILINE)
_GENERATED = re.compile(r"\.actor\.g(?=\.(?:h|cpp)$)")


@dataclass(frozen=True, slots=True)
class Directive:
    start: int
    text: str  # from the `#` to the end of its line, comments included

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def code(self) -> str:
        """Without the `#`, comments, and more blanks than one."""
        text = re.sub(
            r"/\*.*?\*/|//.*", " ", self.text[1:].replace("\\\n", " ").replace("\\\r\n", " "), flags=re.DOTALL
        )
        return " ".join(text.split())

    @property
    def included(self) -> tuple[str, Span] | None:
        """The path of an #include, and where it stands."""
        match = _INCLUDE.match(self.text)
        return (match[1], Span(self.start + match.start(1), self.start + match.end(1))) if match else None


def directives_of(words: Words) -> tuple[Directive, ...]:
    pairs = zip(words.texts, words.starts, strict=False)  # the texts have a few empty ones more
    return tuple(Directive(start, text) for text, start in pairs if text[0] == "#" and text[:2] != "##")


def included_paths(text: str) -> list[str]:
    """For a file that has not been cut into tokens."""
    return _INCLUDES.findall(text)


class Includes:
    """Finds included files among given ones. Include folders are not known: it takes a file beside the including one,
    or one with a path that ends with the included path, the nearest first."""

    def __init__(self, paths: Iterable[str], links: Mapping[str, str]) -> None:
        """`links`: the given files that links lead to, by where the links are."""
        self._real = {**{os.path.realpath(path): path for path in paths}, **links}
        self._folders: dict[str, str] = {}
        self._by_name: dict[str, list[str]] = {}
        for real in self._real:
            self._by_name.setdefault(os.path.basename(real), []).append(real)

    def meant(self, included: str, by: str) -> list[str]:
        """The given files that may be meant, the likeliest first; those behind the first are as far away as it is."""
        folder = self._folder(by)
        beside = os.path.normpath(os.path.join(folder, included))
        if beside in self._real:
            return [self._real[beside]]
        ending = "/" + os.path.normpath(included).lstrip("./")
        found = [path for path in self._by_name.get(os.path.basename(included), ()) if path.endswith(ending)]
        if not found:
            return []
        common = {path: len(os.path.commonpath((path, folder))) for path in found}
        nearest = max(common.values())
        return [self._real[path] for path in found if common[path] == nearest]

    def _folder(self, path: str) -> str:
        if path not in self._folders:
            self._folders[path] = os.path.dirname(os.path.realpath(path))
        return self._folders[path]

    def actor_files(self, included: str, by: str) -> list[str]:
        """The same for what may be included by the name that actorc gives to its output."""
        return self.meant(generated_from(included), by)


def is_actor_file(included: str) -> bool:
    return included.endswith((".actor.h", ".actor.cpp", ".actor.g.h", ".actor.g.cpp"))


def generated_from(path: str) -> str:
    """`x.actor.g.h` -> `x.actor.h`"""
    return _GENERATED.sub(".actor", path)


def renamed(included: str) -> str:
    return new_path(generated_from(included))


class Reach:
    """What a file includes, directly or by way of other given files."""

    def __init__(self, included: dict[str, list[str]], includes: Includes) -> None:
        self._included = included  # by path, as it is spelled
        self._next: dict[str, list[str]] = {}  # the given files among them
        self._before: dict[str, list[str]] = {}
        for path, spelled in included.items():
            self._next[path] = [each for one in spelled for each in includes.actor_files(one, path)]
            for each in self._next[path]:
                self._before.setdefault(each, []).append(path)
        self._files: dict[str, frozenset[str]] = {}
        self._together: dict[str, frozenset[str]] = {}

    def spellings(self, path: str) -> set[str]:
        """All that is included, as it is spelled."""
        return {spelled for each in self.files(path) for spelled in self._included.get(each, ())}

    def files(self, path: str) -> frozenset[str]:
        """The given files that the compiler reads when it compiles a file, including that file."""
        if path not in self._files:
            self._files[path] = _all_from(path, self._next)
        return self._files[path]

    def sees(self, path: str, other: str) -> bool:
        """Whether what one file declares can be used in another: that includes it, or is included behind it."""
        if other in self.files(path):
            return True
        if path not in self._together:
            behind = _all_from(path, self._before)
            self._together[path] = frozenset(each for one in behind for each in self.files(one))
        return other in self._together[path]


def _all_from(start: str, edges: dict[str, list[str]]) -> frozenset[str]:
    seen = {start}
    pending = [start]
    while pending:
        for other in edges.get(pending.pop(), ()):
            if other not in seen:
                seen.add(other)
                pending.append(other)
    return frozenset(seen)
