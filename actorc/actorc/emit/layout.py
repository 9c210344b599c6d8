"""The two classes of an actor: FActorState with its variables, and FActor. Programs use their sizes."""

from __future__ import annotations

from actorc.emit.declaration import Declaration
from actorc.emit.lines import MAY_BREAK, apart, at
from actorc.lower.lowered import Body, Variable
from actorc.spelling import fits_frame


def classes(declaration: Declaration, body: Body, functions: str) -> str:
    """`functions`: of the struct with the parameters and states."""
    name = declaration.class_name
    template, arguments = (
        (declaration.bare_template, declaration.class_arguments) if not declaration.is_local else ("", "")
    )
    state_template, state_arguments = template, arguments
    if declaration.state_is_named and not declaration.is_local:
        before, given = (f"{template[:-2]}, ", f"{arguments[:-1]}, ") if template else ("template <", "<")
        state_template, state_arguments = f"{before}class> ", f"{given}{name}{arguments}>"
    kind = ", flow::actor::Kind::Uncancellable" if declaration.is_uncancellable else ""
    frame = f"flow::actor::{frame_class(declaration, body)}<{declaration.result_type}>"
    base = f"flow::actor::Actor<{frame}, {MAY_BREAK}{name}State{state_arguments}{kind}>"
    return (
        f"{declaration.named_result}{state_template}struct {name}State {{ {_members(declaration, body)}{functions}}}; "
        f"{MAY_BREAK}{template}struct {name} final : {base} {{}};"
    )


def frame_class(declaration: Declaration, body: Body) -> str:
    """An actor with probes is always resumed, since the probes report that."""
    return "PropagatingFrame" if body.propagates and not declaration.has_probes else "Frame"


def around(declaration: Declaration, emitted: str) -> str:
    """Where the classes stand, if not in the function."""
    return f"namespace {{ {emitted} }} " if declaration.in_unnamed_namespace else f"{emitted} "


def _members(declaration: Declaration, body: Body) -> str:
    parts = [f"{declaration.class_name}State* const this__ = this; "] if declaration.names_address else []
    parts += [each.member + fit(each.place_of_name, each.type, each.member_name) for each in declaration.kept]
    parts += [_member(state) for state in body.states]
    if body.states or not declaration.has_known_types:
        parts.append(apart(declaration.line))
    if body.choose_size:
        parts.append(f"flow::Choose<{body.choose_size}> choose__; ")
    return "".join(parts)


def _member(state: Variable) -> str:
    if state.is_erased:
        return f"{at(state.type.line)}flow::AnyRange {state.name}; "
    slot = f"[[no_unique_address]] {slot_type(state)} {state.slot_name}; " if state.slot else ""
    name = at(state.type.line, state.column) + state.name
    return f"{at(state.type.line)}{slot}{state_type(state)} {name}{state.extents}; {state_fit(state)}"


def state_type(state: Variable) -> str:
    """What the variable is declared with; what the source spells has its place."""
    text = state.type.text
    return f"{text[: state.added]}{at(state.type.line, state.type.column)}{text[state.added :]}"


def slot_type(state: Variable) -> str:
    before, found, spelled = state.slot.partition("flow::StateSlot<")
    return f"{before}{found}{at(state.type.line, state.type.column)}{spelled}"


def state_fit(state: Variable) -> str:
    names = (state.slot_name, state.name) if state.slot else (state.name,)
    return fit(at(state.type.line, state.column or state.type.column), state.type.text, *names)


def fit(place: str, type_: str, *names: str) -> str:
    """Refuses a variable that no frame can hold, at its name. Nothing if the text of its type proves that one can."""
    kept = ", ".join(f"decltype({name})" for name in names)
    return "" if fits_frame(type_) else f"{place}FLOW_FITS_FRAME({kept}); "
