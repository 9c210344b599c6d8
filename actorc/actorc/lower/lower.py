"""From an actor's body to the form that both back ends print (lowered.py).

A plain local is destroyed at the next wait that is executed, and C++ allows no jump into its scope. So a run of
statements that begins with a local is printed inside braces which end where the actor may suspend:

    { int n = 5;                                     // the run: here locals may be in scope
      wait__ = flow::operand<1>(room__).wait(delay(n)); } // evaluated while they live
    if (!actor__.ready(wait__, from__)) { suspend }  // here they are gone

If a statement in a run waits on only some of its paths, it is printed twice. In the run (prefix.py), each wait that can
come first is evaluated, and a jump leaves the run. After the run, only the code that those jumps reach is printed. So a
wait may be evaluated in several places, but there is one place where it suspends, and no local is in scope there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from actorc import syntax
from actorc.check.sections import sections_of
from actorc.lower.lowered import (
    Assign,
    Body,
    Branches,
    Code,
    If,
    IfFailed,
    Label,
    LabelName,
    Node,
    Return,
    Scope,
    Suspend,
    Switch,
)
from actorc.lower.prefix import PrefixLowering
from actorc.lower.states import assigned
from actorc.lower.tries import Declared, Items, Nodes, locals_of
from actorc.records import dataclass, field, replace
from actorc.source import Source, Text
from actorc.spelling import declares, is_trivial
from actorc.syntax import Hold, Local, ResultKind, Span, Statement

_MOVE = re.compile(r"\bmove\s*\(\s*(\w+)\s*\)")

Lowered = tuple[Nodes, bool]  # and whether control comes to the end
Merges = Mapping[int, LabelName]  # positions in a list that are also the target of a jump


def lower(actor: syntax.Actor, source: Source) -> Body:
    """The body of a definition."""
    assert actor.body is not None
    lowering = _Lowering(actor, actor.body, source)
    body = lowering.body(actor.body)
    repeated = lowering.repeated_statics()
    return _Lowering(actor, actor.body, source, repeated).body(actor.body) if repeated else body


def moved_returns(actor: syntax.Actor, source: Source) -> set[int]:
    """Where the `return`s of a definition begin that move the object which they name, since it is the actor's own."""
    assert actor.body is not None
    lowering = _Lowering(actor, actor.body, source)
    lowering.body(actor.body)
    return lowering.moved_returns


