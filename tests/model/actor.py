"""One call of an actor in the reference interpreter: its life, its statements, its waits."""

from __future__ import annotations

from collections.abc import Generator
from enum import Enum
from functools import partial

from actorc import syntax
from actorc.syntax import ResultKind
from model.expressions import Expression, own, read, truth
from model.library import Record, Vector, bare
from model.scope import ActorScope
from model.values import (
    ACTOR_CANCELLED,
    BROKEN_PROMISE,
    Cell,
    Delay,
    Error,
    Future,
    ModelFault,
    NeverValue,
    Operand,
    Raised,
    Status,
    Steps,
    Value,
    Variable,
    destroy,
)

_DROPPED_SILENTLY = (ACTOR_CANCELLED, BROKEN_PROMISE)


class Outcome(Enum):
    """How control left a statement, unless by an error."""

    NEXT = 0
    BREAK = 1
    CONTINUE = 2
    RETURN = 3


Flow = Generator[list[Operand], "int | None", Outcome]


class Activation(ActorScope):
    """One call of an actor."""

    # -----------------------------------------------------------------------------------------------------------
    # The life of an actor

    def run(self, arguments: list[Value]) -> Steps:
        status = Status.VALUE
        try:
            self._construct(arguments)
            yield from self._run_block(self._block)
        except Raised as raised:
            self.cell.error = raised.error
            status = Status.ERROR
        while self._constructed:
            destroy(self._constructed.pop().value)
        if status is Status.ERROR and not self.cell.futures and self.cell.error not in _DROPPED_SILENTLY:
            self._world.report_dropped(self.cell.error)
        self.finish(Status.NEVER if self._is_never and status is Status.VALUE else status)

    def _construct(self, arguments: list[Value]) -> None:
        """Parameters, then states: leading ones with their values, all others with the defaults of their types."""
        for parameter, value in zip(self._actor.parameters, arguments, strict=True):
            self._add_member(parameter.name, self._facts.text(parameter.type), value)
        for type_, name, leading in self._facts.states(self._actor):
            if leading is None:
                self._add_member(name, type_, self._library.default(type_))
            else:
                self._initialise(type_, *leading, partial(self._add_member, name, type_))

    def _add_member(self, name: str, type_: str, value: Value) -> None:
        variable = Variable(type_, value)
        self._members[name] = variable
        self._constructed.append(variable)

    # -----------------------------------------------------------------------------------------------------------
    # Statements

    def _run_block(self, block: syntax.Block) -> Flow:
        self._blocks.append([])
        try:
            for statement in block.statements:
                outcome = yield from self._run_statement(statement)
                if outcome is not Outcome.NEXT:
                    return outcome
            return Outcome.NEXT
        finally:
            self._leave_block()

    def _run_statement(self, statement: syntax.Statement) -> Flow:
        match statement:
            case syntax.Plain():
                self._plain(statement)
            case syntax.StateDecl():
                self._assign_state(statement)
            case syntax.Wait(wait=wait):
                return (yield from self._wait(wait))
            case syntax.Choose(whens=whens):
                return (yield from self._choose(whens))
            case syntax.Block():
                return (yield from self._run_block(statement))
            case syntax.If():
                return (yield from self._if(statement))
            case syntax.Try():
                return (yield from self._try(statement))
            case syntax.Throw():
                self._throw(statement)
            case syntax.Return():
                self._return(statement)
                return Outcome.RETURN
            case syntax.Case():
                pass
            case syntax.Break():
                return Outcome.BREAK
            case syntax.Continue():
                return Outcome.CONTINUE
            case _:
                return (yield from self._loop(statement))
        return Outcome.NEXT

    def _plain(self, statement: syntax.Plain) -> None:
        declarations, expression = self._facts.plain(statement)
        for declaration in declarations or ():
            self._declare_plain(declaration)
        if expression is not None:
            self._full(expression, lambda result: None)

    def _assign_state(self, statement: syntax.StateDecl) -> None:
        if statement.leading:
            return  # done when the actor was made
        type_ = self._facts.text(statement.type)
        self._initialise(type_, *self._facts.state_init(statement), self._members[statement.name].assign)
        if statement.chained is not None:
            self._full(self._facts.call_of(statement.name, statement.chained), lambda result: None)

    # -----------------------------------------------------------------------------------------------------------
    # Waits

    def _operand(self, wait: syntax.WaitExpr) -> Cell:
        """Evaluates what to wait for; the reference is the actor's."""

        def handle(result: Value) -> Value:
            value = read(result)
            if isinstance(value, Delay | NeverValue):
                return self._library.future(self, value)
            if not isinstance(value, Future):
                raise ModelFault("a wait for what is no future")
            return own(self, result)

        future: Future = self._full(self._facts.expression(wait.operand), handle)
        return future.release()

    def _wait(self, wait: syntax.WaitExpr) -> Flow:
        operand = Operand(self, 0, self._operand(wait))
        self._lose_locals()
        yield from self.first_of([operand])
        self._take_result(wait, operand)
        return Outcome.RETURN if wait.result is not None and wait.result.kind is ResultKind.RETURN else Outcome.NEXT

    def _take_result(self, wait: syntax.WaitExpr, operand: Operand) -> None:
        cell = operand.cell
        assert cell is not None
        if wait.result is None:
            if wait.is_stream:
                destroy(cell.take())
            operand.release()
            return
        value = cell.take()
        type_ = "auto" if wait.result.type is None else self._facts.text(wait.result.type)
        match wait.result.kind:
            case ResultKind.LOCAL:
                self._declare(wait.result.name, type_, value)
            case ResultKind.STATE:
                self._members[wait.result.name].assign(value)
            case ResultKind.ASSIGN:
                assert wait.result.target is not None
                self._full(self._facts.expression(wait.result.target), lambda place: place.assign(value))
            case ResultKind.RETURN if self.cell.futures:
                self.cell.value = value
            case ResultKind.RETURN:
                destroy(value)
            case ResultKind.UNPACK if isinstance(value, Record):
                for name, place in zip(wait.result.names, value.fields.values(), strict=True):
                    self._declare(name, place.type, place.value)
            case _:
                raise ModelFault("a result that the model cannot unpack")
        operand.release()

    def _choose(self, whens: tuple[syntax.When, ...]) -> Flow:
        operands: list[Operand] = []
        decided = False  # an operand was ready when it was evaluated, so that later ones are not
        try:
            for index, when in enumerate(whens):
                operand = Operand(self, index, self._operand(when.wait))
                operands.append(operand)
                decided = operand.cell is not None and operand.cell.is_ready
                if decided or self.is_cancelled:
                    break
        except Raised:
            for operand in operands:
                operand.release()
            raise
        self._lose_locals()
        if decided and not self.is_cancelled:
            winner = self.settle(operands, len(operands) - 1)
        else:
            winner = yield from self.first_of(operands)
        when = whens[winner]
        self._blocks.append([])  # of the result
        try:
            self._take_result(when.wait, operands[winner])
            return (yield from self._run_block(when.body))
        finally:
            self._leave_block()

    # -----------------------------------------------------------------------------------------------------------
    # Branches and loops

    def _truth(self, condition: Expression) -> bool:
        return bool(self._full(condition, lambda result: truth(self, result)))

    def _holds(self, condition: syntax.Code | None) -> bool:
        """Evaluates a condition; what it declares belongs to the innermost block."""
        if condition is None or not self._facts.text(condition).strip():
            return True
        declarations, expression = self._facts.condition(condition)
        for declaration in declarations:
            self._declare_plain(declaration)
        if expression is not None:
            return self._truth(expression)
        _, variable, _ = self._blocks[-1][-1]
        return truth(self, variable)

    def _if(self, statement: syntax.If) -> Flow:
        self._blocks.append([])
        try:
            if self._holds(statement.condition):
                return (yield from self._run_block(statement.then))
            if statement.orelse is not None:
                return (yield from self._run_block(statement.orelse))
            return Outcome.NEXT
        finally:
            self._leave_block()

    def _loop(self, statement: syntax.Statement) -> Flow:
        match statement:
            case syntax.Loop(body=body):
                return (yield from self._repeat(None, None, body))
            case syntax.While(condition=condition, body=body):
                return (yield from self._repeat(condition, None, body))
            case syntax.DoWhile():
                return (yield from self._do(statement))
            case syntax.Switch():
                return (yield from self._switch(statement))
            case syntax.For():
                return (yield from self._for(statement))
            case syntax.RangeFor():
                return (yield from self._range_for(statement))
            case _:
                raise ModelFault(f"a {type(statement).__name__}")

    def _repeat(self, condition: syntax.Code | None, step: syntax.Code | None, body: syntax.Block) -> Flow:
        while True:
            self._blocks.append([])
            try:
                if not self._holds(condition):
                    return Outcome.NEXT
                outcome = yield from self._run_block(body)
            finally:
                self._leave_block()
            if outcome is Outcome.BREAK:
                return Outcome.NEXT
            if outcome is Outcome.RETURN:
                return outcome
            if step is not None and self._facts.text(step).strip():
                self._full(self._facts.expression(step), lambda result: None)

    def _do(self, statement: syntax.DoWhile) -> Flow:
        while True:
            outcome = yield from self._run_block(statement.body)
            if outcome is Outcome.RETURN:
                return outcome
            if outcome is Outcome.BREAK or not self._truth(self._facts.expression(statement.condition)):
                return Outcome.NEXT

    def _switch(self, statement: syntax.Switch) -> Flow:
        self._blocks.append([])
        try:
            declarations, expression = self._facts.condition(statement.condition)
            for declaration in declarations:
                self._declare_plain(declaration)
            if expression is None:
                raise ModelFault("a `switch` over what it declares")
            value = self._full(expression, read)
            outcome = yield from self._run_from_case(statement.body, value)
        finally:
            self._leave_block()
        return Outcome.NEXT if outcome is Outcome.BREAK else outcome

    def _run_from_case(self, body: syntax.Block, value: Value) -> Flow:
        labels = [(place, case) for place, case in enumerate(body.statements) if isinstance(case, syntax.Case)]
        start = next((place for place, case in labels if self._is_case(case, value)), None)
        if start is None:
            start = next((place for place, case in labels if case.value is None), len(body.statements))
        self._blocks.append([])
        try:
            for statement in body.statements[start:]:
                outcome = yield from self._run_statement(statement)
                if outcome is not Outcome.NEXT:
                    return outcome
            return Outcome.NEXT
        finally:
            self._leave_block()

    def _is_case(self, case: syntax.Case, value: Value) -> bool:
        return case.value is not None and bool(self._full(self._facts.expression(case.value), read) == value)

    def _start_loop(self, init: syntax.Code | syntax.StateDecl | None) -> None:
        """What stands first in the parentheses of a `for`."""
        if isinstance(init, syntax.StateDecl):
            self._assign_state(init)
        elif init is not None and self._facts.text(init).strip():
            declarations, expression = self._facts.condition(init)
            for declaration in declarations:
                self._declare_plain(declaration)
            if expression is not None:
                self._full(expression, lambda result: None)

    def _for(self, statement: syntax.For) -> Flow:
        self._blocks.append([])
        try:
            self._start_loop(statement.init)
            return (yield from self._repeat(statement.condition, statement.step, statement.body))
        finally:
            self._leave_block()

    def _range_for(self, statement: syntax.RangeFor) -> Flow:
        self._blocks.append([])
        vector: Value = None
        is_own = False
        try:
            self._start_loop(statement.init)
            expression = self._facts.expression(statement.range)
            result = self._full(
                expression, lambda result: result if isinstance(result, Variable) else own(self, result)
            )
            vector, is_own = read(result), not isinstance(result, Variable)
            if not isinstance(vector, Vector):
                raise ModelFault("a range-for over what is no vector")
            return (yield from self._each(statement, vector))
        finally:
            if is_own:
                destroy(vector)
            self._leave_block()

    def _each(self, statement: syntax.RangeFor, vector: Vector) -> Flow:
        place = 0
        while place < len(vector.items):
            item = vector.items[place]
            place += 1
            self._blocks.append([])
            try:
                (name,) = (local.name for local in statement.decl_locals)
                if "&" in self._facts.text(statement.decl):
                    self._blocks[-1].append((name, item, False))
                else:
                    self._declare(name, item.type, own(self, item))
                outcome = yield from self._run_block(statement.body)
            finally:
                self._leave_block()
            if outcome is Outcome.BREAK:
                return Outcome.NEXT
            if outcome is Outcome.RETURN:
                return outcome
        return Outcome.NEXT

    # -----------------------------------------------------------------------------------------------------------
    # Errors and results

    def _try(self, statement: syntax.Try) -> Flow:
        try:
            return (yield from self._run_block(statement.body))
        except Raised as raised:
            clause = self._clause_for(statement, raised)
            if clause is None:
                raise
            error = raised if clause.kind is syntax.CatchKind.OTHER else Raised(raised.error)
        self._blocks.append([])
        self._handled.append(error)
        try:
            if clause.name is not None:
                self._declare(clause.name, "Error", error.foreign[1] if error.foreign is not None else error.error)
            return (yield from self._run_block(clause.body))
        finally:
            self._handled.pop()
            self._leave_block()

    def _clause_for(self, statement: syntax.Try, raised: Raised) -> syntax.Catch | None:
        """The first clause that fits; an Error clause takes exceptions of other types only if no other clause does."""
        for clause in statement.catches:
            match clause.kind:
                case syntax.CatchKind.ALL:
                    return clause
                case syntax.CatchKind.ERROR if raised.foreign is None:
                    return clause
                case syntax.CatchKind.OTHER if raised.foreign is not None and clause.type is not None:
                    if bare(self._facts.text(clause.type)) == raised.foreign[0]:
                        return clause
        errors = (clause for clause in statement.catches if clause.kind is syntax.CatchKind.ERROR)
        return next(errors, None)

    def _throw(self, statement: syntax.Throw) -> None:
        if statement.value is None:
            handled = self._handled[-1]
            if handled is None:
                raise ModelFault("`throw;` after a wait")
            raise handled
        error = self._full(self._facts.expression(statement.value), read)
        if not isinstance(error, Error):
            raise ModelFault("`throw` without an Error")
        raise Raised(error)

    def _return(self, statement: syntax.Return) -> None:
        self._is_never = statement.is_never
        if statement.value is None or statement.is_never:
            return
        assert self._actor.result_type is not None
        type_ = self._facts.text(self._actor.result_type)

        def keep(result: Value) -> Value:
            return own(self, self.convert(type_, result)) if self.cell.futures else None

        self.cell.value = self._full(self._facts.expression(statement.value), keep)
