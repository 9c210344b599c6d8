"""The body of an actor, statement by statement."""

from __future__ import annotations

import re
from collections.abc import Sequence

from actorc import syntax
from actorc.check.captures import capture_lists
from actorc.check.sections import sections_of
from actorc.emit.captures import spelt_captures
from actorc.lower.lower import moved_returns
from actorc.records import replace
from actorc.spelling import is_void as is_void_type
from actorc.spelling import is_void_value
from actorc.syntax import Block, ResultKind, Span, Statement
from actorc_migrate.chooses import Chooses
from actorc_migrate.common import Common, Place, UnconvertibleError
from actorc_migrate.handlers import Handlers
from actorc_migrate.locals import Locals
from actorc_migrate.notes import Hazard
from actorc_migrate.states import States
from actorc_migrate.waits import Waits


class Body:
    def __init__(self, common: Common) -> None:
        self._common = common
        self._layout = common.layout
        self._actor = common.actor
        self._body = common.body
        self._words = common.words
        self._source = common.source
        self._settings = common.settings
        self._edits = common.edits
        self._found = common.found
        self._library = common.library
        self._reach = common.reach
        self._locals = Locals(common)
        self._states = States(common, self._locals)
        self._plans = self._states.plans
        self._moved_returns = moved_returns(common.actor, common.source)
        self._waits = Waits(common, self._locals, self._plans)
        self._chooses = Chooses(common, self._locals, self._waits, self._plans)
        self._handlers = Handlers(common, self._inner_block)

    def convert(self) -> None:
        """Edits the whole body; raises UnconvertibleError if the actor must stay one."""
        self._states.plan()
        self._name_frame()
        self._list(self._body.statements, Place(self._body))
        if not any(isinstance(inner, syntax.Wait | syntax.Choose | syntax.Return) for inner in syntax.walk(self._body)):
            self._make_coroutine()
        self._captures()

    def _name_frame(self) -> None:
        """THIS is the address of what runs: of the frame."""
        places = [
            (index, name) for name in ("THIS", "THIS_ADDR") for index in self._common.places(name, self._body.span)
        ]
        if not places:
            return
        if self._settings.is_foundationdb:
            raise UnconvertibleError(f"its body names {places[0][1]}, the object of the actor")
        self._found.count("THIS")
        name = self._common.unused("self")
        self._layout.first_in(self._body, f"flow::coro::Self {name}; co_await {name};")
        for index, word in places:
            frame = f"{name}->frame()"
            text = frame if word == "THIS" else f"reinterpret_cast<std::uintptr_t>({frame})"
            self._edits.replace(self._words.span(index), text)

    def _make_coroutine(self) -> None:
        """Without a co_await or co_return C++ would take it for a plain function."""
        result = self._common.text(self._actor.result_type)
        is_void = self._actor.result_type is None or is_void_type(result)
        last = (
            "co_return;" if is_void else f"co_return co_await {self._library}Future<{result}>({self._library}Never());"
        )
        close = self._body.span.end - 1
        if self._layout.is_first_in_line(close):
            self._edits.insert(
                self._source.line_start(self._source.line(close)),
                f"{self._layout.inner_indent(self._body)}{last}{self._layout.newline}",
            )
        else:
            self._edits.insert(close, f" {last} ", rank=-1)

    def _captures(self) -> None:
        """`[this]` of a lambda is what the actor keeps."""
        kept = {parameter.name for parameter in self._actor.parameters} | set(self._plans)
        lists = list(capture_lists(self._words, self._body.span))
        texts = self._words.texts
        with_this = [
            found for found in lists if any(texts[entry[0]] in ("this", "=") for entry in found.entries if entry)
        ]
        for span, text in spelt_captures(self._source, self._words, with_this, kept):
            self._edits.replace(span, text)

    def _list(self, statements: Sequence[Statement], place: Place) -> None:
        for index, statement in enumerate(statements):
            is_followed = self._locals.is_waited_past(statements, index)
            holders = self._statement(statement, place, is_followed)
            if not self._reach.completes_before_wait(statement):
                place = replace(place, dying=())
            if holders:
                place = replace(place, dying=place.dying + holders)

    def _inner_block(self, block: Block, place: Place, *, dying: tuple[str, ...] = (), in_switch: bool = False) -> None:
        self._list(block.statements, place.inside(block, dying=dying, in_switch=in_switch))

    def _statement(self, statement: Statement, place: Place, is_followed: bool) -> tuple[str, ...]:
        """Returns the holders of what it declares that a later wait ends."""
        match statement:
            case syntax.Plain():
                self._plain(statement)
                return self._locals.dying_locals(statement, place) if is_followed else ()
            case syntax.Wait():
                return self._waits.wait(statement, place, is_followed)
            case syntax.StateDecl():
                self._states.state(statement, place)
            case syntax.Choose():
                self._chooses.choose(statement, place)
                for when in statement.whens:
                    holder = self._chooses.holders.get(when.body)
                    self._inner_block(when.body, place, dying=(holder,) if holder else ())
            case syntax.Try():
                self._handlers.convert_try(statement, place)
            case syntax.Return():
                self._return(statement, place)
            case syntax.Throw():
                self._handlers.convert_throw(statement, place)
            case syntax.If():
                dying = self._locals.open_condition(statement, statement.condition, place)
                self._inner_block(statement.then, place, dying=dying)
                if statement.orelse is not None:
                    self._inner_block(statement.orelse, place, dying=dying)
            case syntax.Switch():
                dying = self._locals.open_condition(statement, statement.condition, place)
                self._switch(statement, place, dying)
            case syntax.Block():
                if not self._layout.has_braces(statement):
                    self._header_states(statement)
                self._inner_block(statement, place)
            case syntax.Break() | syntax.Continue() | syntax.Case():
                pass
            case _:
                self._loop_statement(statement, place)
        return ()

    def _plain(self, statement: syntax.Plain) -> None:
        """Copied, but for the macro `loop` in its lambdas."""
        first, end = self._words.between(statement.span)
        for index in range(first, end):
            if self._words.texts[index] == "loop" and self._words.texts[index + 1] == "{":
                self._edits.replace(self._words.span(index), "while (true)")

    def _return(self, statement: syntax.Return, place: Place) -> None:
        self._found.count("return")
        keyword = self._words.span(self._words.first(statement.span))
        value = self._common.text(statement.value)
        result = self._common.text(self._actor.result_type)
        if statement.is_never:
            self._never(statement)
        elif statement.value is None or (is_void_type(result) and is_void_value(value)):
            if self._common.ends_silently(statement):
                self._layout.remove(statement.span)
                return
            end = keyword.end if statement.value is None else statement.value.span.end
            self._edits.replace(Span(keyword.start, end), "co_return")
            self._common.void_values.ends.append(end)
        elif is_void_type(result):
            self._common.make_room(statement, place)
            behind = "" if self._common.ends_silently(statement) else "; co_return"
            end = statement.value.span.end
            self._edits.replace(Span(keyword.start, end), "(void)(", statement.value.span, f"){behind}")
            self._common.void_values.ends.append(end)
        else:
            plan = self._plans.get(value)
            is_held = any(re.fullmatch(rf"{re.escape(value)}Local\d*", holder) for holder in place.dying)
            is_alias = is_held or (plan is not None and plan.is_alias)
            self._edits.replace(keyword, "co_return")
            if is_alias and statement.span.start in self._moved_returns:
                self._edits.replace(statement.value.span, f"std::move({value.strip('() ')})")

    def _never(self, statement: syntax.Return) -> None:
        self._found.count("return Never()")
        if self._settings.is_foundationdb:
            self._common.note(
                Hazard.RETURN_NEVER,
                statement.span,
                "the coroutine keeps all it holds while it waits forever",
                "return Never() from a plain function, and let a coroutine do what comes before",
            )
            result = self._common.text(self._actor.result_type)
            if self._actor.result_type is None or is_void_type(result):
                made = f"co_await {self._library}Future<{self._library}Void>({self._library}Never());"
            else:  # whatever never comes must still be returned
                made = f"co_return co_await {self._library}Future<{result}>({self._library}Never());"
            self._edits.replace(statement.span, made)
        else:
            self._edits.replace(statement.span, "co_await flow::coro::never();")

    # -----------------------------------------------------------------------------------------------------------

    def _loop_statement(self, statement: Statement, place: Place) -> None:
        match statement:
            case syntax.Loop(body=body):
                self._found.count("loop")
                keyword = self._words.span(self._words.first(statement.span))
                self._edits.replace(keyword, "while (true)")
                self._inner_block(body, place)
            case syntax.While(condition=condition, body=body):
                self._conditional_loop(condition, "true", body, place)
            case syntax.For(condition=condition, body=body):
                if isinstance(statement.init, syntax.StateDecl):
                    self._header_state(statement.init, place)
                if condition is None:
                    self._inner_block(body, place)
                else:
                    self._conditional_loop(condition, "", body, place)
            case syntax.RangeFor(body=body):
                if isinstance(statement.init, syntax.StateDecl):
                    self._header_state(statement.init, place)
                opened = self._locals.open_element(statement)
                if opened is None:
                    self._inner_block(body, place)
                else:
                    self._layout.first_in(body, *opened[0])
                    self._inner_block(body, place, dying=(opened[1],))
            case syntax.DoWhile(body=body):
                self._inner_block(body, place)
            case _:
                raise syntax.unknown(statement)

    def _header_state(self, decl: syntax.StateDecl, place: Place) -> None:
        """`for (state int i = 0; ...)`"""
        self._states.state(decl, place)

    def _header_states(self, block: Block) -> None:
        """`for (state int i = 0, n = f(); ...)`: each of the states may become something else, so they go before it."""
        first, last, loop = block.statements[0], block.statements[-2], block.statements[-1]
        self._edits.replace(Span(block.span.start, first.span.start), "{ ")
        if isinstance(loop, syntax.RangeFor):
            self._edits.insert(loop.decl.span.start, "for (")
        else:
            self._edits.insert(last.span.end, " for (;")
        self._edits.insert(block.span.end, " }", rank=-1)

    def _conditional_loop(self, condition: syntax.Code, endless: str, body: Block, place: Place) -> None:
        opened = self._locals.open_loop_condition(condition, body)
        if opened is None:
            self._inner_block(body, place)
            return
        self._edits.replace(condition.span, endless)
        self._layout.first_in(body, *opened[0])
        self._inner_block(body, place, dying=(opened[1],))

    def _switch(self, statement: syntax.Switch, place: Place, dying: tuple[str, ...]) -> None:
        """A section that declares something gets a block, since C++ lets no label be jumped to past a declaration."""
        inner = place.inside(statement.body, dying=dying, in_switch=True)
        for section in sections_of(statement, self._source):
            statements = list(section.statements)
            if any(self._declares(each) for each in statements):
                span = Span(statements[0].span.start, statements[-1].span.end)
                self._layout.wrap(span)
            self._list(statements, inner)

    def _is_declared_here(self, state: str) -> bool:
        plan = self._plans[state]
        return not plan.is_hoisted or bool(plan.holder)

    def _declares(self, statement: Statement) -> bool:
        if isinstance(statement, syntax.Wait):
            result = statement.wait.result
            if result is not None and result.is_state:
                return self._is_declared_here(result.name)
            return result is not None and result.kind in (ResultKind.LOCAL, ResultKind.UNPACK)
        if isinstance(statement, syntax.StateDecl):
            return self._is_declared_here(statement.name)
        return bool(isinstance(statement, syntax.Plain) and statement.locals)