class _Lowering(PrefixLowering):
    """Statements as they stand where no local is in scope.

    `reachable` always means that control reaches the statement from above. If it does not, only the code that jumps out
    of a run reach is lowered, which may be nothing.
    """

    def body(self, block: syntax.Block) -> Body:
        moves = _MOVE.finditer(self._source.text, block.span.start, block.span.end)
        self._moved = {match[1]: match.start() for match in moves}
        for each in syntax.walk(block):
            if isinstance(each, syntax.Return) and each.value is not None:
                self._returned[self._text(each.value).text] = each.span.start
        nodes, ends = self._list(block.statements, reachable=True)
        chooses = [len(wait.whens) for wait in self._numbers if isinstance(wait, syntax.Choose)]
        return Body(
            states=self._states,
            code=self._scope(block, nodes),
            ends=ends,
            waits=bool(self._numbers),
            choose_size=max(chooses, default=0),
            uses_error=self._uses_error,
            statics=tuple(
                (static.storage(f"static{number}__"), f"static{number}__")
                for number, static in enumerate(self._shared.values(), 1)
            ),
            uses_exception=self._uses_exception,
            propagates=bool(self._numbers) and not self._handles_waits,
        )

    def _list(self, statements: Items, *, reachable: bool) -> Lowered:
        items: list[Statement] = []
        for statement in statements:
            items.append(statement)
            if isinstance(statement, syntax.Wait):
                items += self._result_local(statement.wait)
        return self._items(items, 0, reachable, {})

    def _block(self, block: syntax.Block, *, reachable: bool) -> tuple[Scope, bool]:
        nodes, ends = self._list(block.statements, reachable=reachable)
        return self._scope(block, nodes), ends

    def _items(self, items: list[Statement], start: int, reachable: bool, merges: Merges) -> Lowered:
        """The items from `start` to the end of their block."""
        nodes: Nodes = []
        for index in range(start, len(items)):
            item = items[index]
            if index in merges:
                nodes.append(Label(self._line(item), merges[index]))
                reachable = True
            if reachable and self._opens_run(item):
                run, ends = self._run(items, index, merges)
                return nodes + run, ends
            lowered, reachable = self._statement(item, reachable)
            nodes += lowered
        if len(items) in merges:
            nodes.append(Label(self._end_line(items[-1]), merges[len(items)]))
            reachable = True
        return nodes, reachable

    def _is_jumped_into(self, item: Statement) -> bool:
        return any(
            inner in self._numbers and self._waiting_label(inner) in self._jumped_to for inner in syntax.walk(item)
        )

    # -----------------------------------------------------------------------------------------------------------
    # Runs

    def _opens_run(self, item: Statement) -> bool:
        return bool(locals_of(item)) or self._declares_in_condition(item)

    def _declares_in_condition(self, item: Statement) -> bool:
        """Whether a variable of the `if` or `switch` itself is in scope at its waits."""
        if not isinstance(item, syntax.If | syntax.Switch) or not self._reach.suspends(item):
            return False
        return declares(self._source[item.condition.span])

    def _run(self, items: list[Statement], start: int, merges: Merges) -> Lowered:
        """The items from `start`, where a run begins, to the end of their block."""
        ahead = {place: label for place, label in merges.items() if place > start}  # the one at `start` is printed
        run = _Run(items, ahead)  # the list is shared: a copy for each run would take the square of the length
        mark = len(self._visible)
        index = start
        while index < len(items) and self._extend(run, index):
            index += 1
        if index == len(items):
            run.leave_for(index, self._new("end"))
        del self._visible[mark:]
        last = items[min(index, len(items) - 1)]
        line = self._end_line(last.whens[-1].wait if isinstance(last, syntax.Choose) else last)

        jump = None if run.target is None else self._goto(line, run.target)
        rest, ends = self._items(items, start, False, run.merges)
        if jump is not None and not (rest and _label_of(rest[0]) == run.target):
            run.nodes.append(jump)
        if len(items) not in merges and all(isinstance(node, Label) for node in rest):
            return run.nodes, ends  # the run ends with its block, and needs no braces of its own
        return [Scope(self._line(items[start]), tuple(run.nodes), line), *rest], ends

    def _extend(self, run: _Run, index: int) -> bool:
        """Adds the next item to the run; false if the run ends with it."""
        item = run.items[index]
        if isinstance(item, syntax.Wait | syntax.Choose):
            run.nodes += self._prefix(item)[:-1]  # without the jump: that may not be needed
            run.target = self._waiting_label(item)
            return False
        if isinstance(item, syntax.LOOPS) and run.is_trivial and run.locals and self._reach.suspends(item):
            if isinstance(item, syntax.For) and item.init is not None:  # may use the locals
                run.nodes.append(Code(self._line(item), (*self._init(item), ";")))
                run.items[index] = replace(item, init=None)
            run.leave_for(index, self._new("after"))
            return False
        run.nodes += self._prefix(item)
        run.locals += locals_of(item)
        self._visible += locals_of(item)
        if not self._reach.completes_before_wait(item):
            return False
        if not run.locals or (run.is_trivial and self._reach.completes_after_wait(item)):
            run.leave_for(index + 1, self._new("after"))
            return False
        return True

    # -----------------------------------------------------------------------------------------------------------
    # Statements

    def _statement(self, item: Statement, reachable: bool) -> Lowered:
        if not self._reach.suspends(item):
            if not reachable:
                return [], False
            return self._prefix(item), bool(self._reach.flow(item).normal)
        if not reachable and not self._is_jumped_into(item):
            return [], False
        match item:
            case syntax.Wait():
                return self._wait(item, reachable), not item.returns
            case syntax.Choose():
                return self._choose(item, reachable)
            case syntax.Block():
                scope, ends = self._block(item, reachable=reachable)
                return [scope], ends
            case syntax.If():
                return self._if_statement(item, reachable)
            case syntax.Try():
                return self._try_statement(item, reachable)
            case syntax.Switch():
                return self._switch_statement(item, reachable)
            case syntax.While() | syntax.For() if item.condition and declares(self._source[item.condition.span]):
                return self._statement(_without_declaration(item, item.condition), reachable)
            case _:  # raises for what is none
                loop = self._loop(item, lambda body: self._block(body, reachable=True)[0], with_init=reachable)
                return loop, bool(self._reach.flow(item).normal)

    def _wait(self, item: syntax.Wait, reachable: bool) -> Nodes:
        line = self._end_line(item)
        nodes: Nodes = [self._operand(item.wait)] if reachable else []
        nodes.append(Suspend(line, self._numbers[item], self._waiting_label(item), is_choose=False))
        drops = item.wait.result is None and not item.wait.is_stream
        nodes.append(self._if_failed(line, self._take("passed", item.wait) if drops else ""))
        return nodes if drops else nodes + self._taken(item.wait)

    def _if_failed(self, line: int, passed: str = "") -> IfFailed:
        self._handles_waits = self._handles_waits or self._handler is not None or self._has_typed_clause
        return IfFailed(line, self._handler, passed, self._has_typed_clause)

    def _take(self, function: str, wait: syntax.WaitExpr, type_: str = "") -> str:
        """A call of what flow/wait/operation_room.h has for a wait that has been settled."""
        place = self._places[wait]
        arguments = f"{place.number}, {type_}" if type_ else place.number
        return f"flow::{function}<{arguments}>({place.to_take}, wait__)"

    def _taken(self, wait: syntax.WaitExpr) -> Nodes:
        """What becomes of the value, unless a local is bound to it."""
        line = self._end_line(wait)
        result = wait.result
        if result is None:
            text = f"(void){self._take('takeNext', wait, 'flow::Void')}" if wait.is_stream else self._take("drop", wait)
            return [Code(line, (f"{text};",))]
        value = self._value(wait)
        if result.kind is ResultKind.STATE:
            return [Code(line, (*assigned(self._variables[result.name]), f" = {value};"))]
        if result.target is not None:
            equals = self._source.text.rfind("=", 0, wait.word.start)
            pieces = (self._text(result.target), self._source.text_of(Span(equals, equals + 1)))
            return [Assign(line, self._shown(wait), pieces, value)]
        if result.kind is not ResultKind.RETURN:
            return []
        # gcc says of a coroutine that the last word of what it returns is wrong: it stands where the wait does.
        last = replace(self._source.text_of(wait.word), text="wait__)")
        return [Return(line, self._shown(wait), (value.removesuffix(last.text), last))]

    def _value(self, wait: syntax.WaitExpr) -> str:
        """The result by value."""
        return self._take("takeNext" if wait.is_stream else "takeValue", wait, self._result_type(wait))

    def _result_local(self, wait: syntax.WaitExpr) -> list[Statement]:
        """The local that holds what was waited for: an object of its own, if the source moves or returns it."""
        result = wait.result
        if result is None or result.kind not in (ResultKind.LOCAL, ResultKind.UNPACK):
            return []
        is_unpacked = result.kind is ResultKind.UNPACK
        name = f"[{', '.join(result.names)}]" if is_unpacked else result.name
        type_ = "auto" if result.type is None else self._type(result.type)
        is_trivial_ = result.type is not None and is_trivial(type_)
        is_moved = any(self._moved.get(each, -1) >= wait.span.end for each in result.names)
        is_moved = is_moved or not (is_trivial_ or is_unpacked or self._returned.get(name, -1) < wait.span.end)
        hold = Hold.OWN if is_moved and result.hold is Hold.VALUE else result.hold
        before = holder = ""
        if hold is Hold.OWN or (wait.is_stream and hold is Hold.VALUE):
            reference, value = type_, self._value(wait)
        elif wait.is_stream:
            reference, value = f"{type_} const&", self._value(wait)
        else:
            holder = f"{result.names[0]}__"
            take, reference = ("takeLocal", "auto&") if hold is Hold.VALUE else ("take", f"{type_} const&")
            before = f"auto {holder} = {self._take(take, wait, self._result_type(wait))}; "
            value = f"{holder}.get()"
        names: str | Text = name
        if is_unpacked:  # of a value that has other parts the compiler complains there
            bracket = self._source.text.rfind("[", 0, wait.word.start)
            names = replace(self._source.text_of(Span(bracket, bracket + 1)), text=name)
        pieces = (f"{before}[[maybe_unused]] {reference} ", names, f" = {value};")
        locals_ = tuple(Local(each, is_trivial_, is_unpacked, holder=holder) for each in result.names)
        return [Declared(Span(wait.span.end - 1, wait.span.end), locals_, pieces)]

    def _choose(self, item: syntax.Choose, reachable: bool) -> Lowered:
        line = self._end_line(item.whens[-1].wait)
        nodes: Nodes = [self._choose_operands(item)] if reachable else []
        waits = [when.wait for when in item.whens]
        branches = tuple((-1 if wait.is_stream else 1) * self._places[wait].number for wait in waits)
        number, label = self._numbers[item], self._waiting_label(item)
        nodes.append(Suspend(line, number, label, is_choose=True, branches=branches))
        nodes.append(self._if_failed(line))
        bodies = []
        any_ends = False
        for when in item.whens:
            local = self._result_local(when.wait)
            body, ends = self._list([*local, *when.body.statements], reachable=True)
            bodies.append(self._scope(when.body, self._taken(when.wait) + body))
            any_ends = any_ends or ends
        nodes.append(Branches(line, tuple(bodies)))
        return nodes, any_ends

    def _if_statement(self, item: syntax.If, reachable: bool) -> Lowered:
        then, ends = self._block(item.then, reachable=reachable)
        orelse = None
        if item.orelse is None:
            ends = ends or reachable
        else:
            orelse, else_ends = self._block(item.orelse, reachable=reachable)
            ends = ends or else_ends
        if reachable or item.is_constexpr:
            return [self._if(item, then, orelse)], ends
        if orelse is None or not orelse.body:
            return [then], ends
        if not then.body:
            return [orelse], ends
        return [If(self._line(item), ("if (false)",), then, orelse)], ends

    def _switch_statement(self, item: syntax.Switch, reachable: bool) -> Lowered:
        """Without labels if only jumps arrive in it: then it is there for its `break`s."""
        nodes: Nodes = [] if reachable else [Code(self._line(item), ("default:",))]
        falls = False
        outer, self._in_switch = self._in_switch, True
        for section in sections_of(item, self._source):
            arrives = reachable and bool(section.labels)
            inner, falls = self._list(section.statements, reachable=arrives or falls)
            nodes += self._labels(section) if reachable else []
            nodes += self._section(section, inner, falls, with_labels=reachable)
        self._in_switch = outer
        if reachable:
            switch = self._switch(item, nodes)
        else:
            switch = Switch(self._line(item), ("switch (0)",), self._scope(item.body, nodes))
        return [switch], bool(self._reach.flow(item).normal)

    def _try_statement(self, item: syntax.Try, reachable: bool) -> Lowered:
        entered = reachable or self._is_jumped_into(item.body)
        body_ends = False

        def lower_body(block: syntax.Block) -> Scope:
            nonlocal body_ends
            scope, body_ends = self._block(block, reachable=reachable)
            return scope

        body, region, labels = self._try_body(item, lower_body)
        handlers_end = False

        def handler_list(statements: Items) -> Nodes:
            nonlocal handlers_end
            nodes, ends = self._list(statements, reachable=entered)
            handlers_end = handlers_end or ends
            return nodes

        if entered:
            return self._try(item, region, body, labels, handler_list), body_ends or handlers_end
        nodes: Nodes = []
        for catch, label in zip(item.catches, labels, strict=True):
            scope = self._handler_scope(item, catch, label, handler_list)
            nodes.append(If(self._line(catch), ("if (false)",), scope, None) if nodes else scope)
        return nodes, handlers_end


