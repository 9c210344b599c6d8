"""The state variables of an actor, and what their declarations do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from actorc import syntax
from actorc.catches import rethrows_late
from actorc.lowered import Pieces, Text, Variable
from actorc.reach import Reach
from actorc.records import dataclass
from actorc.source import Source
from actorc.spelling import callable_type, may_read_as_parameters, one_line
from actorc.syntax import StateDecl, StateForm


@dataclass(frozen=True, slots=True)
class Hidden:
    """The state variables that nobody has declared."""

    iterators: Mapping[syntax.RangeFor, str]  # of the range-fors that wait and go over a parameter or state variable
    ranges: Mapping[syntax.RangeFor, str]  # of those that go over anything else
    errors: Mapping[syntax.Catch, str]  # what handlers have caught, if they pass it on after a wait


def hidden_states(actor: syntax.Actor, body: syntax.Block, source: Source, reach: Reach) -> Hidden:
    names = {parameter.name for parameter in actor.parameters}
    iterators: dict[syntax.RangeFor, str] = {}
    ranges: dict[syntax.RangeFor, str] = {}
    errors: dict[syntax.Catch, str] = {}
    for inner in syntax.walk(body):
        names |= {variable.name for _, variable in _declared_by(inner, source)}
    for inner in syntax.walk(body):
        if isinstance(inner, syntax.Try):
            late = [catch for catch in inner.catches if rethrows_late(catch.body, reach)]
            errors.update({catch: f"kept{number}__" for number, catch in enumerate(late, len(errors) + 1)})
        elif isinstance(inner, syntax.RangeFor) and reach.suspends(inner):
            number = len(iterators) + len(ranges) + 1
            if source[inner.range.span] in names:
                iterators[inner] = f"iter{number}__"
            else:
                ranges[inner] = f"range{number}__"
    return Hidden(iterators, ranges, errors)


def state_variables(body: syntax.Block, source: Source, hidden: Hidden) -> tuple[Variable, ...]:
    """All state variables in the order of their declarations, which is that of their construction."""
    found: list[tuple[int, Variable]] = []
    for statement in syntax.walk(body):
        found += _declared_by(statement, source)
    for loop, name in hidden.iterators.items():
        found.append(_hidden(loop.range, f"decltype(std::begin({source[loop.range.span]}))", name, source))
    for loop, name in hidden.ranges.items():
        range_ = "".join(part if isinstance(part, str) else part.text for part in range_value(loop, source))
        found.append(_hidden(loop.range, f"flow::RangeState<decltype(({one_line(range_)}))>", name, source))
    for catch, name in hidden.errors.items():
        type_ = "flow::CaughtException" if catch.kind is syntax.CatchKind.OTHER else "flow::Error"
        found.append(_hidden(catch, type_, name, source))
    found.sort(key=lambda entry: entry[0])
    return tuple(variable for _, variable in found)


def _hidden(node: syntax.Node, type_: str, name: str, source: Source) -> tuple[int, Variable]:
    place = node.span.start
    return place, Variable(Text(type_, source.line(place)), name, None)


def range_value(loop: syntax.RangeFor, source: Source) -> Pieces:
    """The range as an expression, which `{1, 2, 3}` is not."""
    text = Text(source[loop.range.span], source.line(loop.range.span.start))
    return ("flow::listOf(", text, ")") if text.text.startswith("{") else (text,)


def _declared_by(statement: syntax.Statement, source: Source) -> Iterator[tuple[int, Variable]]:
    match statement:
        case StateDecl() | syntax.For(init=StateDecl()) | syntax.RangeFor(init=StateDecl()):
            declaration = statement if isinstance(statement, StateDecl) else statement.init
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
