"""Reports `this` in an actor. An actor has none, since its object may be destroyed while the actor waits."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from actorc.check.captures import capture_lists
from actorc.diagnostics import Diagnostics, Edit, Fault, Fix
from actorc.syntax import Actor, Span, Words
from actorc.words import CLASS_KEYS


def report_objects(actor: Actor, kept: Collection[str], words: Words, diagnostics: Diagnostics) -> None:
    """`kept`: the names of all that lives as long as the actor."""
    assert actor.body is not None
    if "this" not in words.texts[slice(*words.between(actor.body.span))]:
        return
    lists = capture_lists(words, actor.body.span)
    captured = {entry[0] for each in lists for entry in each.entries if len(entry) == 1}
    for index in _outside_classes(words, actor.body.span):
        if words.texts[index] != "this" or index in captured:
            continue
        fixes: tuple[Fix, ...] = ()
        if words.texts[index + 1] == "->" and words.texts[index + 2] in kept:
            span = Span(words.starts[index], words.starts[index + 2])
            fixes = (Fix("leave out `this->`", (Edit(span, ""),)),)
        message = "an actor has no `this`: its object may be destroyed while the actor waits"
        hint = "pass a pointer to the object, `self` by custom; the address of the actor itself is `THIS`"
        diagnostics.error(Fault.NO_OBJECT, message, words.span(index), hint=None if fixes else hint, fixes=fixes)


def _outside_classes(words: Words, span: Span) -> Iterator[int]:
    """The tokens of a span but for the bodies of local classes."""
    index, end = words.between(span)
    while index < end:
        yield index
        if words.texts[index] in CLASS_KEYS:
            index = _behind_class(words.texts, index, end)
        index += 1


def _behind_class(texts: list[str], index: int, end: int) -> int:
    """The `}` of the class that begins at `index`, or `index` if it has no body."""
    body = index
    while texts[body] not in ("{", ";", "(", ")", "=", ",") and body < end:
        body += 1
    depth = 0
    for place in range(body, end) if texts[body] == "{" else ():
        depth += (texts[place] == "{") - (texts[place] == "}")
        if not depth:
            return place
    return index
