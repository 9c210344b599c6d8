"""The text outside actors: the names that it declares, and where they are visible."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice

from actorc.records import dataclass
from actorc.syntax import Actor, File
from actorc.words import BEFORE_OPERAND, CLASS_KEYS, KEYWORDS

_NAME = re.compile(r"[^\W\d]\w*")
_MACRO = re.compile(r"#\s*define\s+(\w+)")
_HOLDS_NAMES = CLASS_KEYS | {"namespace", "extern"}
_AFTER_DECLARED = frozenset({";", "=", "{", "[", ","})
_BEFORE_DECLARED = frozenset({">", "*", "&", "]"})


class Outside:
    """Facts about one file, for checks that have found something. Each is computed at its first use."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._declared: _Declared | None = None
        self._functions: set[str] | None = None
        self._macros: set[str] | None = None
        self._texts: set[str] | None = None

    def sees(self, actor: Actor, name: str) -> bool:
        """Whether the actor sees a variable, member or enumerator of that name which the file declares elsewhere."""
        if self._declared is None:
            self._declared = _declared(self._file)
        return self._declared.sees(actor, name)

    @property
    def functions(self) -> set[str]:
        """What is declared as a function."""
        if self._functions is None:
            texts = self._file.words.texts
            self._functions = {texts[index] for index in outside(self._file) if _is_function(texts, index)}
        return self._functions

    @property
    def macros(self) -> set[str]:
        if self._macros is None:
            matches = (_MACRO.match(text) for text in self._file.words.texts if text.startswith("#"))
            self._macros = {match[1] for match in matches if match is not None}
        return self._macros

    @property
    def texts(self) -> set[str]:
        """All tokens."""
        if self._texts is None:
            self._texts = {self._file.words.texts[index] for index in outside(self._file)}
        return self._texts


def outside(file: File) -> Iterator[int]:
    """The indices of the tokens that stand in no actor."""
    for first, end in gaps(file):
        yield from range(first, end)


def gaps(file: File) -> Iterator[tuple[int, int]]:
    """The tokens before, between and behind the actors."""
    index = 0
    for actor in file.actors:
        first, end = file.words.between(actor.span)
        yield index, first
        index = end
    yield index, len(file.words.starts)


def _is_function(texts: list[str], index: int) -> bool:
    if texts[index + 1] != "(" or not index:
        return False
    before = texts[index - 1]
    return before in (">", "*", "&") or (_NAME.fullmatch(before) is not None and before not in BEFORE_OPERAND)


# ---------------------------------------------------------------------------------------------------------------
# Declared names

_Path = tuple[str, ...]  # the names of the namespaces and classes around a place, outermost first


@dataclass(frozen=True, slots=True)
class _Declared:
    paths: dict[str, set[_Path]]  # of each name, where it is declared
    actors: list[tuple[int, _Path]]  # in order, the start of each actor and where it stands
    opened: set[str]  # namespaces that some `using namespace` makes visible
    bases: dict[str, set[str]]  # of a class, what its head names behind the `:`

    def sees(self, actor: Actor, name: str) -> bool:
        found = self.paths.get(name)
        if found is None:
            return False
        around = bisect_right(
            self.actors, actor.span.start, key=lambda each: each[0]
        )  # of a lambda, the actor it is in
        where = self.actors[around - 1][1] + actor.qualifier
        inherited = self._inherited(where)
        return any(self._is_around(path, where) or path[-1] in inherited for path in found)

    def _is_around(self, path: _Path, where: _Path) -> bool:
        kept = [part for part in path if part not in self.opened]
        around = iter(part for part in where if part not in self.opened)
        return all(part == next(around, None) for part in kept)

    def _inherited(self, where: _Path) -> set[str]:
        """The classes that those around a place are derived from."""
        found: set[str] = set()
        pending = [base for part in where for base in self.bases.get(part, ())]
        while pending:
            base = pending.pop()
            if base not in found:
                found.add(base)
                pending += self.bases.get(base, ())
        return found


