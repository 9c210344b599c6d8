"""What is around a place: the classes with members that are visible there, around it or around the function that it is
in; and the namespaces and classes in which it declares something.

A heuristic over the tokens, for files that are parsed only as far as their actors: a class head is a class key with a
name before a `{`, and `X::f(...) {` is a member of X.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from actorc.words import CLASS_KEYS, KEYWORDS

_LONGEST_HEAD = 400
_ENDS_NAME = frozenset({":", "final", "<", ""})


class Enclosing:
    def __init__(self, texts: list[str]) -> None:
        self._texts = texts
        self._places: list[int] = []  # behind which braces something else is seen
        self._seen: list[tuple[str, ...]] = []
        self._read()

    def classes(self, index: int) -> tuple[str, ...]:
        place = bisect_right(self._places, index) - 1
        return self._seen[place] if place >= 0 else ()

    def _read(self) -> None:
        texts = self._texts
        open_: list[tuple[str, ...]] = []
        for index, text in enumerate(texts):
            if text == "{":
                open_.append(tuple(self._opened(index)))
            elif text == "}":
                if open_:
                    open_.pop()
            else:
                continue
            now = tuple(name for names in open_ for name in names)
            if not self._seen or self._seen[-1] != now:
                self._places.append(index)
                self._seen.append(now)

    def _opened(self, brace: int) -> Iterator[str]:
        texts = self._texts
        first = _head(texts, brace)
        depth = 0
        for index in range(first, brace):
            text = texts[index]
            depth += (text in ("(", "[")) - (text in (")", "]"))
            if depth == 0 and text in CLASS_KEYS and texts[index - 1] not in ("enum", "<", ","):
                yield from _class_name(texts, index + 1, brace)
                return
            if depth == 0 and text == "::" and self._is_member(index, brace):
                owner = self._owner(index - 1)
                if owner:
                    yield owner

    def _is_member(self, index: int, brace: int) -> bool:
        """Whether `name(` follows the `::`."""
        texts = self._texts
        place = index + 1 + (texts[index + 1] == "~")
        return place + 1 < brace and texts[place + 1] == "(" and _is_name(texts[place])

    def _owner(self, index: int) -> str:
        texts = self._texts
        if texts[index] == ">":
            depth = 0
            while index >= 0:
                depth += (texts[index] == ">") - (texts[index] == "<")
                index -= 1
                if depth == 0:
                    break
        return texts[index] if index >= 0 and _is_name(texts[index]) else ""


def _is_name(text: str) -> bool:
    return (text[:1].isalpha() or text[:1] == "_") and text not in KEYWORDS


def _class_opened(texts: list[str], brace: int) -> tuple[str, ...] | None:
    """The name of the class that a brace opens; None if it opens something else, or a template."""
    first = _head(texts, brace)
    while texts[first + 1] == ":":  # `private:`
        first += 2
    is_class = texts[first] in CLASS_KEYS and texts[brace - 1] not in (")", "const", "noexcept")
    return tuple(_class_name(texts, first + 1, brace)) or None if is_class else None


def _namespace_opened(texts: list[str], brace: int) -> tuple[str, ...] | None:
    """The names in `namespace a::b {`; an empty one for `namespace {`, and none for `extern "C" {`."""
    if brace > 1 and texts[brace - 2] == "extern":
        return ()
    place = brace - 1
    while place > 0 and (texts[place] == "::" or _is_name(texts[place])):
        place -= 1
    if place < 0 or texts[place] != "namespace":
        return None
    return tuple(filter(_is_name, texts[place + 1 : brace])) or ("",)


def _head(texts: list[str], brace: int) -> int:
    """Where the statement that opens a brace begins, as far as can be seen."""
    first = brace
    while first > 0 and brace - first < _LONGEST_HEAD and texts[first - 1] not in (";", "{", "}"):
        if texts[first - 1][:1] == "#":
            break
        first -= 1
    return first


def _class_name(texts: list[str], index: int, brace: int) -> Iterator[str]:
    name = ""
    while index < brace and texts[index] not in _ENDS_NAME:
        if texts[index] in ("[", "("):  # attributes
            close = {"[": "]", "(": ")"}[texts[index]]
            while index < brace and texts[index] != close:
                index += 1
        elif _is_name(texts[index]):
            name = texts[index]
        index += 1
    if name:
        yield name


class Scopes:
    """The namespaces and classes around a place, outermost first; also a heuristic."""

    def __init__(self, texts: list[str]) -> None:
        self._places: list[int] = []
        self._open: list[tuple[int, ...]] = []  # the braces that are open behind these places
        self._names: dict[int, tuple[str, ...] | None] = {}
        self._texts = texts
        open_: tuple[int, ...] = ()
        for index, text in enumerate(texts):
            if text in ("{", "}"):
                open_ = (*open_, index) if text == "{" else open_[:-1]
                self._places.append(index)
                self._open.append(open_)

    def at(self, index: int, *, only_namespaces: bool = False) -> tuple[str, ...] | None:
        """None if something else is around it, as a function, or a template."""
        place = bisect_right(self._places, index) - 1
        found: list[str] = []
        for brace in self._open[place] if place >= 0 else ():
            names = _namespace_opened(self._texts, brace)
            if names is None and only_namespaces:
                break
            if names is None:
                names = _class_opened(self._texts, brace)
            if names is None:
                return None
            found += names
        return tuple(found)
