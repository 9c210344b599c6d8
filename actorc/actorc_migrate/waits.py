"""Converts waits to co_awaits, and handles locals that a wait destroys."""

from __future__ import annotations

import re
from collections.abc import Mapping

from actorc import syntax
from actorc.records import dataclass, replace
from actorc.spelling import callable_type, is_void, one_line
from actorc.syntax import Hold, Result, ResultKind, Span, WaitExpr
from actorc_migrate.common import Common, Place
from actorc_migrate.edits import Part
from actorc_migrate.locals import Locals
from actorc_migrate.spelling import Operand
from actorc_migrate.states import Plan


@dataclass(frozen=True, slots=True)
class WaitSpans:
    """Where the parts of a wait stand."""

    keyword: Span
    open: Span
    close: Span


def _resets(holders: tuple[str, ...]) -> str:
    return " ".join(f"{holder}.reset();" for holder in reversed(holders))


class Waits:
    def __init__(self, common: Common, locals_: Locals, plans: Mapping[str, Plan]) -> None:
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
        self._locals = locals_
        self._plans = plans

    def parts_of(self, wait: WaitExpr) -> WaitSpans:
        texts = self._words.texts
        index = self._words.first(wait.operand.span) - 1
        open_ = index
        assert texts[open_] == "(" and texts[open_ - 1] in ("wait", "waitNext")
        _, close = self._words.between(wait.operand.span)
        assert texts[close] == ")"
        return WaitSpans(self._words.span(open_ - 1), self._words.span(open_), self._words.span(close))

    def operand(self, wait: WaitExpr) -> list[Part]:
        """With the comments around it."""
        parts = self.parts_of(wait)
        inside = Span(parts.open.end, parts.close.start)
        whole = self._layout.without_blanks(inside)
        before = self._source[Span(parts.keyword.end, parts.open.start)].strip()
        kept: list[Part] = [before + " "] if before else []
        ends_line = "//" in self._source[Span(wait.operand.span.end, whole.end)]
        return [*kept, whole, *([self._layout.newline + self._layout.indent(parts.keyword.start)] if ends_line else [])]

    def awaited(self, wait: WaitExpr, dying: tuple[str, ...]) -> list[Part]:
        """What stands behind `co_await`."""
        span = self.operand(wait)
        if self.is_never(wait) and not dying:
            return [self.typed_never(wait)]
        if dying:
            name = self._common.free("operand")
            return [f"[&] {{ auto {name} = ", *span, f"; {_resets(dying)} return {name}; }}()"]
        if self._is_apart(wait):
            return ["[&] { return ", *span, "; }()"]
        return ["(", *span, ")"] if Operand(self._words, wait.operand.span).needs_parentheses else span

    def _is_apart(self, wait: WaitExpr) -> bool:
        """Whether the operand must be evaluated before the co_await: what it makes besides the future is destroyed."""
        if not self._settings.is_exact or self._common.temporaries.surely_none(wait.operand.span):
            return Operand(self._words, wait.operand.span).is_wrapped
        self._found.count("operand with temporaries")
        return True

    def _evaluate_before(self, statement: syntax.Wait, place: Place) -> list[Part]:
        """`auto operand = f(g()); co_await std::move(operand);`: returns what stands behind the `co_await`."""
        wait = statement.wait
        self._common.make_room(statement, place)
        name = self._common.unused("operand")
        self._edits.keep(wait.operand.span)
        self._layout.before(statement.span.start, f"auto {name} = ", *self.operand(wait), ";")
        if place.dying:
            self._layout.before(statement.span.start, _resets(place.dying))
        return [f"std::move({name})"]

    def _is_own(self, wait: WaitExpr) -> bool:
        """Whether the operand is a variable that nothing but the actor's own statements can reach, so that one cannot
        tell whether a local is destroyed before it is read."""
        name = self._common.text(wait.operand)
        texts = self._words.texts
        first, end = self._words.between(self._body.span)
        if not name.isidentifier() or any(texts[i] == "[" and texts[i + 1] in ("&", "=") for i in range(first, end)):
            return False
        declared = {each.name for each in self._actor.parameters}
        declared |= {plan.name for plan in self._plans.values() if not plan.type.endswith("&")}
        return name in declared and all(map(self._keeps_to_itself, self._common.places(name, self._body.span)))

    def _keeps_to_itself(self, index: int) -> bool:
        """Whether a variable is not given away there: it is declared, assigned to, asked, or waited for."""
        texts = self._words.texts
        is_awaited = texts[index - 1] == "(" and texts[index - 2] in ("wait", "waitNext") and texts[index + 1] == ")"
        is_declared = texts[index - 1] == ">" and texts[index + 1] in (";", "=")
        return is_awaited or is_declared or (texts[index - 1] != "&" and texts[index + 1] == ".")

    def is_never(self, wait: WaitExpr) -> bool:
        """`T x = wait(Never())`: the awaited expression must name T."""
        has_type = wait.result is not None and wait.result.type is not None
        return has_type and self.says_never(wait)

    def says_never(self, wait: WaitExpr) -> bool:
        return re.fullmatch(r"(?:flow::)?Never\(\)", self._common.text(wait.operand)) is not None

    def typed_never(self, wait: WaitExpr) -> str:
        type_ = f"{self._library}Void" if wait.result is None else one_line(self._common.text(wait.result.type))
        return f"{self._library}Future<{type_}>({self._common.text(wait.operand)})"

    def wait(self, statement: syntax.Wait, place: Place, ends_locals: bool) -> tuple[str, ...]:
        """`ends_locals`: a wait follows while the result is in scope. Returns the holders that this makes."""
        wait = statement.wait
        self._found.count("waitNext" if wait.is_stream else "wait")
        parts = self.parts_of(wait)
        if place.dying and self._is_own(wait):
            self._common.make_room(statement, place)
            self._layout.before(statement.span.start, _resets(place.dying))
            place = replace(place, dying=())
        is_never = self.is_never(wait) and not place.dying
        if not place.in_switch and not is_never and (place.dying or self._is_apart(wait)):
            awaited = self._evaluate_before(statement, place)
        else:
            awaited = self.awaited(wait, place.dying)
        call = Span(parts.keyword.start, parts.close.end)
        value: list[Part] = ["co_await ", *awaited]
        result = wait.result
        if result is None:
            self._edits.replace(call, *value)
            return ()
        if result.kind is ResultKind.RETURN:
            self._return_awaited(statement, call, awaited, place)
            return ()
        if result.kind is ResultKind.STATE:
            self._state_result(wait, Span(wait.span.start, call.end), value, place)
            return ()
        if ends_locals and self._locals.may_tell_end(result) and not self._settings.is_exact:
            self._locals.note_local(result.names[0], wait.span)
        elif ends_locals and self._locals.may_tell_end(result):
            return self._dying_result(wait, Span(wait.span.start, call.end), value, place)
        self._edits.replace(call, *value)
        if result.kind in (ResultKind.LOCAL, ResultKind.UNPACK):
            type_ = "auto" if result.type is None else one_line(self._common.text(result.type))
            mark = self._common.unused_mark(type_, *result.names, declared=wait.span)
            if mark:
                self._edits.insert(wait.span.start, mark)
            self._hold(wait, result)
        return ()

    def _is_last(self, statement: syntax.Wait) -> bool:
        return statement is self._body.statements[-1] and not self._common.void_values.need_parameter

    def _return_awaited(self, statement: syntax.Wait, call: Span, awaited: list[Part], place: Place) -> None:
        keyword = self._words.span(self._words.first(statement.span))
        result = self._common.text(self._actor.result_type)
        if is_void(result):
            self._common.make_room(statement, place)
            behind = [] if self._is_last(statement) else ["; co_return"]
            self._edits.replace(Span(keyword.start, call.end), "co_await ", *awaited, *behind)
            self._common.void_values.ends.append(call.end)
            return
        self._edits.replace(keyword, "co_return")
        self._edits.replace(call, "co_await ", *awaited)

    def _hold(self, wait: WaitExpr, result: Result) -> None:
        """`auto& x` cannot be bound to what co_await gives, `auto const& x` can."""
        if result.hold is not Hold.REFERENCE:
            return
        first, end = self._words.between(wait.span)
        texts = self._words.texts
        for index in range(first, end):
            if texts[index] == "&" and "const" not in texts[first:index]:
                self._edits.insert(self._words.starts[first], "const ", rank=1)
                return
            if texts[index] in ("=", "["):
                return

    # -----------------------------------------------------------------------------------------------------------

    def _state_result(self, wait: WaitExpr, head: Span, value: list[Part], place: Place) -> None:
        """`state T x = wait(f)`: `head` reaches from `state` to the `)`."""
        self._found.count("state")
        result = wait.result
        assert result is not None and result.type is not None
        plan = self._plans[result.name]
        if not plan.is_hoisted:
            mark = self._common.unused_mark(plan.type, result.name, declared=head)
            self._edits.replace(head, f"{mark}{plan.type} {result.name} = ", *value)
        elif plan.holder:
            is_named = self._common.uses(result.name, Span(head.end, self._body.span.end))
            alias = f"{plan.type}& {result.name} = " if is_named else ""
            self._edits.replace(head, f"{alias}{plan.holder}.emplace(", *value, ")")
        else:
            self._edits.replace(head, f"{result.name} = ", *value)

    def _dying_result(self, wait: WaitExpr, head: Span, value: list[Part], place: Place) -> tuple[str, ...]:
        result = wait.result
        assert result is not None
        self._found.count("local that a wait ends")
        name = result.names[0] if len(result.names) == 1 else "unpacked"
        holder = self._common.unused(f"{name}Local")
        left = self._source.text[wait.span.start : self._words.starts[self._words.first(wait.operand.span) - 2]]
        left = one_line(left).removesuffix("=").rstrip()
        if result.type is None or "auto" in left:
            made: list[Part] = [f"auto {holder} = std::make_optional(", *value, ")"]
        else:
            type_ = one_line(self._common.text(result.type))
            made = [f"std::optional<{callable_type(type_)}> {holder}(", *value, ")"]
        scope = Span(head.end, place.block.span.end)
        self._edits.replace(head, *made, *self._locals.alias(left, result.names, holder, scope))
        return (holder,)
