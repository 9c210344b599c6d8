"""What the nodes of a tree mean to the reference interpreter: text, expressions, states. Found out once for each."""

from __future__ import annotations

from collections.abc import Iterator

from actorc import syntax
from actorc.source import Source
from actorc.syntax import StateForm
from model.expressions import Expression, compile_expression, compile_list, tokens_of
from model.plain import Declaration, assigned, compile_condition, compile_plain

Initial = tuple[StateForm, tuple[Expression, ...]]
State = tuple[str, str, Initial | None]  # type, name and, for a leading one, initial value


class Facts:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._meanings: dict[syntax.Node, Expression] = {}
        self._plain: dict[syntax.Node, tuple[list[Declaration] | None, Expression | None]] = {}
        self._inits: dict[syntax.StateDecl, Initial] = {}
        self._states: dict[syntax.Actor, list[State]] = {}

    def text(self, code: syntax.Code) -> str:
        return self._source[code.span]

    def expression(self, code: syntax.Code) -> Expression:
        found = self._meanings.get(code)
        if found is None:
            found = compile_expression(tokens_of(self.text(code)))
            self._meanings[code] = found
        return found

    def call_of(self, name: str, chained: syntax.Code) -> Expression:
        """What is called of a state once it is made."""
        found = self._meanings.get(chained)
        if found is None:
            found = compile_expression(tokens_of(name + self.text(chained)))
            self._meanings[chained] = found
        return found

    def plain(self, statement: syntax.Plain) -> tuple[list[Declaration] | None, Expression | None]:
        """What a plain statement declares, or the expression that it is."""
        found = self._plain.get(statement)
        if found is None:
            found = compile_plain(self._source[statement.span], [local.name for local in statement.locals])
            self._plain[statement] = found
        return found

    def condition(self, code: syntax.Code) -> tuple[list[Declaration], Expression | None]:
        """A condition or the first part of a `for`: declarations, then perhaps an expression."""
        found = self._plain.get(code)
        if found is None:
            found = compile_condition(self.text(code))
            self._plain[code] = found
        declarations, expression = found
        return declarations or [], expression

    def state_init(self, declaration: syntax.StateDecl) -> Initial:
        found = self._inits.get(declaration)
        if found is None:
            found = (declaration.form, ())
            if declaration.init is not None:
                tokens = tokens_of(self.text(declaration.init))
                if declaration.form is StateForm.ASSIGN:
                    found = assigned(tokens)
                else:
                    found = (declaration.form, tuple(compile_list(tokens)))
            self._inits[declaration] = found
        return found

    def states(self, actor: syntax.Actor) -> list[State]:
        """All states in the order of the text."""
        found = self._states.get(actor)
        if found is None:
            assert actor.body is not None
            entries = [entry for statement in syntax.walk(actor.body) for entry in self._declared(statement)]
            found = [state for _, state in sorted(entries, key=lambda entry: entry[0])]
            self._states[actor] = found
        return found

    def _declared(self, statement: syntax.Statement) -> Iterator[tuple[int, State]]:
        declaration = syntax.declaration_of(statement)
        if declaration is not None:
            initial = self.state_init(declaration) if declaration.leading else None
            yield declaration.span.start, (self.text(declaration.type), declaration.name, initial)
        for wait in syntax.waits_of(statement):
            if wait.result is not None and wait.result.is_state:
                type_ = "auto" if wait.result.type is None else self.text(wait.result.type)
                yield wait.span.start, (type_, wait.result.name, None)
