"""Tracks the open braces outside actors, and which of them are classes.

A heuristic, for a file need not balance braces over all branches of their `#if`s: an `#else` starts again with what
was open at the `#if`, and after the `#endif` what counts is the end of the first branch. What stands behind `#if 0`,
where old code is kept, is no branch.
"""

from __future__ import annotations

import re

from actorc.parse.brackets import TokenList
from actorc.parse.lexer import Kind
from actorc.records import dataclass
from actorc.words import ACTOR_WORDS, CLASS_KEYS, KEYWORDS

_ENDS_BASES = frozenset({"{", "}", ";", "=", ""}) | ACTOR_WORDS
SCOPE_WORDS = CLASS_KEYS | {"{", "}"}  # and directives: the tokens to step on
_DEAD = re.compile(r"if\s+(?:0|false)\s*(?:/[/*]|$)")
_LONGEST_BASES = 500  # tokens in a list of base classes
_IN_NAME = ("::", "[", "]")  # of a namespace, with its attributes
_UNKNOWN = ("",)  # stands for what a brace opens that is neither a class nor a namespace


@dataclass(slots=True)
class _Conditional:
    at_start: list[tuple[str, ...]]
    after_first: list[tuple[str, ...]] | None = None


class Scopes:
    def __init__(self, tokens: TokenList) -> None:
        self._tokens = tokens
        self._open: list[tuple[str, ...]] = []  # for each open `{` the classes that it opens
        self._conditionals: list[_Conditional] = []

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(name for names in self._open for name in names if name)

    @property
    def inside_braces(self) -> bool:
        return bool(self._open)

    @property
    def inside_unknown(self) -> bool:
        """Whether a brace is open that opens neither a class nor a namespace, as far as can be seen."""
        return _UNKNOWN in self._open

    def step(self, index: int) -> int:
        """Take account of the token at `index`; returns the index of the next one to look at."""
        text = self._tokens.texts[index]
        if text == "{":
            self._open.append(() if self._opens_namespace(index) else _UNKNOWN)
        elif text == "}":
            if self._open:
                self._open.pop()
        elif text in CLASS_KEYS:
            return self._class_head(index)
        elif text[0] == "#" and self._tokens.kind(index) is Kind.DIRECTIVE:
            return self._directive(index, text[1:].lstrip(" \t"))
        return index + 1

    def _opens_namespace(self, brace: int) -> bool:
        """Whether `namespace a::b`, `namespace` or `extern "C"` stands before the brace."""
        texts = self._tokens.texts
        if brace > 1 and texts[brace - 2] == "extern":
            return True
        place = brace - 1
        while place > 0 and texts[place] != "namespace" and (self._tokens.is_name(place) or texts[place] in _IN_NAME):
            place -= 1
        return place >= 0 and texts[place] == "namespace"

    def _directive(self, index: int, text: str) -> int:
        if text.startswith("if"):
            self._conditionals.append(_Conditional(list(self._open)))
            return self._dead_end(index) if _DEAD.match(text) else index + 1
        if not self._conditionals:
            return index + 1
        if text.startswith("el"):
            conditional = self._conditionals[-1]
            if conditional.after_first is None:
                conditional.after_first = self._open
            self._open = list(conditional.at_start)
        elif text.startswith("endif"):
            conditional = self._conditionals.pop()
            if conditional.after_first is not None:
                self._open = conditional.after_first
        return index + 1

    def _dead_end(self, index: int) -> int:
        """From `#if 0` to its `#endif`, or behind the `#else` or `#elif` with which the first branch begins."""
        depth = 0
        for place in range(index, len(self._tokens)):
            text = self._tokens.texts[place]
            if text[0] != "#" or self._tokens.kind(place) is not Kind.DIRECTIVE:
                continue
            word = text[1:].lstrip(" \t")
            if depth == 1 and word.startswith(("el", "endif")):
                return place + word.startswith("el")
            depth += word.startswith("if") - word.startswith("endif")
        return index + 1

    def _class_head(self, index: int) -> int:
        """From `class`, `struct` or `union`: if a body follows, enter it."""
        texts = self._tokens.texts
        if index and texts[index - 1] == "enum":
            return index + 1
        place = self._skip_attributes(index + 1)
        names: list[str] = []
        while self._tokens.is_name(place) and texts[place] not in KEYWORDS and texts[place] not in ACTOR_WORDS:
            if texts[place] == "final" and names:
                place += 1
                break
            if not names or texts[place - 1] != "::":
                names = []  # what stood before was a macro
            names.append(texts[place])
            place = self._skip_arguments(place + 1)
            if texts[place] == "::":
                place += 1
        if texts[place] == ":":
            end = place + _LONGEST_BASES
            while place < end and texts[place] not in _ENDS_BASES:
                place += 1
        if texts[place] != "{" or not names:
            return index + 1
        self._open.append(tuple(names))
        return place + 1

    def _skip_attributes(self, index: int) -> int:
        """Brackets are not matched outside actors, so this counts them."""
        texts = self._tokens.texts
        while texts[index] in ("[", "alignas"):
            depth = 0
            index += texts[index] == "alignas"
            while texts[index] and (depth or texts[index] in ("[", "(")):
                depth += (texts[index] in ("[", "(")) - (texts[index] in ("]", ")"))
                index += 1
                if not depth:
                    break
        return index

    def _skip_arguments(self, index: int) -> int:
        """Past the template arguments of a specialisation."""
        texts = self._tokens.texts
        if texts[index] != "<":
            return index
        depth = 0
        place = index
        while texts[place] and texts[place] not in (";", "{", "}"):
            depth += (texts[place] == "<") - (texts[place] == ">")
            place += 1
            if not depth:
                return place
        return index
