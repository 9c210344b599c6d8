"""The variables that live as long as an actor: captures, parameters and state variables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from actorc.records import dataclass
from actorc.syntax import (
    Actor,
    Capture,
    Choose,
    Code,
    For,
    Parameter,
    RangeFor,
    Span,
    StateDecl,
    Statement,
    Wait,
    WaitExpr,
    Words,
    waits_of,
)


@dataclass(frozen=True, slots=True)
class Kept:
    """A variable; `span` is that of its name, `origin` what declares it."""

    name: str
    span: Span
    origin: Capture | Parameter | StateDecl | WaitExpr
    type: Code | None  # None where C++ deduces it

    @property
    def kind(self) -> str:
        if isinstance(self.origin, Capture):
            return "capture"
        return "parameter" if isinstance(self.origin, Parameter) else "state variable"


def kept_variables(actor: Actor, statements: Sequence[Statement], words: Words) -> Iterator[Kept]:
    """All such variables of an actor, in the order of their declarations; `statements` are all of its body."""
    for capture in actor.captures or ():
        yield _kept(capture.name, capture, None, words)
    for parameter in actor.parameters:
        yield _kept(parameter.name, parameter, parameter.type, words)
    for statement in statements:
        if isinstance(statement, StateDecl):
            yield _kept(statement.name, statement, statement.type, words)
        elif isinstance(statement, For | RangeFor) and isinstance(statement.init, StateDecl):
            yield _kept(statement.init.name, statement.init, statement.init.type, words)
        elif isinstance(statement, Wait | Choose):
            for wait in waits_of(statement):
                if wait.result is not None and wait.result.is_state:
                    yield _kept(wait.result.name, wait, wait.result.type, words)


def _kept(name: str, origin: Capture | Parameter | StateDecl | WaitExpr, type_: Code | None, words: Words) -> Kept:
    """A name follows its type."""
    start = origin.span.start if type_ is None else max(type_.span.end, origin.span.start)
    index = words.first(Span(start, origin.span.end))
    end = words.between(origin.span)[1]
    while index < end and words.texts[index] != name:
        index += 1
    return Kept(name, words.span(index) if index < end else origin.span, origin, type_)
