"""Objects that the operand of a wait makes besides the future, as far as its text shows.

Each call within it may make one: in an argument, or in front of a `.`. A call makes no such object if its name is that
of a type with a destruction that cannot be observed, or of a function that is known to return such a type, or if the
file itself declares it so. Operators and implicit conversions are not looked at.

A note (`within`) is for what may go wrong: for objects of classes, and for functions that the file declares with such a
type, or with a name of something that makes or holds one. Exact style (`surely_none`) wants a proof.
"""

from __future__ import annotations

import re
from functools import lru_cache

from actorc.source import Source
from actorc.spelling import one_line
from actorc.syntax import Span, Words
from actorc.words import KEYWORDS
from actorc_migrate.plain_classes import plain_classes
from actorc_migrate.spelling import Operand, is_harmless

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
# Functions that return numbers, text, or references to what lives longer, whatever they are a member of.
_SURE_NAMES = """
    size length empty count capacity c_str data code what isReady isError isSet canGet present isValid getFuture
    front back at top begin end cbegin cend rbegin rend lower_bound upper_bound
    move forward ref cref addressof min max abs now timer to_string format deterministicRandom random01 randomInt
"""
_SURE = frozenset(_SURE_NAMES.split())
# Functions with a future that nobody sees end.
_SILENT = frozenset({"delay", "delayUntil", "getFuture", "Never"})
# They need the future that they are given for as long as their own lasts.
_FORWARDING = frozenset({"success", "ready", "store", "errorOr", "timeout", "timeoutError", "delayed"})
_MANY = 2
_OPEN = frozenset({"(", "[", "{"})
_CLOSE = frozenset({")", "]", "}"})
_FUTURE = re.compile(r"(?:flow::)?Future<(.*)>")  # is made from a value, an error or a future
_HOLDING = re.compile(
    r"(?i:make|create|acquire|take|open|reserve|borrow|enter|new|copy|clone"
    r"|\w*(?:(?<![bc])lock|guard|hold|scope|permit|lease))"
)
_NO_CALLS = frozenset({"sizeof", "alignof", "decltype", "typeid", "noexcept"})
_DECLARED = re.compile(r"(?<![\w:.])((?:\w+\s*::\s*)*\w+(?:\s*<[^;{}()]*>)?(?:\s*[*&])*)\s+(?:\w+\s*::\s*)*(\w+)\s*\(")


