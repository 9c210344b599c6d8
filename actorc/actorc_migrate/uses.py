"""Finds the uses of actors' names: calls, mentions, prototypes without `ACTOR`, and names of actors' classes.

It searches the token list, so strings and comments are no uses. calls.py decides what a use means, when the actors of
all files are known.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from enum import Enum

from actorc.records import dataclass
from actorc.source import Source
from actorc.syntax import Span, Words
from actorc.words import BEFORE_OPERAND, BUILTIN_TYPES, KEYWORDS
from actorc_migrate.enclosing import Enclosing
from actorc_migrate.prototypes import Prototype


class UseKind(Enum):
    CALL = "f(x)"
    MENTION = "&f"
    PROTOTYPE = "Future<T> f(A a);"
    MACRO = "#define F f(x)"
    CLASS = "FActor"
    COUNT = "promise.getFutureReferenceCount()"


@dataclass(frozen=True, slots=True)
class Use:
    kind: UseKind
    name: str
    span: Span  # of the name; of a MACRO the whole directive
    qualifier: str = ""  # `X` for X::f, `.` for a member of some object, `this` for this->f
    classes: tuple[str, ...] = ()  # the classes with members that are visible there, outermost first
    arguments: int = 0
    inside: int = 0  # the offset behind the `(` of a CALL
    is_told: bool = False  # it says Uncancellable already
    types: tuple[str, ...] = ()  # words of the types with which the file declares the object of a member
    is_hidden: bool = False  # a member that is no actor stands before functions outside of classes
    statement: int | None = None  # the offset of the statement that is nothing but this CALL
    prototype: Prototype | None = None  # what a PROTOTYPE says, if it is clear


_CLASS_NAME = re.compile(r"\b\w+Actor\d*(?:State)?\b")
_PROTOTYPE = re.compile(r"\b(?:Future\s*<[^;{}()]*>|void)\s+(?:\w+\s*::\s*)*(\w+)\s*\(")
_BEFORE_MENTION = frozenset({"(", ",", "=", "{", "return", "&", "?", ":"})
_AFTER_MENTION = frozenset({")", ",", ";", "}", ":"})
_OPENING = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
_IN_ARGUMENTS = frozenset({"::", ",", "<", ">", "*", "&", "&&", "...", "(", ")", "[", "]"})
_LONGEST_TYPE = 30  # tokens
_LONGEST_ARGUMENTS = 200  # tokens between `<` and `>`
_BEHIND_ARGUMENTS = frozenset({"(", "{", "::", ",", ")", ">", "[", ";", "..."})
_TELLS = "Uncancellable"
_COUNTS = "getFutureReferenceCount"


def find_uses(words: Words, source: Source, names: Collection[str], own: Sequence[Span]) -> list[Use]:
    """Finds uses of the names, and what may be a prototype of an actor or the name of its class.

    `own` are the places at which actors are declared and defined themselves, from their first word to the `)`.
    """
    return _Finder(words, source, own).run(names)


class _Finder:
    def __init__(self, words: Words, source: Source, own: Sequence[Span]) -> None:
        self._words = words
        self._texts = words.texts
        self._source = source
        self._own = sorted(own, key=lambda span: span.start)
        self._own_starts = [span.start for span in self._own]
        self._enclosing: Enclosing | None = None
        self._declared: dict[str, list[int]] = {}
        self._own_classes: dict[str, bool] = {}
        self._objects: dict[str, tuple[str, ...]] = {}
        self._members: dict[str, set[tuple[str, ...]]] = {}  # of a name: the classes that have a function of it

    def run(self, names: Collection[str]) -> list[Use]:
        found = [*self._classes(), *self._prototypes(names), *self._counts()]
        if names:
            prototypes = {use.span.start for use in found if use.kind is UseKind.PROTOTYPE}
            for index, text in enumerate(self._texts):
                if text in names and self._words.starts[index] not in prototypes:
                    found += self._named(index)
                elif text[:1] == "#":
                    found += self._in_macro(index, names)
        return sorted(found, key=lambda use: use.span.start)

    def _counts(self) -> Iterator[Use]:
        if _COUNTS in self._source.text:
            for index, text in enumerate(self._texts):
                if text == _COUNTS and self._texts[index - 1] in (".", "->"):
                    yield Use(UseKind.COUNT, text, self._words.span(index))

    def _is_own(self, offset: int) -> bool:
        place = bisect_left(self._own_starts, offset + 1) - 1
        return place >= 0 and offset < self._own[place].end

    def _classes_at(self, index: int) -> tuple[str, ...]:
        if self._enclosing is None:
            self._enclosing = Enclosing(self._texts)
        return self._enclosing.classes(index)

    def _token_at(self, offset: int) -> int | None:
        """The index of the token that begins there; None if it is part of another or of a comment."""
        index = bisect_left(self._words.starts, offset)
        return index if index < len(self._words.starts) and self._words.starts[index] == offset else None

    def _classes(self) -> Iterator[Use]:
        seen: set[tuple[int, str]] = set()
        for match in _CLASS_NAME.finditer(self._source.text):
            index = self._token_at(match.start())
            once = self._source.line(match.start()), match[0]
            is_name = index is not None and self._texts[index] == match[0] and once not in seen
            if index is not None and is_name and not self._is_class_here(match[0]):
                seen.add(once)
                yield Use(UseKind.CLASS, match[0], self._words.span(index))

    def _is_class_here(self, name: str) -> bool:
        """Whether the file defines a class of that name itself."""
        if name not in self._own_classes:
            found = re.search(rf"\b(?:class|struct)\s+(?:\w+\s+)*{name}\s*(?:final\s*)?[{{:]", self._source.text)
            self._own_classes[name] = found is not None
        return self._own_classes[name]

    def _prototypes(self, names: Collection[str]) -> Iterator[Use]:
        for match in _PROTOTYPE.finditer(self._source.text):
            if match[0].startswith("void") and match[1] not in names:
                continue  # very many, and few of them are actors
            index = self._token_at(match.start(1))
            if index is None or self._token_at(match.start()) is None or self._is_own(match.start(1)):
                continue
            close = self._close(index + 1)
            if close is None or self._texts[close + 1] not in (";", "=", "override"):
                continue
            count, told = self._arguments(index + 1, close)
            qualifier = self._texts[index - 2] if self._texts[index - 1] == "::" else ""
            classes = self._classes_at(index)
            span = self._words.span(index)
            yield Use(UseKind.PROTOTYPE, match[1], span, qualifier, classes, count, is_told=told)

    def _in_macro(self, index: int, names: Collection[str]) -> Iterator[Use]:
        text = self._texts[index]
        if text[1:].lstrip().startswith("define"):
            for name in dict.fromkeys(re.findall(r"(\w+)\s*\(", text)):
                if name in names:
                    yield Use(UseKind.MACRO, name, self._words.span(index))

    def _is_variable(self, name: str) -> bool:
        """Whether something else has the name in this file, as far as the tokens show."""
        return bool(self._declarations(name))

    def _declarations(self, name: str) -> list[int]:
        """Where a variable of that name is declared."""
        if name not in self._declared:
            places = (index for index, text in enumerate(self._texts) if text == name)
            self._declared[name] = [index for index in places if self._declares(index)]
        return self._declared[name]

    def _types(self, name: str) -> tuple[str, ...]:
        """The words before a name wherever it may be declared: `Store` and `Reference` of `Reference<Store> name`."""
        if name not in self._objects:
            found: list[str] = []
            for index in self._declarations(name):
                found += self._type_words(index)
            self._objects[name] = tuple(dict.fromkeys(found))
        return self._objects[name]

    def _type_words(self, index: int) -> Iterator[str]:
        for place in range(index - 1, max(-1, index - _LONGEST_TYPE), -1):
            text = self._texts[place]
            if _is_word(text) and text not in KEYWORDS:
                yield text
            elif text not in ("*", "&", "&&", "const", "<", ">", "::"):
                return

    def _is_shadowed(self, index: int) -> bool:
        """Whether a variable of that name is in scope."""
        places = self._declarations(self._texts[index])
        return any(place < index and self._reaches(place, index) for place in places)

    def _reaches(self, declared: int, index: int) -> bool:
        """Whether the block, or the function of the parameter, at one place is still open at another."""
        braces = parentheses = 0
        is_parameter = False
        for text in self._texts[declared:index]:
            braces += (text == "{") - (text == "}")
            if braces < 0 or (is_parameter and braces == 0 and text in ("}", ";")):
                return False
            if braces == 0 and not is_parameter:
                parentheses += (text == "(") - (text == ")")
                is_parameter = parentheses < 0
        return True

    def _declares(self, index: int) -> bool:
        """Whether `Type name` stands there, and no parameters follow."""
        after = self._texts[index + 1]
        if after == "=" or (self._texts[index - 1] == "," and after == ";"):
            return self._texts[index - 1] not in (".", "->", "::")
        before = index - 1
        while self._texts[before] in ("*", "&", "&&", "const"):
            before -= 1
        text = self._texts[before]
        is_type = text in BUILTIN_TYPES or text == "auto" or (_is_word(text) and text not in KEYWORDS)
        return (is_type or text == ">") and self._texts[index + 1] in ("=", ";", "{", ",", ")", "[", ":")

    def _named(self, index: int) -> Iterator[Use]:
        offset = self._words.starts[index]
        if self._is_own(offset):
            return
        texts = self._texts
        behind = index + 1
        if texts[behind] == "<":
            behind = self._behind_template(behind) or behind
        qualifier, before = self._qualifier(index)
        if texts[behind] == "(":
            close = self._close(behind)
            if close is None or not self._may_be_called(before) or (not qualifier and self._is_shadowed(index)):
                return
            count, told = self._arguments(behind, close)
            inside = self._words.starts[behind] + 1
            span = self._words.span(index)
            classes = self._classes_at(index)
            types = self._types(texts[before - 1]) if qualifier == "." else ()
            hidden = not qualifier and self._is_plain_member(texts[index], classes)
            statement = self._statement(before, close)
            yield Use(
                UseKind.CALL, texts[index], span, qualifier, classes, count, inside, told, types, hidden, statement
            )
        elif texts[behind] in _AFTER_MENTION and qualifier not in (".", "this") and texts[before] in _BEFORE_MENTION:
            if self._is_variable(texts[index]):
                return
            span = self._words.span(index)
            yield Use(UseKind.MENTION, texts[index], span, qualifier, self._classes_at(index))

    def _statement(self, before: int, close: int) -> int | None:
        """Where the statement of a call begins, if it does nothing with the result: `f(x);` or `a->b[1].f(x);`."""
        texts = self._texts
        if texts[close + 1 : close + 2] != [";"]:
            return None
        while before >= 0 and (texts[before] in (".", "->", "::", "]", "this") or _is_object(texts[before])):
            before = (self._open(before) if texts[before] == "]" else before) - 1
        is_first = before < 0 or texts[before] in (";", "{", "}", "else", "do", ":") or texts[before][:1] == "#"
        if texts[before] == ")":
            is_first = texts[self._open(before) - 1] in ("if", "for", "while", "constexpr")
        return self._words.starts[before + 1] if is_first else None

    def _open(self, close: int) -> int:
        """The index of the bracket that the one at `close` closes."""
        depth = 0
        for index in range(close, -1, -1):
            depth += _OPENING.get(self._texts[index], 0)
            if depth == 0:
                return index
        return 0

    def _is_plain_member(self, name: str, classes: tuple[str, ...]) -> bool:
        """Whether one of the classes declares a function of that name here which is no actor."""
        if not classes:
            return False
        if name not in self._members:
            self._members[name] = {
                self._classes_at(index)[-1:]
                for index, text in enumerate(self._texts)
                if text == name
                and self._texts[index + 1] == "("
                and self._texts[index - 1] not in (".", "->", "::")
                and not self._is_own(self._words.starts[index])
                and not self._may_be_called(index - 1)
            }
        return any((each,) in self._members[name] for each in classes)

    def _qualifier(self, index: int) -> tuple[str, int]:
        """What the name is looked up in, and the index of the token before all of it."""
        texts = self._texts
        before = index - 1
        if texts[before] == "template":
            before -= 1
        if texts[before] in (".", "->"):
            return ("this" if texts[before - 1] == "this" else "."), before
        nearest = ""
        while before >= 0 and texts[before] == "::":
            before -= 1
            if texts[before] == ">":
                before = self._before_template(before)
            if texts[before] in KEYWORDS or not _is_word(texts[before]):
                break
            nearest = nearest or texts[before]
            before -= 1
        return nearest, before

    def _may_be_called(self, before: int) -> bool:
        """Not `Type name(...)`, which declares something."""
        text = self._texts[before] if before >= 0 else ""
        if _is_word(text):
            return text in BEFORE_OPERAND or text in ("co_await", "co_return", "wait", "waitNext", "in")
        if text == ">":
            first = self._before_template(before)
            return self._texts[first] not in ("Future", "FutureStream", "Promise", "vector", "Optional", "Reference")
        return text not in ("*", "&", "&&") or not self._begins_declaration(before)

    def _begins_declaration(self, index: int) -> bool:
        """Whether all from the beginning of the statement to the `*` or `&` may be a type."""
        index -= 1
        while self._texts[index] in ("::", "const", "*") or _is_word(self._texts[index]) or self._texts[index] == ">":
            if self._texts[index] in BEFORE_OPERAND:
                return False
            index = (self._before_template(index) if self._texts[index] == ">" else index) - 1
        return index < 0 or self._texts[index] in (";", "{", "}", ":") or self._texts[index][:1] == "#"

    def _close(self, open_: int) -> int | None:
        depth = 0
        for index in range(open_, len(self._words.starts)):
            depth += _OPENING.get(self._texts[index], 0)
            if depth == 0:
                return index
        return None

    def _arguments(self, open_: int, close: int) -> tuple[int, bool]:
        """How many stand between parentheses; and whether the first is Uncancellable()."""
        texts = self._texts
        if close == open_ + 1:
            return 0, False
        count, depth = 1, 0
        index = open_ + 1
        while index < close:
            depth += _OPENING.get(texts[index], 0)
            if texts[index] == "<":
                index = (self._behind_template(index) or index + 1) - 1
            elif texts[index] == "," and depth == 0:
                count += 1
            index += 1
        first = open_ + (3 if texts[open_ + 2] == "::" else 1)
        return count, texts[first] == _TELLS and texts[first + 1] in ("(", "{", ",", ")")

    def _behind_template(self, open_: int) -> int | None:
        """The index behind the `>` of a `<` that begins template arguments, as far as can be seen."""
        texts = self._texts
        if not _is_word(texts[open_ - 1]):
            return None
        depth = 0
        inner = 0
        for index in range(open_, min(open_ + _LONGEST_ARGUMENTS, len(self._words.starts))):
            text = texts[index]
            inner += _OPENING.get(text, 0)
            if inner < 0 or not (text in _IN_ARGUMENTS or text[0].isalnum() or text[0] == "_"):
                return None
            if inner == 0:
                depth += (text == "<") - (text == ">")
                if depth == 0:
                    return index + 1 if texts[index + 1] in _BEHIND_ARGUMENTS else None
        return None

    def _before_template(self, close: int) -> int:
        """The index of the name before the `<` of a `>`."""
        depth = 0
        for index in range(close, max(-1, close - _LONGEST_ARGUMENTS), -1):
            depth += (self._texts[index] == ">") - (self._texts[index] == "<")
            if depth == 0:
                return index - 1
        return close


def _is_object(text: str) -> bool:
    return _is_word(text) and text not in KEYWORDS


def _is_word(text: str) -> bool:
    return text[:1].isalpha() or text[:1] == "_"
