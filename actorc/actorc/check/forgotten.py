"""Functions that were meant to be actors: they wait, but the word ACTOR is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from actorc.check.outside import gaps
from actorc.diagnostics import Diagnostics, Edit, Fault, Fix
from actorc.repairs import insert
from actorc.source import Source
from actorc.syntax import File, Span, Words
from actorc.words import ACTOR_WORDS, BEFORE_OPERAND, spellings_near

_NAME = re.compile(r"[^\W\d]\w*")
_MISSPELT = spellings_near("ACTOR") | spellings_near("actor") | {"actor"}
_OF_TYPES = frozenset({"::", "<", ">", ">>", ",", "*", "&"})
_CONTROLS = frozenset({"if", "for", "while", "switch", "catch", "loop", "do", "else", "try", "choose", "when"})


def report_forgotten_actors(file: File, source: Source, diagnostics: Diagnostics) -> None:
    """Functions that return a Future and wait, but are no actors."""
    if "actorcompiler.h" not in source.text:
        return
    texts = file.words.texts
    seen = set()
    for index in _waits(file):
        if _is_statement(texts, index):
            function = _enclosing_function(texts, index)
            if function is not None and function not in seen:
                seen.add(function)
                _report_forgotten(function, index, file.words, diagnostics)


def _waits(file: File) -> Iterator[int]:
    """Where the words stand outside actors."""
    texts = file.words.texts
    for first, end in gaps(file):
        gap = texts[first:end]
        for word in ("wait", "waitNext"):
            index = -1
            for _ in range(gap.count(word)):
                index = gap.index(word, index + 1)
                yield first + index


def _is_statement(texts: list[str], index: int) -> bool:
    """`wait(...)` or `T x = wait(...)` as a statement."""
    if texts[index + 1] != "(":
        return False
    before = texts[index - 1]
    return before in (";", "{", "}", ")") or (before == "=" and _NAME.fullmatch(texts[index - 2]) is not None)


def _enclosing_function(texts: list[str], index: int) -> int | None:
    """The index of the name of the function that returns a Future and has the token in its body."""
    while True:
        open_ = _opening(texts, index - 1, "{", "}")
        if open_ is None:
            return None
        close = _before_trailing_type(texts, open_ - 1)
        while texts[close] in ("const", "noexcept", "override", "final", "mutable"):
            close -= 1
        if texts[close] == "]":
            return None  # a lambda
        if texts[close] == ")":
            parenthesis = _opening(texts, close - 1, "(", ")")
            if parenthesis is None:
                return None
            name = parenthesis - 1
            if texts[name] == "]":
                return None  # a lambda
            if texts[name] not in _CONTROLS and _NAME.fullmatch(texts[name]) is not None:
                return name if _returns_future(texts, name) else None
        index = open_


def _before_trailing_type(texts: list[str], close: int) -> int:
    """The index before `-> T`, if that ends at `close`; else `close`."""
    index = close
    while texts[index] in _OF_TYPES or _NAME.fullmatch(texts[index]) is not None:
        index -= 1
    return index - 1 if texts[index] == "->" else close


def _opening(texts: list[str], index: int, open_: str, close: str) -> int | None:
    """The bracket before `index` that is open there."""
    depth = 0
    while index >= 0:
        if texts[index] == close:
            depth += 1
        elif texts[index] == open_:
            if not depth:
                return index
            depth -= 1
        index -= 1
    return None


def _head(texts: list[str], name: int) -> int:
    """Where the declaration of a function begins."""
    first = name
    while first and texts[first - 1] not in (";", "{", "}", ":", "") and not texts[first - 1].startswith("#"):
        first -= 1
    return first


def _returns_future(texts: list[str], name: int) -> bool:
    head = texts[_head(texts, name) : name]
    if not ACTOR_WORDS.isdisjoint(head):
        return False  # an actor with a fault that has been reported
    return "Future" in head and not BEFORE_OPERAND & set(head) and "=" not in head


def _report_forgotten(name: int, wait: int, words: Words, diagnostics: Diagnostics) -> None:
    message = (
        f"`{words.texts[name]}` waits, but it is an ordinary function, in which `{words.texts[wait]}` means nothing"
    )
    head = _head(words.texts, name)
    misspelt = next((index for index in range(head, name) if words.texts[index] in _MISSPELT), None)
    if misspelt is None:
        hint = "write `ACTOR` before its return type"
        edits: tuple[Edit, ...] = (insert(words.starts[head], "ACTOR "),)
    else:
        hint = f"write `ACTOR`, not `{words.texts[misspelt]}`"
        edits = (Edit(Span(words.starts[misspelt], words.starts[misspelt + 1]), "" if misspelt > head else "ACTOR "),)
        if misspelt > head:
            edits = (insert(words.starts[head], "ACTOR "), *edits)
    span = words.span(wait)
    fixes = (Fix("make it an actor", edits),)
    diagnostics.warning(Fault.FORGOTTEN_ACTOR, message, span, hint=hint, fixes=fixes)
