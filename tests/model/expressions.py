"""C++ expressions for the reference interpreter: a subset, evaluated as written.

    expression = compile_expression(tokens)     # once
    result = expression(scope)                  # a Variable for an lvalue, else a value, or a temporary

Covered: literals, names, calls, members, indexing, `?:`, the operators of int and bool, assignment, `new` values by
`Type(...)` and `Type{...}`, one level of `*` and `&`. Anything else is a ModelFault, never a guess.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Protocol

from actorc.diagnostics import Diagnostics
from actorc.parse.lexer import Kind, Token, lex
from actorc.source import Source
from model.values import ModelFault, Owned, Value, Variable, copy_of

Expression = Callable[["Scope"], Value]

_TEMPLATES = {"Future", "FutureStream", "Promise", "PromiseStream", "vector", "unique_ptr", "make_unique", "pair"}
_NAMESPACES = {"std", "flow", ""}
_BINARY: tuple[dict[str, Callable[[Value, Value], Value]], ...] = (
    {"==": operator.eq, "!=": operator.ne},
    {"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge},
    {"+": operator.add, "-": operator.sub},
    {"*": operator.mul, "/": lambda a, b: _divide(a, b), "%": lambda a, b: a - b * _divide(a, b)},
)
_ASSIGNING = {"+=": operator.add, "-=": operator.sub, "*=": operator.mul}
_ESCAPES = {"n": "\n", "t": "\t", "0": "\0"}


def _divide(a: Value, b: Value) -> Value:
    if isinstance(a, float) or isinstance(b, float):
        return a / b
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


class Scope(Protocol):
    """What an expression sees."""

    temporaries: list[Owned]

    def find(self, name: str) -> Variable | None: ...

    def call(self, name: str, template: str, arguments: list[Value]) -> Value:
        """Calls a function or makes a value of a type; the result is a new value."""

    def member(self, target: Value, name: str, arguments: list[Value] | None) -> Value:
        """A member function (or with None a data member) of a Variable or a value; the result is a new value."""

    def convert(self, type_: str, result: Value) -> Value:
        """The result, or if it has another type a temporary of this one."""


def read(result: Value) -> Value:
    """The value of a result, without becoming an owner of it."""
    return result.value if isinstance(result, Variable) else result


def own(scope: Scope, result: Value) -> Value:
    """A value of one's own: a copy of an lvalue, or the temporary itself."""
    if isinstance(result, Variable):
        return copy_of(result.value)
    if isinstance(result, Owned):
        for place in range(len(scope.temporaries) - 1, -1, -1):
            if scope.temporaries[place] is result:
                del scope.temporaries[place]
                return result
        return result.copy()  # a value with another owner, such as the result of `get()`
    return result


def tokens_of(text: str) -> list[Token]:
    return list(lex(Source("", text), Diagnostics()))


def compile_expression(tokens: Sequence[Token]) -> Expression:
    parser = _Parser(list(tokens))
    expression = parser.expression()
    if parser.more():
        parser.fail()
    return expression


def compile_list(tokens: Sequence[Token]) -> list[Expression]:
    """Expressions between commas."""
    parser = _Parser(list(tokens))
    found: list[Expression] = []
    while parser.more():
        found.append(parser.assignment())
        if parser.more():
            parser.expect(",")
    return found