@dataclass(frozen=True, slots=True)
class _Brace:
    path: _Path
    kind: str  # "names", "enum", or "" for code


def _declared(file: File) -> _Declared:
    texts = file.words.texts
    declared = _Declared({}, [], set(), {})
    starts = iter(actor.span.start for actor in file.actors)
    open_: list[_Brace] = [_Brace((), "names")]
    conditionals: list[list[_Brace]] = []
    head = 0  # the index after the last `;`, `{` or `}`
    parentheses = 0
    for first, end in gaps(file):
        for index in range(first, end):
            text = texts[index]
            if text == "{":
                open_.append(_opened(texts[head:index], open_[-1], declared))
            elif text == "}" and len(open_) > 1:
                open_.pop()
            elif text[:1] == "#":
                _directive(text[1:].lstrip(), open_, conditionals)
            if text in (";", "{", "}"):
                if text == ";" and texts[head : head + 2] == ["using", "namespace"]:
                    declared.opened.add(texts[index - 1])
                head = index + 1
                parentheses = 0
            elif text in ("(", ")"):
                parentheses += 1 if text == "(" else -1
            elif open_[-1].kind and not parentheses and _is_declared(texts, index, head, open_[-1].kind):
                declared.paths.setdefault(text, set()).add(open_[-1].path)
        declared.actors.extend((start, open_[-1].path) for start in islice(starts, 1))
        head = end
    return declared


def _directive(text: str, open_: list[_Brace], conditionals: list[list[_Brace]]) -> None:
    """Each branch of an `#if` begins with the braces that are open at the `#if`."""
    if text.startswith("if"):
        conditionals.append(list(open_))
    elif text.startswith("el") and conditionals:
        open_[:] = conditionals[-1]
    elif text.startswith("endif") and conditionals:
        conditionals.pop()


def _opened(head: list[str], outer: _Brace, declared: _Declared) -> _Brace:
    """What a `{` behind these tokens opens."""
    if not outer.kind:
        return outer
    if "enum" in head:
        is_scoped = not CLASS_KEYS.isdisjoint(head)
        return _Brace((*outer.path, "enum"), "enum") if is_scoped else _Brace(outer.path, "enum")
    head = _without_arguments(head)
    key = next((index for index, text in enumerate(head) if text in _HOLDS_NAMES), None)
    if key is None or "(" in head or "=" in head:
        return _Brace(outer.path, "")
    if head[key] == "extern" or (head[key] == "namespace" and "inline" in head[:key]):
        return outer
    colon = head.index(":", key) if ":" in head[key:] else len(head)
    names = tuple(text for text in head[key + 1 : colon] if _NAME.fullmatch(text) and text not in KEYWORDS | {"final"})
    if head[key] != "namespace":
        names = names[-1:] or (() if head[key] == "union" else ("",))
        if names:
            declared.bases.setdefault(names[0], set()).update(filter(_NAME.fullmatch, head[colon:]))
    return _Brace(outer.path + names, "names")


def _without_arguments(head: list[str]) -> list[str]:
    """Tokens but for those between `<` and `>`."""
    kept = []
    depth = 0
    for text in head:
        depth -= text == ">"
        if not depth:
            kept.append(text)
        depth += text == "<"
    return kept


def _is_declared(texts: list[str], index: int, head: int, inside: str) -> bool:
    text, before, after = texts[index], texts[index - 1], texts[index + 1]
    if _NAME.fullmatch(text) is None or text in KEYWORDS:
        return False
    if inside == "enum":
        return before in ("{", ",") and after in (",", "=", "}")
    if texts[head] == "using":
        return before == "::" and after in (";", ",")
    is_type = before in _BEFORE_DECLARED or (_NAME.fullmatch(before) is not None and before not in _HOLDS_NAMES)
    return is_type and after in _AFTER_DECLARED and before not in ("namespace", "using", "enum", "typename")
