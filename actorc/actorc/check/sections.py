"""The sections of a `switch`: labels and the statements up to the next labels."""

from __future__ import annotations

import re
from collections.abc import Iterator

from actorc import syntax
from actorc.records import dataclass
from actorc.source import Source
from actorc.syntax import Span

_FALLS = re.compile(r"falls?[\s-]*thr(?:ough|u)", re.IGNORECASE)
_FALLTHROUGH = re.compile(r"\[\[[\s\w:]*fallthrough\s*\]\]\s*;")


@dataclass(frozen=True, slots=True)
class Section:
    labels: tuple[syntax.Case, ...]  # none for what stands before the first label
    statements: tuple[syntax.Statement, ...]
    falls: bool  # an attribute or a comment at its end says that control falls through to the next section


def sections_of(switch: syntax.Switch, source: Source) -> Iterator[Section]:
    labels: list[syntax.Case] = []
    statements: list[syntax.Statement] = []
    for inner in switch.body.statements:
        if not isinstance(inner, syntax.Case):
            statements.append(inner)
            continue
        if statements:
            end = source[Span(statements[-1].span.start, inner.span.start)]
            yield Section(tuple(labels), tuple(statements), _FALLS.search(end) is not None)
            labels, statements = [], []
        labels.append(inner)
    yield Section(tuple(labels), tuple(statements), falls=False)


def falls_through(statement: syntax.Statement, source: Source) -> bool:
    """Whether a `[[fallthrough]];` for a label outside of the statement stands in it."""
    match statement:
        case syntax.Plain():
            return _FALLTHROUGH.fullmatch(source[statement.span]) is not None
        case syntax.Switch():
            return False
        case syntax.Block(statements=statements):
            return any(falls_through(inner, source) for inner in statements)
        case syntax.If() | syntax.Try() | syntax.Choose():
            return any(falls_through(block, source) for block in syntax.children(statement))
        case syntax.Loop() | syntax.While() | syntax.DoWhile() | syntax.For() | syntax.RangeFor():
            return any(falls_through(block, source) for block in syntax.children(statement))
        case syntax.StateDecl() | syntax.Wait() | syntax.Return() | syntax.Throw():
            return False
        case syntax.Break() | syntax.Continue() | syntax.Case():
            return False
        case _:
            raise syntax.unknown(statement)
