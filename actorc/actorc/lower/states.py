"""The state variables of an actor, and what their declarations do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from actorc import syntax
from actorc.check.reach import Reach
from actorc.lower.catches import rethrows_late
from actorc.lower.lowered import Variable
from actorc.records import dataclass, replace
from actorc.source import Pieces, Source, Text
from actorc.spelling import callable_type, has_lambda, is_assignable, is_constant, may_read_as_parameters, one_line
from actorc.syntax import StateDecl, StateForm


@dataclass(frozen=True, slots=True)
class Hidden:
    """The state variables that the source does not declare."""

    iterators: Mapping[syntax.RangeFor, str]  # of the range-fors that wait and go over a parameter or state variable
    ranges: Mapping[syntax.RangeFor, str]  # of those that go over anything else
    errors: Mapping[syntax.Catch, str]  # what handlers have caught, if they pass it on after a wait


def hidden_states(actor: syntax.Actor, body: syntax.Block, source: Source, reach: Reach) -> Hidden:
    names = {parameter.name for parameter in actor.parameters}
    iterators: dict[syntax.RangeFor, str] = {}
    ranges: dict[syntax.RangeFor, str] = {}
    errors: dict[syntax.Catch, str] = {}
    for inner in syntax.walk(body):
        names |= {name for _, name in syntax.declared_states(inner)}
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


def state_variables(actor: syntax.Actor, body: syntax.Block, source: Source, hidden: Hidden) -> tuple[Variable, ...]:
    """All state variables in the order of their declarations, which is that of their construction."""
    found: list[tuple[int, Variable]] = []
    for statement in syntax.walk(body):
        found += _declared_by(statement, actor, source)
    for loop, name in hidden.iterators.items():
        type_ = ("flow::IteratorOf<decltype((", source[loop.range.span], "))>")
        found.append(_hidden(loop.range, type_, name, source))
    for loop, name in hidden.ranges.items():
        before, text, after = range_value(loop, source)
        if has_lambda(text.text):
            keep = replace(text, text="keep(", column=max(text.column - len("keep("), 0))  # where it is refused
            kept = Variable(Text("flow::AnyRange", text.line), name, None, kept=(keep, before, text, after, ")"))
            found.append((loop.range.span.start, kept))
            continue
        type_ = (f"flow::RangeState<decltype(({before}", one_line(text.text), f"{after}))>")
        place, variable = _hidden(loop.range, type_, name, source)
        found.append((place, replace(variable, is_erased=bool(actor.enclosing_classes))))
    for catch, name in hidden.errors.items():
        type_ = ("", "flow::CaughtException" if catch.kind is syntax.CatchKind.OTHER else "flow::Error", "")
        found.append(_hidden(catch, type_, name, source))
    found.sort(key=lambda entry: entry[0])
    return tuple(variable for _, variable in found)


def _hidden(node: syntax.Node, type_: tuple[str, str, str], name: str, source: Source) -> tuple[int, Variable]:
    """`type_`: what the source spells, with what is before and behind it."""
    place = source.text_of(node.span)
    column = place.column if isinstance(node, syntax.Code) else 0
    return node.span.start, Variable(Text("".join(type_), place.line, column), name, None, added=len(type_[0]))


def range_value(loop: syntax.RangeFor, source: Source) -> tuple[str, Text, str]:
    """The range as an expression, which `{1, 2, 3}` is not."""
    text = source.text_of(loop.range.span)
    return ("flow::listOf(", text, ")") if text.text.startswith("{") else ("", text, "")


def _declared_by(statement: syntax.Statement, actor: syntax.Actor, source: Source) -> Iterator[tuple[int, Variable]]:
    declaration = syntax.declaration_of(statement)
    if declaration is not None:
        yield declaration.span.start, _declared(declaration, actor, source)
    for wait in syntax.waits_of(statement):
        result = wait.result
        if result is not None and result.is_state and result.type is not None:
            yield wait.span.start, _assigned_later(result.type, result.name, actor, source)


def _declared(declaration: StateDecl, actor: syntax.Actor, source: Source) -> Variable:
    if declaration.extents is not None:
        init = _array_init(declaration, source) if declaration.leading else None
        return Variable(_type(declaration.type, source), declaration.name, init, source[declaration.extents.span])
    if declaration.leading:
        type_, init = _type(declaration.type, source), _leading_init(declaration, source)
        return Variable(type_, declaration.name, init, column=_column(declaration.name, declaration.type, source))
    return _assigned_later(declaration.type, declaration.name, actor, source)


def _assigned_later(type_: syntax.Code, name: str, actor: syntax.Actor, source: Source) -> Variable:
    """In a slot, unless its type is known to need none. While a class is not complete, C++ cannot be asked for that."""
    text = _type(type_, source)
    if is_constant(text.text):
        slot = f"flow::StateSlot<{text.text}, 0, false>"
        return Variable(replace(text, text=f"{text.text}&"), name, None, slot=slot)
    if is_assignable(text.text) or actor.enclosing_classes:
        return Variable(text, name, None, column=_column(name, type_, source))
    slot = f"flow::StateSlot<{text.text}, {source.line(type_.span.start)}>"
    before = "flow::StateOf<"
    return Variable(replace(text, text=f"{before}{text.text}>"), name, None, slot=slot, added=len(before))


def _column(name: str, type_: syntax.Code, source: Source) -> int:
    place = source.name_behind(name, type_.span)
    return place.column if place is not None and place.line == source.text_of(type_.span).line else 0


def _type(type_: syntax.Code, source: Source) -> Text:
    place = source.text_of(type_.span)
    return Text(one_line(place.text), place.line, place.column)


def _leading_init(declaration: StateDecl, source: Source) -> Pieces | None:
    """`(e)` or `{e}`: direct initialisation. None for `T x;` and `T x();`, which are value-initialised.

    `((e))` where C++ might take `T x(e);` for the declaration of a function.
    """
    if declaration.init is None:
        return None
    text = source.text_of(declaration.init.span)
    if declaration.form is StateForm.BRACE:
        return ("{", text, "}")
    if declaration.form is StateForm.ASSIGN and text.text.startswith("{"):
        return (text,)
    if may_read_as_parameters(text.text, is_one=declaration.form is StateForm.ASSIGN):
        return ("((", text, "))")
    return ("(", text, ")")


def _array_init(declaration: StateDecl, source: Source) -> Pieces | None:
    """`{...}`; a string may stand without braces."""
    if declaration.init is None:
        return None
    text = source.text_of(declaration.init.span)
    return (text,) if text.text.startswith("{") else ("{", text, "}")


def assignment(declaration: StateDecl, variable: Variable, source: Source) -> Pieces:
    """What a state declaration does where it stands, unless it is a leading one. Without `;`."""
    text = one_line(source[declaration.type.span])
    place = source.name_behind(declaration.name, declaration.type.span)
    # What is refused is reported at the bracket.
    name = f"({declaration.name}" if place is None else replace(place, text=f"({place.text}", column=place.column - 1)
    if declaration.extents is not None:
        init = _array_init(declaration, source) or ("{}",)
        array = f"flow::ArrayValue<{text}{one_line(source[declaration.extents.span])}>"
        return ("flow::assignArray", name, f", {array}{{", *init, "})")
    if declaration.init is None and variable.slot:
        return (f"{variable.slot_name}.renew", name, ")")
    target = assigned(variable, place)
    callable_ = f"std::remove_const_t<{text}>" if is_constant(text) else callable_type(text)
    before, _, rest = callable_.partition(text)
    type_: Pieces = (before, replace(variable.type, text=text), rest)
    if declaration.init is None:
        return (*target, " = ", *type_, "()")
    value = source.text_of(declaration.init.span)
    if declaration.form is StateForm.ASSIGN:
        return (*target, " = ", value)
    if declaration.form is StateForm.BRACE:
        return (*target, " = ", *type_, "{", value, "}")
    return (*target, " = ", *type_, "(", value, ")")


def assigned(variable: Variable, place: Text | None = None) -> Pieces:
    """What the declaration of a state variable assigns to. `place`: its name in the source."""
    name = place or variable.name
    return (f"{variable.slot_name}.of(", name, ")") if variable.slot else (name,)


def is_referring(variable: Variable) -> bool:
    """Whether the actor does not own the named object, so that it must not be moved from."""
    return not variable.slot and (variable.type.text.endswith("&") or bool(variable.extents))
