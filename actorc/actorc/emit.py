"""The emitted text of a file: everything outside actors as it stands, every actor replaced."""

from __future__ import annotations

from actorc import emit_coroutine, emit_statemachine
from actorc.lines import LineWriter
from actorc.lower import lower
from actorc.render import render
from actorc.shell import Shell, shell_of
from actorc.source import Source
from actorc.syntax import Actor, File

_DEFINITIONS = {"state-machine": emit_statemachine.definition, "coroutine": emit_coroutine.definition}


def emit(file: File, source: Source, backend: str, output_path: str, *, nodiscard: bool = True) -> str:
    """The text to be compiled in place of a source without errors. `backend` is a key of `_DEFINITIONS`.

    `nodiscard`: the C++ compiler is to warn of calls whose future is thrown away, which cancels the actor."""
    definition = _DEFINITIONS[backend]
    writer = LineWriter(source, is_header=output_path.endswith(".h"))
    position = 0
    declared: set[tuple[object, ...]] = set()
    for actor in file.actors:
        writer.copy(position, actor.span.start)
        shell = shell_of(actor, source, is_first=_key(actor) not in declared, nodiscard=nodiscard)
        declared.add(_key(actor))
        writer.emit(_prototype(shell) if actor.body is None else definition(shell, lower(actor, source)))
        position = actor.span.end
    writer.copy(position, len(source.text))
    return writer.text()


def _key(actor: Actor) -> tuple[object, ...]:
    """What tells one actor from another, as far as a file shows it."""
    return (*actor.enclosing_classes, *actor.qualifier, actor.name, len(actor.parameters), len(actor.template or ()))


def _prototype(shell: Shell) -> str:
    return render("prototype.j2", actor=shell)
