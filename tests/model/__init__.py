"""A model of the language: runs the checked tree of an actor as the rules are written, statement by statement.

    interpreter = Interpreter(file, Facts(source), library)
    future = interpreter.call("f", [1, 2], scope)         # to its first suspension

It shares nothing with lowering and the back ends, so that what those make of an actor can be compared with the rules:

- a call starts the actor at once; a ready wait does not suspend; waiters run last come, first served;
- a plain local is destroyed at the next wait that is executed, after the wait's operand was evaluated; a state lives as
  long as the actor; at the end states are destroyed in reverse order, then parameters; then waiters run;
- a choose is lazy, and its losers are released before the winner's body runs;
- a cancelled actor's waits raise, after their operands have been evaluated; handlers see that like any error.

C++ inside statements is evaluated by `reference_expressions`, a subset.
"""

from __future__ import annotations

from collections.abc import Callable

from actorc import syntax
from model.actor import Activation
from model.expressions import Scope, own, read
from model.facts import Facts
from model.library import Library
from model.values import Error, Future, Owned, Value, copy_of


class Interpreter:
    """Runs the actors of one file."""

    def __init__(self, file: syntax.File, facts: Facts, library: Library) -> None:
        """`facts` can be shared by the interpreters of one file."""
        self.library = library
        self.facts = facts
        self.report_dropped: Callable[[Error], None] = lambda error: None  # called with dropped errors
        self._actors = {actor.name: actor for actor in file.actors if actor.body is not None}

    def knows(self, name: str) -> bool:
        return name in self._actors

    def call(self, name: str, arguments: list[Value], caller: Scope) -> Future | None:
        """Starts an actor with copies of the arguments, to its first suspension; None for a void actor."""
        actor = self._actors[name]
        converted = [
            caller.convert(self.facts.text(parameter.type), argument)
            for parameter, argument in zip(actor.parameters, arguments, strict=True)
        ]
        activation = Activation(self, actor)
        activation.start(activation.run([_copied(caller, argument) for argument in converted]))
        return Future(activation.cell) if actor.result_type is not None else None


def _copied(caller: Scope, argument: Value) -> Value:
    """The actor's own copy; what cannot be copied is moved."""
    value = read(argument)
    return own(caller, argument) if isinstance(value, Owned) and not value.copies else copy_of(value)