class _Parser:
    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._place = 0

    # -----------------------------------------------------------------------------------------------------------
    # Tokens

    def more(self) -> bool:
        return self._place < len(self._tokens)

    def text(self, ahead: int = 0) -> str:
        place = self._place + ahead
        return self._tokens[place].text if place < len(self._tokens) else ""

    def next(self) -> str:
        if not self.more():
            self.fail()
        self._place += 1
        return self._tokens[self._place - 1].text

    def accept(self, *texts: str) -> str:
        if self.more() and self.text() in texts and self._tokens[self._place].kind is Kind.PUNCTUATOR:
            return self.next()
        return ""

    def expect(self, text: str) -> None:
        if not self.accept(text):
            self.fail()

    def fail(self) -> None:
        shown = " ".join(token.text for token in self._tokens)
        raise ModelFault(f"the model cannot evaluate `{shown}` (at `{self.text()}`)")

    # -----------------------------------------------------------------------------------------------------------
    # Operators, from the weakest to the strongest

    def expression(self) -> Expression:
        left = self.assignment()
        while self.accept(","):
            left = self._comma(left, self.assignment())
        return left

    @staticmethod
    def _comma(left: Expression, right: Expression) -> Expression:
        def both(scope: Scope) -> Value:
            left(scope)
            return right(scope)

        return both

    def assignment(self) -> Expression:
        left = self.conditional()
        if self.accept("="):
            return _assignment(left, self.assignment())
        if sign := self.accept(*_ASSIGNING):
            return _update(left, self.assignment(), _ASSIGNING[sign])
        return left

    def conditional(self) -> Expression:
        condition = self.either()
        if not self.accept("?"):
            return condition
        then = self.assignment()
        self.expect(":")
        orelse = self.assignment()
        return lambda scope: then(scope) if truth(scope, condition(scope)) else orelse(scope)

    def either(self) -> Expression:
        left = self.both()
        while self.accept("||"):
            left = _logical(left, self.both(), stops_at=True)
        return left

    def both(self) -> Expression:
        left = self.binary(0)
        while self.accept("&&"):
            left = _logical(left, self.binary(0), stops_at=False)
        return left

    def binary(self, level: int) -> Expression:
        if level == len(_BINARY):
            return self.unary()
        left = self.binary(level + 1)
        while sign := self.accept(*_BINARY[level]):
            left = _operation(left, self.binary(level + 1), _BINARY[level][sign])
        return left

    def unary(self) -> Expression:
        if sign := self.accept("!", "-", "+", "++", "--", "*", "&"):
            return _unary(sign, self.unary())
        return self.postfix(self.primary())

    def postfix(self, target: Expression) -> Expression:
        while True:
            if self.accept(".", "->"):
                target = self._member(target, self.next())
            elif self.accept("["):
                target = _index(target, self.expression())
                self.expect("]")
            elif sign := self.accept("++", "--"):
                target = _step_after(target, 1 if sign == "++" else -1)
            else:
                return target

    def _member(self, target: Expression, name: str) -> Expression:
        if not self.accept("("):
            return lambda scope: scope.member(target(scope), name, None)
        return _member_call(target, name, self._arguments(")"))

    def _arguments(self, close: str) -> list[Expression]:
        found: list[Expression] = []
        while not self.accept(close):
            found.append(self.assignment())
            if self.text() != close:
                self.expect(",")
        return found

    # -----------------------------------------------------------------------------------------------------------

    def primary(self) -> Expression:
        if self.accept("("):
            inner = self.expression()
            self.expect(")")
            return inner
        if not self.more():
            self.fail()
        token = self._tokens[self._place]
        if token.kind in (Kind.NUMBER, Kind.STRING, Kind.CHARACTER):
            return self._literal()
        if token.kind is not Kind.NAME:
            self.fail()
        name = self.next()
        if name in ("true", "false", "nullptr"):
            constant = {"true": True, "false": False, "nullptr": None}[name]
            return lambda _: constant
        return self._named(name)

    def _named(self, name: str) -> Expression:
        while self.accept("::"):
            part = self.next()
            name = part if name in _NAMESPACES else f"{name}::{part}"
        template = self._template_arguments() if name in _TEMPLATES and self.text() == "<" else ""
        if self.accept("("):
            arguments = self._arguments(")")
        elif self.text() == "{":
            self.next()
            arguments = self._arguments("}")
        else:
            return lambda scope: _variable(scope, name)
        return _call(name, template, arguments)

    def _template_arguments(self) -> str:
        depth, first = 0, self._place + 1
        while True:
            text = self.next()
            depth += (text == "<") - (text == ">")
            if not depth:
                return "".join(token.text for token in self._tokens[first : self._place - 1])

    def _literal(self) -> Expression:
        token = self._tokens[self._place]
        text = self.next()
        constant: Value
        if token.kind is Kind.NUMBER:
            digits = text.replace("'", "").rstrip("uUlL")
            constant = float(digits) if "." in digits or "e" in digits else int(digits, 0)
            return lambda _: constant
        constant = unescaped(text)
        while self.more() and self._tokens[self._place].kind is Kind.STRING:
            constant += unescaped(self.next())
        return lambda _: constant


