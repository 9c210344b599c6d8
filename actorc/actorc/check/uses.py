"""Finds the uses of a name in C++ text that actorc does not parse.

Names cannot be looked up here. If the tokens around a name do not show whether it is used or means something else
(a member, a label, a variable that is declared there), it is not taken for a use.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from actorc.syntax import Span, Words
from actorc.words import BEFORE_OPERAND, CLASS_KEYS, KEYWORDS, begins_captures

_QUALIFIES = frozenset({".", "->", "::"})
_POINTERS = frozenset({"*", "&", "&&"})
_IN_TYPES = _POINTERS | {"::", "<", ">", ",", "const"}
_STATEMENT_STARTS = frozenset({";", "{", "}", ")", ":"})
_NAME = re.compile(r"[^\W\d]\w*")


def uses(words: Words, span: Span, names: Collection[str]) -> Iterator[int]:
    """The indices at which one of the names is used in the text of a span."""
    texts = words.texts
    first, end = words.between(span)
    hidden: set[str] = set()
    for index in range(first, end):
        text = texts[index]
        if text in CLASS_KEYS and texts[index + 1] != "(" and "{" in texts[index + 1 : index + 5]:
            return  # a local class sees no locals; its own members cannot be distinguished from locals
        if text == "(" and index > first and texts[index - 1] in ("]", "catch"):
            hidden.update(_parameters(words, index, end))
        elif text in names and text not in hidden:
            if declares(words, index, first):
                hidden.add(text)
            elif _is_use(words, index):
                yield index


def _is_use(words: Words, index: int) -> bool:
    before, after = words.texts[index - 1], words.texts[index + 1]
    if before in _QUALIFIES or after == "::":
        return False
    return not (after == ":" and before in ("{", "}", ";"))


def declares(words: Words, index: int, first: int) -> bool:
    """Whether the name at `index` is declared there, by tokens from `first` on."""
    texts = words.texts
    before, after = texts[index - 1], texts[index + 1]
    if index == first:
        return False
    if _NAME.fullmatch(before) and before not in BEFORE_OPERAND:
        return True
    if before in ("[", ",") and _unpacks(texts, index, first):
        return True
    if before in ("[", ",") and after == "=" and _captures(texts, index, first):
        return True
    if before not in _POINTERS and before != ">":
        return False
    start = _type_start(texts, index, first)
    if start is None:
        return False
    boundary = texts[start - 1] if start > first else ";"
    return (after in ("=", ":", "{") and boundary in _STATEMENT_STARTS | {"("}) or (
        after in (";", "(", ",", "[") and boundary in _STATEMENT_STARTS
    )


def _unpacks(texts: list[str], index: int, first: int) -> bool:
    """`auto& [a, b]`"""
    open_ = _bracket(texts, index, first)
    if open_ is None:
        return False
    before = open_ - 1
    while before > first and texts[before] in _POINTERS:
        before -= 1
    return texts[before] == "auto"


def _captures(texts: list[str], index: int, first: int) -> bool:
    """`[x = ...]`"""
    open_ = _bracket(texts, index, first)
    return open_ is not None and begins_captures(texts, open_)


def _bracket(texts: list[str], index: int, first: int) -> int | None:
    """The `[` of the list of names in which `index` stands."""
    place = index - 1
    while place >= first and (texts[place] in (",", "=", "&") or _is_name(texts[place])):
        place -= 1
    return place if place >= first and texts[place] == "[" else None


def _is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None


def _type_start(texts: list[str], index: int, first: int) -> int | None:
    """The start of the type that ends just before `index`; None if that cannot be a type."""
    place = index
    depth = 0
    while place > first:
        text = texts[place - 1]
        if text == ">":
            depth += 1
        elif text == "<":
            depth -= 1
        elif text == "," and not depth:
            break
        elif text not in _IN_TYPES and not (depth and text[0].isdigit()):
            if not _is_name(text) or text in BEFORE_OPERAND:
                break
            follows = texts[place]
            if not depth and (_is_name(follows) and follows != "const" and text != "const"):
                break
        place -= 1
        if depth < 0:
            return None
    starts = place < index and (_is_name(texts[place]) or texts[place] == "::") and not depth
    return place if starts else None


def _parameters(words: Words, open_: int, end: int) -> Iterator[str]:
    """The names of the parameters of a lambda, or of a `catch`."""
    texts = words.texts
    depth = 0
    for index in range(open_, end):
        text = texts[index]
        if text in ("(", "[", "{"):
            depth += 1
        elif text in (")", "]", "}"):
            depth -= 1
        if not depth:
            break
        if depth == 1 and _is_name(text) and text not in KEYWORDS and texts[index + 1] in (",", ")", "=", "["):
            yield text
