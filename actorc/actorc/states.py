"""The state variables of an actor, and what their declarations do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from actorc import syntax
from actorc.lowered import Pieces, Text, Variable
from actorc.reach import Reach
from actorc.source import Source
from actorc.spelling import callable_type, may_read_as_parameters, one_line
from actorc.syntax import StateDecl, StateForm


def range_iterators(body: syntax.Block, reach: Reach) -> dict[syntax.RangeFor, str]:
    """The variables in which the range-fors that wait keep their places."""
    loops = [inner for inner in syntax.walk(body) if isinstance(inner, syntax.RangeFor) and reach.suspends(inner)]
    return {loop: f"iter{number}__" for number, loop in enumerate(loops, 1)}


def state_variables(
    body: syntax.Block, source: Source, iterators: Mapping[syntax.RangeFor, str]
) -> tuple[Variable, ...]:
    """All state variables in the order of their declarations, which is that of their construction."""
    found: list[tuple[int, Variable]] = []
    for statement in syntax.walk(body):
        found += _declared_by(statement, source)
    for loop, name in iterators.items():
        place = loop.range.span.start
        type_ = Text(f"decltype(std::begin({source[loop.range.span]}))", source.line(place))
        found.append((place, Variable(type_, name, None)))
    found.sort(key=lambda entry: entry[0])
    return tuple(variable for _, variable in found)


def _declared_by(statement: syntax.Statement, source: Source) -> Iterator[tuple[int, Variable]]:
    match statement:
        case StateDecl() | syntax.For(init=StateDecl()):
            declaration = statement.init if isinstance(statement, syntax.For) else statement
            assert isinstance(declaration, StateDecl)
            init = _leading_init(declaration, source) if declaration.leading else None
            yield declaration.span.start, _variable(declaration.type, declaration.name, init, source)
    for wait in syntax.waits_of(statement):
        if wait.result is not None and wait.result.is_state and wait.result.type is not None:
            yield wait.span.start, _variable(wait.result.type, wait.result.name, None, source)


def _variable(type_: syntax.Code, name: str, init: Pieces | None, source: Source) -> Variable:
    return Variable(Text(one_line(source[type_.span]), source.line(type_.span.start)), name, init)


def _leading_init(declaration: StateDecl, source: Source) -> Pieces | None:
    """`(e)` or `{e}`: direct initialisation. None for `T x;` and `T x();`, which are value-initialised.

    `((e))` where C++ might take `T x(e);` for the declaration of a function.
    """
    if declaration.init is None:
        return None
    text = Text(source[declaration.init.span], source.line(declaration.init.span.start))
    if declaration.form is StateForm.BRACE:
        return ("{", text, "}")
    if declaration.form is StateForm.ASSIGN and text.text.startswith("{"):
        return (text,)
    if may_read_as_parameters(text.text, is_one=declaration.form is StateForm.ASSIGN):
        return ("((", text, "))")
    return ("(", text, ")")


def assignment(declaration: StateDecl, source: Source) -> Pieces:
    """What a state declaration does where it stands, unless it is a leading one. Without `;`."""
    name = declaration.name
    type_ = callable_type(one_line(source[declaration.type.span]))
    if declaration.init is None:
        return (f"{name} = {type_}()",)
    text = Text(source[declaration.init.span], source.line(declaration.init.span.start))
    if declaration.form is StateForm.ASSIGN:
        return (f"{name} = ", text)
    if declaration.form is StateForm.BRACE:
        return (f"{name} = {type_}{{", text, "}")
    return (f"{name} = {type_}(", text, ")")