class Temporaries:
    def __init__(self, words: Words, source: Source) -> None:
        self._words = words
        self._texts = words.texts
        self._source = source
        self._harmless: dict[str, bool] = {}
        self._own = plain_classes(source.text).harmless

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

    def surely_none(self, span: Span) -> bool:
        """Whether the text proves that there are none, or that one cannot tell when they are destroyed."""
        if Operand(self._words, span).is_plain:
            return True
        return self._seen(*self._words.between(span)) <= 1

    def _seen(self, first: int, end: int) -> int:
        """How many futures are destroyed with the temporaries so that one could tell when: two or more could be in
        another order. The same for what is no future, or may be none."""
        pieces = self._pieces(first, end)
        if len(pieces) == 1:
            return self._seen_in_call(first, end)
        seen = 0
        for start, stop in pieces:
            if self._texts[start] == "(" and self._close(start) == stop - 1:
                seen += self._seen(start + 1, stop - 1)
            elif not Operand(self._words, self._span(start, stop)).is_name:
                open_ = self._texts.index("(", start, stop) if "(" in self._texts[start:stop] else start
                callee = self._callee(start, open_) if open_ > start else ""
                is_call = bool(callee) and self._close(open_) == stop - 1
                is_silent = is_call and callee.rpartition("::")[2] in _SILENT
                is_made = is_call and (is_silent or self._is_function(callee))
                seen += self._seen_in_call(start, stop) + (not is_silent) if is_made else _MANY
        return seen

    def _pieces(self, first: int, end: int) -> list[tuple[int, int]]:
        """What `&&` and `||` outside of brackets combine."""
        found, start, depth = [], first, 0
        for index in range(first, end):
            text = self._texts[index]
            depth += (text in _OPEN) - (text in _CLOSE)
            if depth == 0 and text in ("&&", "||"):
                found.append((start, index))
                start = index + 1
        return [*found, (start, end)]

    def _span(self, first: int, end: int) -> Span:
        return Span(self._words.starts[first], self._words.span(end - 1).end)

    def _seen_in_call(self, first: int, end: int) -> int:
        """The same of a chain of calls, besides the future that it gives."""
        texts = self._texts
        calls: list[str] = []
        forwarded = 0
        start = self._inside_future(first, end)
        if start > first:
            calls.append("Future")
        for index in range(start, end):
            text = texts[index]
            if text == "(":
                name = self._callee(first, index)
                if not name:
                    return _MANY
                is_inner = bool(calls) or self._close(index) + 1 < end
                if is_inner and not self._is_sure(name) and not self._is_declared_sure(name, index):
                    forwarded += 1
                    is_forwarded = len(calls) == 1 and (calls[0] in _FORWARDING or calls[0] == "Future")
                    if not is_forwarded or not self._is_function(name):
                        return _MANY
                calls.append(name.rpartition("::")[2])
            elif text == ")":
                calls.pop()
            elif self._spoils(index, is_outside=not calls):
                return _MANY
        return forwarded if texts[end - 1] == ")" else _MANY

    def _inside_future(self, first: int, end: int) -> int:
        """Behind the `(` of `Future<T>(x)`, if nothing can be seen of a T that is destroyed."""
        texts = self._texts
        open_ = texts.index("(", first, end) if "(" in texts[first:end] else first
        found = _FUTURE.fullmatch(self._callee(first, open_)) if open_ > first else None
        is_whole = found is not None and self._close(open_) == end - 1 and self._callee_start(open_) == first
        return open_ + 1 if is_whole and found is not None and is_harmless(found[1], self._own) else first

    def _callee_start(self, open_: int) -> int:
        """Where `Future<T>` begins in front of its `(`."""
        texts, index, depth = self._texts, open_ - 1, 0
        while True:
            depth += (texts[index] == ">") - (texts[index] == "<")
            index -= 1
            if depth == 0:
                return index - 2 if texts[index - 1] == "::" else index

    def _is_declared_sure(self, callee: str, open_: int) -> bool:
        """Whether the file declares a function of that name, outside of objects, with such a type alone."""
        if self._texts[open_ - 1] != callee or self._texts[open_ - 2] in (".", "->"):
            return False
        types = _declared_in(self._source.text).get(callee, ())
        return bool(types) and all(type_.endswith("*") or is_harmless(type_, self._own) for type_ in types)

    def _spoils(self, index: int, *, is_outside: bool) -> bool:
        """Whether a token belongs to a lambda, or to something else than a chain of calls."""
        text, before = self._texts[index], self._texts[index - 1]
        if text == "[":
            return not before.isidentifier() and before not in (")", "]")
        if is_outside and not text.isidentifier() and not text.isdigit():
            return text not in (".", "->", "::", "]")
        return text in ("{", "?", "new")

    def _is_sure(self, callee: str) -> bool:
        name, _, arguments = callee.partition("<")
        if name.endswith("_cast"):
            return is_harmless(arguments.removesuffix(">"), self._own)
        is_known = not arguments and name.rpartition("::")[2] in _SURE
        return is_known or is_harmless(callee, self._own)

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
                known = known or last.endswith("Ref") or self._is_declared_harmless(last)
                self._harmless[callee] = known or not self._may_hold(callee)
        return self._harmless[callee]

    def _is_function(self, callee: str) -> bool:
        """Rather than a class, as far as its name shows."""
        last = callee.rpartition("::")[2]
        return not last[:1].isupper() and not last.endswith("_t") and "<" not in callee

    def _may_hold(self, callee: str) -> bool:
        """Whether it is a class, or its name or the file says that it gives an object."""
        name = callee.rpartition("::")[2]
        return (
            not self._is_function(callee) or name in _declared_in(self._source.text) or _HOLDING.match(name) is not None
        )

    def _is_known_type(self, type_: str) -> bool:
        return is_harmless(type_, self._own) or _HANDLES.fullmatch(type_) is not None

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
