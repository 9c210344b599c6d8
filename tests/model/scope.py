"""What is visible and alive in one call of an actor, for the reference interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from actorc import syntax
from actorc.syntax import StateForm
from model.expressions import Expression, Scope, own
from model.facts import Facts
from model.library import Library, bare
from model.plain import Declaration
from model.values import (
    Computation,
    Error,
    Future,
    Owned,
    Raised,
    Value,
    Variable,
    destroy,
)


class World(Protocol):
    """What an activation needs of the interpreter."""

    library: Library
    facts: Facts
    report_dropped: Callable[[Error], None]

    def knows(self, name: str) -> bool: ...

    def call(self, name: str, arguments: list[Value], caller: Scope) -> Future | None: ...


class ActorScope(Computation):
    """One call of an actor, as its expressions see it: its variables, and when each is destroyed."""

    def __init__(self, world: World, actor: syntax.Actor) -> None:
        is_void = actor.result_type is None
        super().__init__(not (is_void or actor.is_uncancellable), futures=0 if is_void else 1)
        assert actor.body is not None
        self._world = world
        self._facts = world.facts
        self._library = world.library
        self._actor = actor
        self._block = actor.body
        self._members: dict[str, Variable] = {}  # parameters, then states, in the order of their construction
        self._constructed: list[Variable] = []
        self._blocks: list[list[tuple[str, Variable, bool]]] = []  # plain locals: name, place, whether it owns
        self._handled: list[Raised | None] = []  # what `throw;` means, innermost last
        self._returned: Value = None
        self._is_never = False
        self.temporaries: list[Owned] = []

    # -----------------------------------------------------------------------------------------------------------
    # What expressions see

    def find(self, name: str) -> Variable | None:
        for block in reversed(self._blocks):
            for known, variable, _ in reversed(block):
                if known == name:
                    return variable
        return self._members.get(name)

    def call(self, name: str, template: str, arguments: list[Value]) -> Value:
        if self._world.knows(name):
            return self._world.call(name, arguments, self)
        return self._library.call(self, name, template, arguments)

    def member(self, target: Value, name: str, arguments: list[Value] | None) -> Value:
        return self._library.member(self, target, name, arguments)

    def convert(self, type_: str, result: Value) -> Value:
        return self._library.convert(self, type_, result)

    def _full(self, expression: Expression, use: Callable[[Value], Value]) -> Value:
        """A full expression: destroys its remaining temporaries at its end, the last first."""
        outer, self.temporaries = self.temporaries, []
        try:
            return use(expression(self))
        finally:
            mine, self.temporaries = self.temporaries, outer
            for value in reversed(mine):
                value.destroy()

    def _initialise(
        self, type_: str, form: StateForm, init: Sequence[Expression], place: Callable[[Value], None]
    ) -> None:
        """Gives `place` the initial value, before its temporaries are destroyed."""
        if not init:
            place(self._library.default(type_))
            return

        def made(scope: Scope) -> Value:
            return self._made(type_, form, [each(scope) for each in init])

        self._full(made, lambda value: place(value))

    def _made(self, type_: str, form: StateForm, results: list[Value]) -> Value:
        """`T x(e)` and `T x{e}` call T's constructor, which for most types is a copy or a conversion, as for `= e`."""
        name, _, argument = bare(type_).partition("<")
        is_list = form is StateForm.BRACE and name == "vector"
        is_call = form is not StateForm.ASSIGN and self._library.constructs(name)
        if len(results) == 1 and not is_list and not is_call:
            return own(self, self.convert(type_, results[0]))
        return self._library.call(self, name, argument[:-1], results)

    # -----------------------------------------------------------------------------------------------------------
    # Blocks and locals

    def _declare(self, name: str, type_: str, value: Value) -> None:
        self._blocks[-1].append((name, Variable(type_, value), True))

    def _leave_block(self) -> None:
        block = self._blocks[-1]
        while block:
            _, variable, owns = block.pop()
            if owns:
                destroy(variable.value)
        self._blocks.pop()

    def _lose_locals(self) -> None:
        """What a wait that is carried out does to all plain locals, handlers' errors included."""
        for block in reversed(self._blocks):
            while block:
                _, variable, owns = block.pop()
                if owns:
                    destroy(variable.value)
        self._handled = [None] * len(self._handled)

    def _declare_plain(self, declaration: Declaration) -> None:
        (name,) = declaration.names
        if declaration.is_reference:
            target = self._full(declaration.init[0], lambda result: result)
            if isinstance(target, Variable):
                self._blocks[-1].append((name, target, False))
                return
        type_ = declaration.type
        self._initialise(type_, declaration.form, declaration.init, lambda value: self._declare(name, type_, value))
