"""Hazards in the text of an actor, and the waits that need no helper.

wait(success(f));   ->  co_await f;        idiomatic
wait(store(x, f));  ->  x = co_await f;    idiomatic
wait(errorOr(f))    ->  co_await tryGet(f) idiomatic; coro::errorOr(f), or coro::ignore(f) if the result is unused
wait(self->f);      ->  co_await [&] { return self->f; }();  exact, for a library that does not keep what it awaits
"""

from __future__ import annotations

from actorc import syntax
from actorc.check.handlers import report_swallowing
from actorc.diagnostics import Diagnostics
from actorc.records import replace
from actorc.spelling import one_line
from actorc.syntax import File, Span
from actorc_migrate.common import Common
from actorc_migrate.notes import Hazard
from actorc_migrate.spelling import Operand, is_harmless

_OPEN = frozenset({"(", "[", "{"})
_CLOSE = frozenset({")", "]", "}"})


class Hazards:
    def __init__(self, common: Common) -> None:
        self._common = common
        self._actor = common.actor
        self._body = common.body
        self._words = common.words
        self._source = common.source
        self._settings = common.settings
        self._edits = common.edits
        self._found = common.found
        self._library = common.library
        self._reach = common.reach
        self._made = common.temporaries

    def look(self) -> None:
        """Adds to the edits and the notes of an actor with a converted body."""
        statements = list(syntax.walk(self._body))
        if any(isinstance(statement, syntax.Try) for statement in statements):
            self._swallowed()
        if self._settings.is_foundationdb:
            self._frame_lifetime()
            self._awaited_lvalues(statements)
        if not self._settings.is_exact:
            self._loop_states(statements)
            self._foreign_exceptions(statements)
            for statement in statements:
                if isinstance(statement, syntax.Wait) and not self._simplify(statement):
                    self._without_actor(statement.wait.operand.span, statement.wait.result is not None)
                    self._temporaries(statement.wait)

    # -----------------------------------------------------------------------------------------------------------

    def _swallowed(self) -> None:
        """H13, as the compiler finds it."""
        found = Diagnostics()
        report_swallowing(self._actor, self._body, File((), self._words), self._source, self._reach, found)
        found.drop_allowed(self._source)
        for each in found:
            self._common.note(Hazard.SWALLOWED_CANCEL, each.span, f"{each.message}, as in the actor")

    def _loop_states(self, statements: list[syntax.Statement]) -> None:
        """H10: states that are destroyed at the end of a block that is the body of a loop."""
        bodies = [
            block.span for each in statements if isinstance(each, syntax.LOOPS) for block in syntax.children(each)
        ]
        for place, note in enumerate(self._found.notes):
            span = note.span
            if note.hazard is Hazard.BLOCK_STATE and any(b.start <= span.start and span.end <= b.end for b in bodies):
                message = note.message.partition(";")[0].replace("its block", "each pass")
                message += "; as a state it lived until the next pass assigned to it, and to the end of the actor"
                self._found.notes[place] = replace(note, hazard=Hazard.LOOP_STATE, message=message)

    def _foreign_exceptions(self, statements: list[syntax.Statement]) -> None:
        """H18 of handlers that have moved."""
        told = {note.span for note in self._found.notes if note.hazard is Hazard.FOREIGN_EXCEPTION}
        for statement in statements:
            clauses = statement.catches if isinstance(statement, syntax.Try) else ()
            if any(clause.kind is syntax.CatchKind.ALL for clause in clauses):
                continue
            for clause in clauses:
                if clause.kind is syntax.CatchKind.ERROR and clause.head not in told:
                    current = "unknown_error()" if self._settings.is_foundationdb else "flow::currentError()"
                    instead = f"a `catch (...)` behind it that keeps {current}"
                    self._common.note(
                        Hazard.FOREIGN_EXCEPTION, clause.head, "exceptions that are no Error pass this handler", instead
                    )
                    break

    def _frame_lifetime(self) -> None:
        """H15: parameters with a destruction that can be observed."""
        if self._actor.result_type is None or self._actor.test_name is not None:
            return
        kept = [
            each
            for each in self._actor.parameters
            if not is_harmless(self._source[each.type.span], self._common.classes.harmless)
            and not each.name.startswith("__")
        ]
        if not kept:
            return
        names = [f"`{each.name}`" for each in kept]
        listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        ends = "lives" if len(names) == 1 else "live"
        first = kept[0]
        type_ = one_line(self._source[first.type.span])
        self._common.note(
            Hazard.FRAME_LIFETIME,
            first.span,
            f"{listed} {ends} as long as the future is held; an actor destroys them before its result is seen",
            f"`{type_} own(std::move({first.name}));` at the top, and `own` for `{first.name}` below",
        )

    # -----------------------------------------------------------------------------------------------------------

    def _awaited_lvalues(self, statements: list[syntax.Statement]) -> None:
        """H17: a future that other code can assign to while the coroutine waits for it."""
        own = self._own_names(statements)
        for statement in statements:
            is_alone = isinstance(statement, syntax.Wait) or (
                isinstance(statement, syntax.Choose) and len(statement.whens) == 1
            )
            if not is_alone:
                continue
            span = next(iter(syntax.waits_of(statement))).operand.span
            operand = Operand(self._words, span)
            if not operand.is_name or (len(operand.texts) == 1 and operand.texts[0] in own):
                continue
            copy = f"[&] {{ return {one_line(self._source[span])}; }}()"
            if self._settings.is_exact:
                self._edits.replace(span, "[&] { return ", span, "; }()")
            else:
                message = f"what `{one_line(self._source[span])}` is when the wait ends may be another future"
                self._common.note(Hazard.AWAITED_LVALUE, span, message, f"co_await {copy}")

    def _own_names(self, statements: list[syntax.Statement]) -> set[str]:
        """Variables to which nothing but the actor's own statements can assign, as far as its text shows."""
        names = {parameter.name for parameter in self._actor.parameters}
        for statement in statements:
            names |= {
                name for type_, name in syntax.declared_states(statement) if not self._source[type_.span].endswith("&")
            }
            if isinstance(statement, syntax.Plain):
                names |= {local.name for local in statement.locals}
            for wait in syntax.waits_of(statement):
                names |= set(() if wait.result is None else wait.result.names)
        texts = self._words.texts
        first, end = self._words.between(self._body.span)
        reached = {
            texts[i + 1] for i in range(first, end) if texts[i] == "&" and texts[i - 1] in ("(", ",", "=", "return")
        }
        return names - reached

    # -----------------------------------------------------------------------------------------------------------

    def _simplify(self, statement: syntax.Wait) -> bool:
        """H12: whether the wait was for success() or store(), which it does without."""
        wait = statement.wait
        if wait.result is not None or wait.is_stream:
            return False
        call = self._call(wait.operand.span)
        if call is None:
            return False
        name, given = call
        if name == "success" and len(given) == 1:
            self._edits.replace(wait.operand.span, *self._operand(given[0]))
            self._without_actor(given[0], is_wanted=False)
            message = "this awaits the future itself, copies its value, and ignores the copy"
            self._common.note(Hazard.SIMPLIFIED_WAIT, wait.operand.span, message, self._helper(wait))
            return True
        if name == "store" and len(given) == 2:
            self._edits.insert(statement.span.start, given[0], " = ")
            self._edits.replace(wait.operand.span, *self._operand(given[1]))
            target = one_line(self._source[given[0]])
            message = f"`{target}` is evaluated and assigned to after the wait; store() keeps a reference to it"
            self._common.note(Hazard.SIMPLIFIED_WAIT, wait.operand.span, message, self._helper(wait))
            return True
        return False

    def _without_actor(self, span: Span, is_wanted: bool) -> None:
        """An operand that is `errorOr(f)` needs no actor for it."""
        call = self._call(span)
        if call is None or call[0] != "errorOr" or len(call[1]) != 1:
            return
        first, _ = self._words.between(span)
        named = Span(span.start, self._words.span(first + 2 if self._words.texts[first] == "flow" else first).end)
        if self._settings.is_foundationdb:
            self._edits.replace(named, f"{self._library}coro::{'errorOr' if is_wanted else 'ignore'}")
        else:
            self._edits.replace(named, self._source[named].replace("errorOr", "tryGet"))

    def _helper(self, wait: syntax.WaitExpr) -> str:
        return f"co_await {one_line(self._source[wait.operand.span])};"

    def _operand(self, span: Span) -> list[str | Span]:
        return ["(", span, ")"] if Operand(self._words, span).needs_parentheses else [span]

    def _call(self, span: Span) -> tuple[str, list[Span]] | None:
        """Of `success(f)`, `store(x, f)` or `errorOr(f)`: the name, and the arguments."""
        first, end = self._words.between(span)
        texts = self._words.texts
        if texts[first : first + 2] == ["flow", "::"]:
            first += 2
        if texts[first] not in ("success", "store", "errorOr") or texts[first + 1] != "(" or texts[end - 1] != ")":
            return None
        starts, depth = [first + 2], 0
        for index in range(first + 1, end):
            depth += (texts[index] in _OPEN) - (texts[index] in _CLOSE)
            if depth == 0 and index < end - 1:
                return None  # something follows the call
            if depth == 1 and texts[index] == ",":
                starts.append(index + 1)
        stops = [*(start - 1 for start in starts[1:]), end - 1]
        if any(stop <= start for start, stop in zip(starts, stops, strict=True)):
            return None
        pairs = zip(starts, stops, strict=True)
        return texts[first], [Span(self._words.starts[start], self._words.span(stop - 1).end) for start, stop in pairs]

    def _temporaries(self, wait: syntax.WaitExpr) -> None:
        """H19: objects that are made within the operand, but for what a lambda around it ends."""
        made = "" if Operand(self._words, wait.operand.span).is_wrapped else self._made.within(wait.operand.span)
        if made:
            self._common.note(
                Hazard.TEMPORARIES,
                wait.operand.span,
                f"what `{made}` makes lives until the wait has ended; an actor destroys it before the wait",
                f"co_await [&] {{ return {one_line(self._source[wait.operand.span])}; }}();",
            )
