"""What stands outside actors: the names that are declared there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from actorc.syntax import File
from actorc.words import BEFORE_OPERAND, KEYWORDS

_NAME = re.compile(r"[^\W\d]\w*")
_MACRO = re.compile(r"#\s*define\s+(\w+)")
_HOLDS_NAMES = frozenset({"namespace", "class", "struct", "union", "extern"})
_AFTER_DECLARED = frozenset({";", "=", "{", "[", ","})
_BEFORE_DECLARED = frozenset({">", "*", "&", "]"})


class Outside:
    """Answers about one file, for checks that have found something: each is looked up when it is first asked for."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._names: set[str] | None = None
        self._functions: set[str] | None = None
        self._macros: set[str] | None = None
        self._texts: set[str] | None = None

    @property
    def names(self) -> set[str]:
        """The variables, members and enumerators that are declared at namespace or class scope."""
        if self._names is None:
            self._names = set(_declared_names(self._file))
        return self._names

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


def _declared_names(file: File) -> Iterator[str]:
    texts = file.words.texts
    open_: list[str] = []  # for each open brace: "names", "enum", or "" for code
    head = 0  # the index after the last `;`, `{` or `}`
    for index in outside(file):
        text = texts[index]
        if text == "{":
            open_.append(_brace_kind(texts[head:index]) if "" not in open_ else "")
        elif text == "}" and open_:
            open_.pop()
        inside = open_[-1] if open_ else "names"
        if text in (";", "{", "}"):
            head = index + 1
        elif inside and "" not in open_ and _is_declared(texts, index, inside):
            yield text


def _brace_kind(head: list[str]) -> str:
    if "enum" in head:
        return "enum"
    return "names" if _HOLDS_NAMES & set(head) and "(" not in head and "=" not in head else ""


def _is_declared(texts: list[str], index: int, inside: str) -> bool:
    text, before, after = texts[index], texts[index - 1], texts[index + 1]
    if _NAME.fullmatch(text) is None or text in KEYWORDS:
        return False
    if inside == "enum":
        return before in ("{", ",") and after in (",", "=", "}")
    is_type = before in _BEFORE_DECLARED or (_NAME.fullmatch(before) is not None and before not in _HOLDS_NAMES)
    return is_type and after in _AFTER_DECLARED and before not in ("namespace", "using", "enum", "typename")
