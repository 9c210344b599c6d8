"""Plain C++ statements for the reference interpreter: what they declare, or the expression that they are."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from actorc.parse.lexer import Kind, Token
from actorc.syntax import StateForm
from model.expressions import Expression, compile_expression, compile_list, tokens_of

_IN_TYPES = {"::", "<", ">", "&", "*", ","}
_OPENERS = {"(": ")", "{": "}", "[": "]"}


@dataclass(frozen=True, slots=True)
class Declaration:
    """`type name form`. With several names it unpacks its one initial value."""

    type: str
    names: tuple[str, ...]
    form: StateForm
    init: tuple[Expression, ...]

    @property
    def is_reference(self) -> bool:
        return self.type.rstrip().endswith("&")


def compile_plain(text: str, names: Sequence[str]) -> tuple[list[Declaration] | None, Expression | None]:
    """Declarations of these names, or the expression; neither for an empty statement."""
    tokens = tokens_of(text)
    while tokens and tokens[-1].text == ";":
        tokens.pop()
    if not tokens:
        return [], None
    if names:
        return declarations_of(tokens, names), None
    return None, compile_expression(tokens)


def compile_condition(text: str) -> tuple[list[Declaration], Expression | None]:
    """What stands in the parentheses of an `if` or `while`, or before the first `;` in those of a `for`."""
    declarations: list[Declaration] = []
    expression = None
    for part in split(tokens_of(text), ";"):
        name = _declared_name(part)
        if name:
            declarations += declarations_of(part, [name])
        elif part:
            expression = compile_expression(part)
    return declarations, expression


def _declared_name(tokens: Sequence[Token]) -> str:
    """The first name that follows a type, which is another name or ends with `>`, `&` or `*`."""
    depth = 0
    for before, token in itertools.pairwise(tokens):
        depth += (before.text == "<") - (before.text == ">")
        if depth or token.kind is not Kind.NAME:
            if before.kind is not Kind.NAME and before.text not in _IN_TYPES:
                return ""
            continue
        if (before.kind is Kind.NAME and before.text != "const") or before.text in (">", "&", "*"):
            return token.text
    return ""


def declarations_of(tokens: Sequence[Token], names: Sequence[str]) -> list[Declaration]:
    first = next(place for place, token in enumerate(tokens) if token.text == names[0])
    if tokens[first - 1].text == "[":
        type_ = " ".join(token.text for token in tokens[: first - 1])
        close = next(place for place in range(first, len(tokens)) if tokens[place].text == "]")
        return [_declaration(type_, tuple(names), tokens[close + 1 :])]
    type_ = " ".join(token.text for token in tokens[:first])
    found = []
    for part in split(tokens[first:], ","):
        found.append(_declaration(type_, (part[0].text,), part[1:]))
    return found


def split(tokens: Sequence[Token], separator: str) -> list[list[Token]]:
    """The parts between separators that stand in no brackets."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.text in _OPENERS) - (token.text in _OPENERS.values())
        if token.text == separator and not depth:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _declaration(type_: str, names: tuple[str, ...], rest: Sequence[Token]) -> Declaration:
    form, init = initialiser(rest)
    return Declaration(type_, names, form, init)


def initialiser(rest: Sequence[Token]) -> tuple[StateForm, tuple[Expression, ...]]:
    """What stands behind a declared name."""
    if not rest:
        return StateForm.NONE, ()
    if rest[0].text == "=":
        return assigned(rest[1:])
    form = StateForm.PAREN if rest[0].text == "(" else StateForm.BRACE
    return form, tuple(compile_list(rest[1:-1]))


def assigned(value: Sequence[Token]) -> tuple[StateForm, tuple[Expression, ...]]:
    """What stands behind `=`: a braced list initialises like the list itself."""
    if value[0].text == "{":
        return StateForm.BRACE, tuple(compile_list(value[1:-1]))
    return StateForm.ASSIGN, (compile_expression(value),)