def unescaped(literal: str) -> str:
    inner, result, place = literal[1:-1], "", 0
    while place < len(inner):
        if inner[place] == "\\":
            place += 1
            result += _ESCAPES.get(inner[place], inner[place])
        else:
            result += inner[place]
        place += 1
    return result


# ---------------------------------------------------------------------------------------------------------------
# Meanings


def truth(scope: Scope, result: Value) -> bool:
    value = read(result)
    return bool(scope.member(result, "operator bool", [])) if isinstance(value, Owned) else bool(value)


def _variable(scope: Scope, name: str) -> Value:
    variable = scope.find(name)
    if variable is None:
        raise ModelFault(f"nothing is called `{name}` here")
    return variable


def temporary(scope: Scope, value: Value) -> Value:
    """Adds a new value to the full expression, which destroys it at its end unless it is taken."""
    if isinstance(value, Owned):
        scope.temporaries.append(value)
    return value


def _call(name: str, template: str, arguments: list[Expression]) -> Expression:
    return lambda scope: temporary(scope, scope.call(name, template, [argument(scope) for argument in arguments]))


def _member_call(target: Expression, name: str, arguments: list[Expression]) -> Expression:
    def call(scope: Scope) -> Value:
        return temporary(scope, scope.member(target(scope), name, [argument(scope) for argument in arguments]))

    return call


def _place(result: Value) -> Variable:
    if not isinstance(result, Variable) or result.is_const:
        raise ModelFault("an assignment to what cannot be assigned to")
    return result


def _assignment(left: Expression, right: Expression) -> Expression:
    def assign(scope: Scope) -> Value:
        value = right(scope)  # C++ evaluates the right side first
        place = _place(left(scope))
        place.assign(own(scope, scope.convert(place.type, value)))
        return place

    return assign


def _update(left: Expression, right: Expression, apply: Callable[[Value, Value], Value]) -> Expression:
    def update(scope: Scope) -> Value:
        value = read(right(scope))
        place = _place(left(scope))
        place.value = apply(place.value, value)
        return place

    return update


def _operation(left: Expression, right: Expression, apply: Callable[[Value, Value], Value]) -> Expression:
    return lambda scope: apply(read(left(scope)), read(right(scope)))


def _logical(left: Expression, right: Expression, *, stops_at: bool) -> Expression:
    def logical(scope: Scope) -> Value:
        return stops_at if truth(scope, left(scope)) is stops_at else truth(scope, right(scope))

    return logical


def _unary(sign: str, operand: Expression) -> Expression:
    match sign:
        case "!":
            return lambda scope: not truth(scope, operand(scope))
        case "-":
            return lambda scope: -read(operand(scope))
        case "+":
            return lambda scope: +read(operand(scope))
        case "*":
            return _member_call(operand, "operator*", [])
        case "&":
            return operand  # a pointer is the variable that it points to
        case _:
            return _step_before(operand, 1 if sign == "++" else -1)


def _step_before(operand: Expression, by: int) -> Expression:
    def step(scope: Scope) -> Value:
        place = _place(operand(scope))
        place.value += by
        return place

    return step


def _step_after(operand: Expression, by: int) -> Expression:
    def step(scope: Scope) -> Value:
        place = _place(operand(scope))
        place.value += by
        return place.value - by

    return step


def _index(target: Expression, index: Expression) -> Expression:
    return _member_call(target, "operator[]", [index])
