"""The two classes of an actor: FActorState with all that it keeps, and FActor. Programs ask for their sizes."""

from __future__ import annotations

from actorc.emit.lines import at
from actorc.emit.shell import Shell
from actorc.lower.lowered import Body, Variable


def classes(shell: Shell, body: Body, functions: str) -> str:
    """`functions`: of the struct with the parameters and states."""
    name = shell.class_name
    template, arguments = (shell.bare_template, shell.class_arguments) if not shell.is_local else ("", "")
    state_template, state_arguments = template, arguments
    if shell.state_is_named and not shell.is_local:
        before, given = (f"{template[:-2]}, ", f"{arguments[:-1]}, ") if template else ("template <", "<")
        state_template, state_arguments = f"{before}class> ", f"{given}{name}{arguments}>"
    kind = ", flow::actor::Kind::Uncancellable" if shell.is_uncancellable else ""
    frame = f"flow::actor::{frame_class(shell, body)}<{shell.result}>"
    return (
        f"{state_template}struct {name}State {{ {_members(shell, body)}{functions}}}; "
        f"{template}struct {name} final : flow::actor::Actor<{frame}, {name}State{state_arguments}{kind}> {{}};"
    )


def frame_class(shell: Shell, body: Body) -> str:
    """An actor with probes is always resumed, since they tell of that."""
    return "PassingFrame" if body.propagates and not shell.has_probes else "Frame"


def around(shell: Shell, emitted: str) -> str:
    """Where the classes stand, if not in the function."""
    return f"namespace {{ {emitted} }} " if shell.in_unnamed_namespace else f"{emitted} "


def _members(shell: Shell, body: Body) -> str:
    parts = [f"{shell.class_name}State* const this__ = this; "] if shell.names_address else []
    parts += [
        f"flow::actor::Pack<{each.type}...> {each.name}__; " if each.is_pack else f"{each.type} {each.name}; "
        for each in shell.kept
    ]
    parts += [_member(state) for state in body.states]
    if body.choose_size:
        parts.append(f"flow::Choose<{body.choose_size}> choose__; ")
    return "".join(parts)


def _member(state: Variable) -> str:
    if state.is_erased:
        return f"{at(state.type.line)}flow::AnyRange {state.name}; "
    slot = f"[[no_unique_address]] {state.slot} {state.slot_name}; " if state.slot else ""
    return f"{at(state.type.line)}{slot}{state.type.text} {state.name}{state.extents}; "
