"""Calls of actors that discard the future, which cancels the actor at once.

C++ warns of this too, by `[[nodiscard]]`; this message also shows the actor's declaration and what to write.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from actorc.check.kept import Kept
from actorc.check.outside import Outside
from actorc.diagnostics import Diagnostics, Edit, Fault, Fix, Note
from actorc.repairs import insert, unused_name
from actorc.source import Source
from actorc.spelling import is_void
from actorc.syntax import LOOPS, Actor, File, Plain, Span, Statement

_NAME = re.compile(r"[^\W\d]\w*")


class Callees:
    """The actors of a file by name."""

    def __init__(self, file: File, outside: Outside) -> None:
        self._outside = outside
        self._by_name: dict[str, list[Actor]] = {}
        for actor in file.actors:
            if actor.test_name is None:
                self._by_name.setdefault(actor.name, []).append(actor)

    @property
    def names(self) -> Collection[str]:
        return self._by_name.keys()

    def find(self, path: tuple[str, ...], caller: Actor) -> Actor | None:
        """What a call of `path`, such as ("X", "f"), means; None if that is not an actor for certain."""
        candidates = self._by_name.get(path[-1], [])
        if not candidates or path[-1] in self._outside.functions:
            return None
        if any(_may_be_discarded(actor) for actor in candidates):
            return None
        near = _class_path(caller)
        visible = [actor for actor in candidates if _is_visible(_class_path(actor), path[:-1], near)]
        return visible[0] if len(visible) == len(candidates) else None


def _may_be_discarded(actor: Actor) -> bool:
    allows = any("flow_allow_discard" in attribute for attribute in actor.attributes)
    return actor.result_type is None or actor.is_uncancellable or allows


def _class_path(actor: Actor) -> tuple[str, ...]:
    return actor.enclosing_classes + actor.qualifier


def _is_visible(where: tuple[str, ...], path: tuple[str, ...], caller: tuple[str, ...]) -> bool:
    if path:
        return where[-len(path) :] == path or not where  # `not where`: a namespace
    return where == caller[: len(where)]


def report_discarded(
    actor: Actor,
    statements: Sequence[Statement],
    kept: Sequence[Kept],
    callees: Callees,
    file: File,
    source: Source,
    diagnostics: Diagnostics,
) -> None:
    own: set[str] | None = None
    words = file.words
    texts = words.texts
    for statement in statements:
        if not isinstance(statement, Plain) or statement.locals:
            continue
        first = words.first(statement.span)
        if texts[first] not in callees.names and texts[first + 1] != "::":
            continue
        end = words.between(statement.span)[1]
        path = _called(texts, first, end - 1) if texts[end - 1] == ";" else ()
        callee = callees.find(path, actor) if path else None
        if own is None:
            own = {variable.name for variable in kept}
            own |= {local.name for inner in statements if isinstance(inner, Plain) for local in inner.locals}
        if callee is not None and path[0] not in own:
            call = Span(words.starts[first], words.starts[end - 1])
            is_repeated = any(isinstance(each, LOOPS) and _holds(each.span, call) for each in statements)
            _report(callee, actor, call, is_repeated, file, source, diagnostics)


def _called(texts: list[str], first: int, end: int) -> tuple[str, ...]:
    """The function in `a::b::f(...)`; empty if the tokens are something else."""
    index = first
    path = []
    while _NAME.fullmatch(texts[index]):
        path.append(texts[index])
        index += 1
        if texts[index] != "::":
            break
        index += 1
    if texts[index] != "(" or not path:
        return ()
    depth = 0
    for place in range(index, end):
        depth += (texts[place] == "(") - (texts[place] == ")")
        if not depth:
            return tuple(path) if place == end - 1 else ()
    return ()


def _holds(outer: Span, inner: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _report(
    callee: Actor,
    caller: Actor,
    call: Span,
    is_repeated: bool,
    file: File,
    source: Source,
    diagnostics: Diagnostics,
) -> None:
    """`is_repeated`: it stands in a loop, where one variable would keep only the last future."""
    message = f"the future of `{callee.name}` is discarded here, which cancels the actor at once"
    notes = (Note(f"`{callee.name}` is declared here", callee.name_span),)
    assert callee.result_type is not None
    if is_repeated:
        hint = f"wait for it, or keep all the futures: in a `std::vector<{callee.return_text}>`"
        if is_void(source[callee.result_type.span]):
            hint += ", or by the `add` of an `ActorCollection`"
        diagnostics.warning(Fault.DISCARDED_FUTURE, message, call, hint=hint, notes=notes)
        return
    hint = f"wait for it, keep its future, or make `{callee.name}` run by itself: `void` or `UNCANCELLABLE`"
    fixes = []
    if is_void(source[callee.result_type.span]):
        wait = (insert(call.start, "wait("), insert(call.end, ")"))
        fixes.append(Fix("wait for it", wait))
    if callee.template is None:
        name = unused_name("running", caller.span, file.words)
        edit: tuple[Edit, ...] = (insert(call.start, f"state {callee.return_text} {name} = "),)
        fixes.append(Fix("keep its future, and with it the actor", edit))
    diagnostics.warning(Fault.DISCARDED_FUTURE, message, call, hint=hint, notes=notes, fixes=tuple(fixes))