@dataclass(slots=True)
class _Run:
    """Statements in braces, and where control goes on after them."""

    items: list[Statement]  # of the block
    merges: dict[int, LabelName]
    nodes: Nodes = field(default_factory=list)
    locals: list[Local] = field(default_factory=list)
    target: LabelName | None = None  # None: control does not come to the end of the run

    @property
    def is_trivial(self) -> bool:
        """Whether the moment of the locals' destruction cannot be observed."""
        return all(local.trivial for local in self.locals)

    def leave_for(self, index: int, label: LabelName) -> None:
        """The run goes on with the item at `index`, outside its braces."""
        self.target = self.merges.setdefault(index, label)


def _label_of(node: Node) -> LabelName | None:
    return node.label if isinstance(node, Label | Suspend) else None


def _without_declaration(item: syntax.While | syntax.For, condition: syntax.Code) -> Statement:
    """`while (T x = f()) BODY` as `loop { if (T x = f()) BODY else break; }`."""
    end = Span(item.body.span.end - 1, item.body.span.end)
    leave = syntax.Block(end, (syntax.Break(end),))
    body = syntax.Block(item.body.span, (syntax.If(item.span, condition, False, item.body, leave),))
    if isinstance(item, syntax.For):
        return replace(item, condition=None, body=body)
    return syntax.Loop(item.span, body)
