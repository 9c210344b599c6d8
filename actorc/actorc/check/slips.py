"""Small mistakes: misspelt waits, thrown values that are no Error, and names that are reserved for the compiler."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from actorc.check.outside import Outside
from actorc.diagnostics import Diagnostics, Edit, Fault, Fix
from actorc.repairs import insert, unused_name
from actorc.source import Source
from actorc.syntax import Actor, File, Plain, Span, Statement, Throw, Words
from actorc.words import spellings_near

_OTHER_SPELLINGS = {
    "WAIT": "wait", "await": "wait", "Await": "wait", "AWAIT": "wait",
    "waitnext": "waitNext", "WaitNext": "waitNext", "wait_next": "waitNext",
}  # fmt: skip
_MISSPELT = {near: word for word in ("wait", "waitNext") for near in spellings_near(word)} | _OTHER_SPELLINGS
_FOREIGN = re.compile(r"(?:::)?std::\w+\s*[({]")
_LITERAL = re.compile(r"\"[^\"]*\"|'[^']*'|\d[\w.]*")
_RESERVED = re.compile(r"(?:wait|choose|actor|entry|error|evaluation)__|(?:iter|caught|auto)\d+__|arg__\w+")


def report_slips(
    actor: Actor,
    statements: Sequence[Statement],
    names: Iterable[tuple[str, Span]],
    words: Words,
    source: Source,
    diagnostics: Diagnostics,
) -> None:
    """`statements` are all of the actor's body, `names` what it declares."""
    for name, place in names:
        if _RESERVED.fullmatch(name):
            message = f"`{name}` is a name that the generated code uses"
            hint = "choose a name without two underscores"
            diagnostics.error(Fault.RESERVED_NAME, message, place, hint=hint, fixes=_renamed(name, actor, words))
    for statement in statements:
        if isinstance(statement, Throw):
            _check_throw(statement, source, diagnostics)


def _is_foreign(text: str) -> bool:
    """`std::runtime_error("x")`, or a literal."""
    if _LITERAL.fullmatch(text):
        return True
    head = _FOREIGN.match(text)
    if head is None:
        return False
    depth = 0
    for offset, character in enumerate(text[head.end() - 1 :], head.end()):
        depth += (character in "({") - (character in ")}")
        if not depth:
            return offset == len(text)
    return False


def report_misspelt(
    actor: Actor, statements: Sequence[Statement], file: File, outside: Outside, diagnostics: Diagnostics
) -> None:
    """An actor with a misspelt wait is not reported as one without a wait."""
    found = False
    for statement in statements:
        if isinstance(statement, Plain):
            found |= _check_plain(statement, file, outside, diagnostics)
    if found:
        diagnostics.withdraw(Fault.NO_WAIT, actor.name_span)


def may_be_misspelt(file: File) -> bool:
    """Whether one of the words stands anywhere in the file."""
    return not _MISSPELT.keys().isdisjoint(file.words.texts)


def _renamed(name: str, actor: Actor, words: Words) -> tuple[Fix, ...]:
    other = unused_name(name.rstrip("_") + "_", actor.span, words)
    first, end = words.between(actor.span)
    places = [index for index in range(first, end) if words.texts[index] == name]
    return (Fix(f"call it `{other}`", tuple(Edit(words.span(index), other) for index in places)),)


def _check_throw(statement: Throw, source: Source, diagnostics: Diagnostics) -> None:
    if statement.value is None or not _is_foreign(source[statement.value.span]):
        return
    message = "the `throw` of an actor takes an `Error` and nothing else"
    hint = "throw an `Error` that says what is wrong, such as `operation_failed()`"
    diagnostics.error(Fault.FOREIGN_ERROR, message, statement.value.span, hint=hint)


def _check_plain(statement: Plain, file: File, outside: Outside, diagnostics: Diagnostics) -> bool:
    """Reports `Wait(f);`, `await f;`, `T x = Wait(f);`"""
    words = file.words
    first, end = words.between(statement.span)
    texts = words.texts
    if texts[end - 1] != ";":
        return False
    index = first
    if texts[first] not in _MISSPELT:
        if "=" not in texts[first : min(end, first + 12)]:
            return False
        index = texts.index("=", first, end) + 1
    word = texts[index]
    if word not in _MISSPELT or word in outside.texts:
        return False
    right = _MISSPELT[word]
    operand = texts[index + 1]
    if operand == "(":
        fix: tuple[Edit, ...] = (Edit(words.span(index), right),)
    elif word.lower() == "await" and (operand[0].isalpha() or operand[0] == "_"):
        fix = (Edit(Span(words.starts[index], words.starts[index + 1]), "wait("), insert(words.starts[end - 1], ")"))
    else:
        return False
    message = f"unknown keyword `{word}`; did you mean `{right}`?"
    diagnostics.warning(
        Fault.MISSPELT,
        message,
        words.span(index),
        hint=f"write `{right}(...)`",
        fixes=(Fix(f"write `{right}`", fix),),
    )
    return True
