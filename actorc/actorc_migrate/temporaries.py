"""Objects that the operand of a wait makes besides the future, as far as its text shows.

Each call within it may make one: in an argument, or in front of a `.`. A call makes no such object if its name is that
of a type with a destruction that cannot be observed, or of a function that is known to return such a type, or if the
file itself declares it so. Operators and implicit conversions are not looked at.
"""

from __future__ import annotations

import re
from functools import lru_cache

from actorc.source import Source
from actorc.spelling import one_line
from actorc.syntax import Span, Words
from actorc.words import KEYWORDS
from actorc_migrate.spelling import is_harmless

# Functions of the library: only the destruction of the future matters, not of other references to it.
_HANDLES = re.compile(
    r"(?:flow::)?(?:Future|FutureStream|Promise|PromiseStream|Never|Optional|ErrorOr|Reference)(?:<.*>)?"
)
# Functions that return futures, references, handles, numbers or text.
_KNOWN_NAMES = """
    delay delayUntil yield success ready store errorOr timeout timeoutError waitForAll waitForAny quorum getAll
    getFuture get isReady isError isSet canGet present valid front back begin end at top size length empty count
    capacity c_str data str code what
    move forward ref cref addressof min max abs now to_string format random01 randomInt deterministicRandom
"""
_KNOWN = frozenset(_KNOWN_NAMES.split())
_NO_CALLS = frozenset({"sizeof", "alignof", "decltype", "typeid", "noexcept"})
_DECLARED = re.compile(r"(?<![\w:.])((?:\w+\s*::\s*)*\w+(?:\s*<[^;{}()]*>)?(?:\s*[*&])*)\s+(?:\w+\s*::\s*)*(\w+)\s*\(")


class Temporaries:
    def __init__(self, words: Words, source: Source) -> None:
        self._words = words
        self._texts = words.texts
        self._source = source
        self._harmless: dict[str, bool] = {}

    def within(self, span: Span) -> str:
        """The first call that may make such an object, as it is written up to its `(`; or nothing."""
        first, end = self._words.between(span)
        texts = self._texts
        calls: list[bool] = []  # whether each open parenthesis is that of a call
        for index in range(first, end):
            if texts[index] == ")" and calls:
                calls.pop()
            elif texts[index] == "(":
                name = self._callee(first, index)
                is_inner = any(calls) or texts[self._close(index) + 1] in (".", "->", "[")
                calls.append(bool(name))
                if name and is_inner and not self._is_harmless(name):
                    return name
        return ""

    def _callee(self, first: int, open_: int) -> str:
        """What is called there, with its qualifiers and template arguments; nothing if it is no call."""
        texts = self._texts
        index = name = open_ - 1
        if texts[index] == ">":
            depth = 0
            while index > first:
                depth += (texts[index] == ">") - (texts[index] == "<")
                index -= 1
                if depth == 0:
                    break
            name = index
        if index < first or not texts[name].isidentifier() or texts[name] in _NO_CALLS:
            return ""
        while index - 2 >= first and texts[index - 1] == "::" and texts[index - 2].isidentifier():
            index -= 2
        if texts[index - 1] == "new":
            return ""
        return one_line(self._source.text[self._words.starts[index] : self._words.starts[open_]])

    def _close(self, open_: int) -> int:
        depth = 0
        for index in range(open_, len(self._texts)):
            depth += (self._texts[index] == "(") - (self._texts[index] == ")")
            if depth == 0:
                return index
        return open_

    def _is_harmless(self, callee: str) -> bool:
        if callee not in self._harmless:
            name, _, arguments = callee.partition("<")
            if name.endswith("_cast"):
                type_ = arguments.rstrip(">")
                self._harmless[callee] = type_.endswith("*") or self._is_known_type(type_)
            else:
                last = name.rpartition("::")[2]
                known = (last in _KNOWN and not arguments) or self._is_known_type(callee)
                self._harmless[callee] = known or self._is_declared_harmless(last)
        return self._harmless[callee]

    def _is_known_type(self, type_: str) -> bool:
        return is_harmless(type_) or _HANDLES.fullmatch(type_) is not None

    def _is_declared_harmless(self, name: str) -> bool:
        """Whether the file declares a function of that name, and only such as return what is harmless."""
        types = _declared_in(self._source.text).get(name, ())
        return bool(types) and all(type_.endswith("*") or self._is_known_type(type_) for type_ in types)


@lru_cache(maxsize=1)  # cached, since all actors of a file call it one after the other
def _declared_in(text: str) -> dict[str, list[str]]:
    """The types with which a file declares functions, by name."""
    found: dict[str, list[str]] = {}
    for type_, name in _DECLARED.findall(text):
        if type_ not in KEYWORDS and type_ != "wait":
            found.setdefault(name, []).append(one_line(type_))
    return found
