"""Statements as they stand where plain locals may be in scope: no jump may arrive there.

Code without waits is native C++ here, but for `return`, `throw` and `try`. A wait is evaluated and then left for with a
jump; what comes after it in its block is not printed here, but by lower.py, where no local is in scope.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from actorc import syntax
from actorc.catches import rethrows, takes_errors
from actorc.lowered import (
    ChooseOperands,
    Code,
    Goto,
    Handler,
    If,
    LabelName,
    Loop,
    NativeCatch,
    Node,
    Operand,
    Pieces,
    Raise,
    Region,
    Return,
    Scope,
    Switch,
    Text,
    Try,
)
from actorc.reach import Reach
from actorc.records import dataclass
from actorc.sections import Section, falls_through, sections_of
from actorc.source import Source
from actorc.spelling import is_trivial, is_void_value, one_line
from actorc.states import assignment, hidden_states, is_referring, range_value, state_variables
from actorc.syntax import CatchKind, Local, Statement


@dataclass(frozen=True, slots=True, eq=False)
class Declared(Statement):
    """Locals that no statement declares: a wait's result, a caught error, the element of a range."""

    pieces: Pieces
    locals: tuple[Local, ...]


Nodes = list[Node]
Items = Sequence[Statement]

_REWRITTEN = (
    syntax.Return, syntax.Throw, syntax.Try, syntax.StateDecl, syntax.Loop, syntax.Wait, syntax.Choose, Declared,
)  # fmt: skip


def _is_rewritten(item: Statement) -> bool:
    if isinstance(item, syntax.For | syntax.RangeFor) and isinstance(item.init, syntax.StateDecl):
        return True
    return isinstance(item, _REWRITTEN)


def locals_of(item: Statement) -> tuple[Local, ...]:
    return item.locals if isinstance(item, syntax.Plain | Declared) else ()


def _deduced(waits: Items) -> Iterator[syntax.WaitExpr]:
    """The waits whose type only C++ knows."""
    for item in waits:
        for wait in syntax.waits_of(item):
            if wait.result is not None and wait.result.type is None:
                yield wait


class PrefixLowering:
    """What both ways of printing a statement share, and the way that is for the inside of runs."""

    def __init__(self, actor: syntax.Actor, body: syntax.Block, source: Source) -> None:
        self._actor = actor
        self._source = source
        self._reach = Reach(source)
        self._hidden = hidden_states(actor, body, source, self._reach)
        self._states = state_variables(actor, body, source, self._hidden)
        self._variables = {state.name: state for state in self._states}
        self._movable = {parameter.name for parameter in actor.parameters}
        self._movable |= {state.name for state in self._states if not is_referring(state)}
        self._movable |= {capture.name for capture in actor.captures or () if not capture.is_reference}
        waits = [inner for inner in syntax.walk(body) if isinstance(inner, syntax.Wait | syntax.Choose)]
        self._numbers: dict[Statement, int] = {wait: number for number, wait in enumerate(waits, 1)}
        self._deduced = {wait: f"auto{number}__" for number, wait in enumerate(_deduced(waits), 1)}
        self._verbatim: dict[Statement, bool] = {}
        self._counts: dict[str, int] = {}
        self._jumped_to: set[LabelName] = set()
        self._handler: LabelName | None = None
        self._caught: tuple[CatchKind, str] | None = None  # what `throw;` passes on: its kind and the variable
        self._visible: list[str] = []  # locals in scope: they hide state variables
        self._uses_error = False
        self._uses_exception = False
        self._in_switch = False  # one that is not copied as it stands

    def _line(self, node: syntax.Node) -> int:
        return self._source.line(node.span.start)

    def _end_line(self, node: syntax.Node) -> int:
        return self._source.line(node.span.end - 1)

    def _text(self, node: syntax.Node) -> Text:
        return Text(self._source[node.span], self._line(node))

    def _type(self, code: syntax.Code) -> str:
        return one_line(self._source[code.span])

    def _new(self, kind: str) -> LabelName:
        self._counts[kind] = self._counts.get(kind, 0) + 1
        return LabelName(kind, self._counts[kind])

    def _goto(self, line: int, label: LabelName) -> Goto:
        self._jumped_to.add(label)
        return Goto(line, label)

    def _scope(self, block: syntax.Block, nodes: Nodes) -> Scope:
        return Scope(self._line(block), tuple(nodes), self._end_line(block))

    def _waiting_label(self, wait: Statement) -> LabelName:
        """Where the wait goes on once its operand has been evaluated."""
        kind = "choose" if isinstance(wait, syntax.Choose) else "wait"
        return LabelName(kind, self._numbers[wait])

    # -----------------------------------------------------------------------------------------------------------

    def _prefix_list(self, items: Items) -> Nodes:
        nodes: Nodes = []
        mark = len(self._visible)
        for item in items:
            nodes += self._prefix(item)
            self._visible += [local.name for local in locals_of(item)]
            if not self._reach.completes_before_wait(item):
                break
        del self._visible[mark:]
        return nodes

    def _prefix_block(self, block: syntax.Block) -> Scope:
        return self._scope(block, self._prefix_list(block.statements))

    def _prefix(self, item: Statement) -> Nodes:
        line = self._line(item)
        if self._in_switch and falls_through(item, self._source):
            if isinstance(item, syntax.Plain):
                return []  # printed where a label follows
        elif self._is_verbatim(item):
            return [Code(line, (self._text(item),))]
        match item:
            case syntax.Break():
                return [Code(line, ("break;",))]
            case syntax.Continue():
                return [Code(line, ("continue;",))]
            case Declared(pieces=pieces):
                return [Code(line, pieces)]
            case syntax.StateDecl():
                return [] if item.leading else [Code(line, (*self._assignment(item), ";"))]
            case syntax.Wait(wait=wait):
                return [self._operand(wait), self._goto(self._end_line(item), self._waiting_label(item))]
            case syntax.Choose():
                return [self._choose_operands(item), self._goto(self._end_line(item), self._waiting_label(item))]
            case syntax.Block():
                return [self._prefix_block(item)]
            case syntax.If():
                orelse = None if item.orelse is None else self._prefix_block(item.orelse)
                return [self._if(item, self._prefix_block(item.then), orelse)]
            case syntax.Try():
                return self._prefix_try(item)
            case syntax.Return():
                return [self._return(item)]
            case syntax.Throw():
                return [self._throw(item)]
            case syntax.Switch():
                return [self._prefix_switch(item)]
            case _:
                return self._loop(item, self._prefix_block, with_init=True)

    def _is_verbatim(self, item: Statement) -> bool:
        """Whether the statement is copied as it stands."""
        if isinstance(item, syntax.Break | syntax.Continue):
            return False  # may stand for none in the source
        known = self._verbatim.get(item)
        if known is None:
            known = self._verbatim[item] = not any(_is_rewritten(inner) for inner in syntax.walk(item))
        return known

    def _operand(self, wait: syntax.WaitExpr) -> Operand:
        function = "flow::pendingNext" if wait.is_stream else "flow::pending"
        if wait in self._deduced:
            head = f"{function}As<{self._deduced[wait]}>("
        else:
            head = f"{function}<{self._result_type(wait)}>("
        return Operand(self._line(wait), (head, self._text(wait.operand), ")"))

    def _result_type(self, wait: syntax.WaitExpr) -> str:
        """What the wait gives, as it may be spelt wherever its operand stands before."""
        if wait.result is None:
            return "flow::Void"
        if wait.result.type is None:
            return f"flow::Deduced<{self._deduced[wait]}>"
        return self._type(wait.result.type)

    def _choose_operands(self, item: syntax.Choose) -> ChooseOperands:
        return ChooseOperands(self._line(item), tuple(self._operand(when.wait) for when in item.whens))

    def _return(self, item: syntax.Return) -> Return:
        line = self._line(item)
        if item.value is None or item.is_never:
            return Return(line, None, is_never=item.is_never)
        value = self._text(item.value)
        is_moved = value.text in self._movable and value.text not in self._visible
        return Return(line, (value,), is_moved=is_moved, is_void_value=is_void_value(value.text))

    def _if(self, item: syntax.If, then: Scope, orelse: Scope | None) -> If:
        keyword = "if constexpr (" if item.is_constexpr else "if ("
        front = self._new("constexpr") if item.is_constexpr and self._reach.suspends(item) else None
        return If(self._line(item), (keyword, self._text(item.condition), ")"), then, orelse, front)

    def _throw(self, item: syntax.Throw) -> Node:
        if item.value is not None:
            return Raise(self._line(item), (self._text(item.value),), self._handler)
        assert self._caught is not None
        kind, name = self._caught
        if kind is CatchKind.OTHER:
            return Code(self._line(item), (f"{name}.rethrow();",))
        return Raise(self._line(item), (name,), self._handler)

    # -----------------------------------------------------------------------------------------------------------

    def _loop(self, item: Statement, lower_body: Callable[[syntax.Block], Scope], *, with_init: bool) -> Nodes:
        line = self._line(item)
        match item:
            case syntax.While():
                return [Loop(line, ("while (", self._text(item.condition), ")"), lower_body(item.body))]
            case syntax.DoWhile():
                tail = ("while (", self._text(item.condition), ");")
                return [Loop(line, ("do",), lower_body(item.body), tail)]
            case syntax.For():
                head = ("for (", *(self._init(item) if with_init else ()), "; ", *self._optional(item.condition), "; ")
                return [Loop(line, (*head, *self._optional(item.step), ")"), lower_body(item.body))]
            case syntax.RangeFor() if self._reach.suspends(item):
                return self._range_for(item, lower_body, with_init=with_init)
            case syntax.RangeFor():
                mark = len(self._visible)
                self._visible += [local.name for local in item.decl_locals]
                init = (*self._init(item), "; ") if item.init is not None else ()
                head = ("for (", *init, self._text(item.decl), " : ", self._text(item.range), ")")
                loop = Loop(line, head, lower_body(item.body))
                del self._visible[mark:]
                return [loop]
            case syntax.Loop():
                return [Loop(line, ("for (;;)",), lower_body(item.body))]
            case _:
                raise AssertionError(f"no loop: {type(item).__name__}")

    def _init(self, item: syntax.For | syntax.RangeFor) -> Pieces:
        if isinstance(item.init, syntax.StateDecl):
            return self._assignment(item.init)
        return self._optional(item.init)

    def _assignment(self, item: syntax.StateDecl) -> Pieces:
        return assignment(item, self._variables[item.name], self._source)

    def _optional(self, code: syntax.Code | None) -> Pieces:
        return () if code is None else (self._text(code),)

    def _range_for(
        self, item: syntax.RangeFor, lower_body: Callable[[syntax.Block], Scope], *, with_init: bool
    ) -> Nodes:
        """The place in the range is kept in a state variable; the element is a local of each pass."""
        line = self._line(item)
        nodes: Nodes = []
        if with_init and item.init is not None:
            nodes.append(Code(line, (*self._init(item), ";")))
        place = self._hidden.iterators.get(item) or self._hidden.ranges[item]
        pieces = ("[[maybe_unused]] ", self._text(item.decl), f" = *{place};")
        element = Declared(item.decl.span, pieces, item.decl_locals)
        scope = lower_body(syntax.Block(item.body.span, (element, *item.body.statements)))
        if item in self._hidden.iterators:
            container = self._source[item.range.span]
            begin = f"{place} = std::begin({container})" if with_init else ""
            head: Pieces = (f"for ({begin}; {place} != std::end({container}); ++{place})",)
            return [*nodes, Loop(line, head, scope)]
        start = (f"{place}.start(", *range_value(item, self._source), ")") if with_init else ()
        head = ("for (", *start, f"; {place}.more(); {place}.next())")
        return [*nodes, Loop(line, head, scope), Code(self._end_line(item), (f"{place}.clear();",))]

    def _prefix_switch(self, item: syntax.Switch) -> Switch:
        nodes: Nodes = []
        outer, self._in_switch = self._in_switch, True
        for section in sections_of(item, self._source):
            ends = bool(self._reach.through(section.statements).normal)
            nodes += self._labels(section)
            nodes += self._section(section, self._prefix_list(section.statements), ends, with_labels=True)
        self._in_switch = outer
        return self._switch(item, nodes)

    def _switch(self, item: syntax.Switch, nodes: Nodes) -> Switch:
        head = ("switch (", self._text(item.condition), ")")
        return Switch(self._line(item), head, self._scope(item.body, nodes))

    def _labels(self, section: Section) -> Nodes:
        return [Code(self._line(label), (self._text(label),)) for label in section.labels]

    def _section(self, section: Section, nodes: Nodes, ends: bool, *, with_labels: bool) -> Nodes:
        """What follows a section's labels. Its locals end with it, so that no later label jumps over them."""
        if not section.statements:
            return [Code(self._line(section.labels[-1]), (";",))] if section.labels and with_labels else []
        first, last = section.statements[0], section.statements[-1]
        if any(self._leaves_locals(statement) for statement in section.statements):
            nodes = [Scope(self._line(first), tuple(nodes), self._end_line(last))]
        if section.falls and ends and with_labels:
            nodes.append(Code(self._end_line(last), ("[[fallthrough]];",)))
        elif not ends and not isinstance(last, syntax.Break | syntax.Continue | syntax.Return | syntax.Throw):
            nodes.append(Code(self._end_line(last), ("break;",)))
        return nodes

    def _leaves_locals(self, item: Statement) -> bool:
        if isinstance(item, syntax.Wait):
            return item.wait.result is not None and not item.wait.result.is_state and bool(item.wait.result.names)
        return bool(locals_of(item))

    # -----------------------------------------------------------------------------------------------------------

    def _prefix_try(self, item: syntax.Try) -> Nodes:
        body, region, labels = self._try_body(item, self._prefix_block)
        return self._try(item, region, body, labels, self._prefix_list)

    def _try_body(
        self, item: syntax.Try, lower_body: Callable[[syntax.Block], Scope]
    ) -> tuple[Scope, Region, list[LabelName]]:
        """The body, and a label for each clause."""
        outer = self._handler
        region = Region(self._new("try"))
        labels: list[LabelName] = []
        is_first = True
        for catch in item.catches:
            if catch.kind is CatchKind.OTHER or not is_first:
                labels.append(self._new("clause"))
            else:
                self._handler = LabelName("catch", region.front.number)
                labels.append(self._handler)
                is_first = False
        body = lower_body(item.body)
        self._handler = outer
        return body, region, labels

    def _try(
        self,
        item: syntax.Try,
        region: Region,
        body: Scope,
        labels: Sequence[LabelName],
        lower_list: Callable[[Items], Nodes],
    ) -> Nodes:
        self._uses_error = self._uses_error or takes_errors(item)
        handlers: Nodes = []
        for catch, label in zip(item.catches, labels, strict=True):
            handler = self._handler_scope(item, catch, label, lower_list)
            handlers.append(Handler(self._source.line(catch.head.start), label, handler))
        return [Try(self._line(item), region, body, self._native_catches(item, labels)), *handlers]

    def _native_catches(self, item: syntax.Try, labels: Sequence[LabelName]) -> tuple[NativeCatch, ...]:
        """An `Error` clause without `...` behind it takes what no other clause does: it stands for both."""
        kinds = [catch.kind for catch in item.catches]
        found = []
        rest = None  # the clause for what is left
        for catch, label in zip(item.catches, labels, strict=True):
            if catch.kind is CatchKind.OTHER:
                found.append(NativeCatch(self._caught_type(catch), False, label))
            elif catch.kind is CatchKind.ALL or CatchKind.ALL not in kinds:
                rest = NativeCatch(None, True, label)
            if catch.kind is CatchKind.ERROR and catch is not item.catches[-1]:
                found.append(NativeCatch(("flow::Error const&",), True, label))
        return (*found, rest) if rest is not None else tuple(found)

    def _caught_type(self, catch: syntax.Catch) -> Pieces:
        assert catch.type is not None
        text = self._text(catch.type)
        return (text,) if text.text.endswith("&") else (text, " const&")

    def _handler_scope(
        self, item: syntax.Try, catch: syntax.Catch, label: LabelName, lower_list: Callable[[Items], Nodes]
    ) -> Scope:
        prefix = "exception" if catch.kind is CatchKind.OTHER else "caught"
        outer, self._caught = self._caught, (catch.kind, self._hidden.errors.get(catch, f"{prefix}{label.number}__"))
        nodes = lower_list([*self._left_ranges(item, catch), *self._caught_local(catch), *catch.body.statements])
        self._caught = outer
        return self._scope(catch.body, nodes)

    def _left_ranges(self, item: syntax.Try, catch: syntax.Catch) -> list[Statement]:
        """An error leaves the loops of the body: their ranges end like all that C++ unwinds."""
        loops = [inner for inner in syntax.walk(item.body) if isinstance(inner, syntax.RangeFor)]
        names = [self._hidden.ranges[loop] for loop in loops if loop in self._hidden.ranges]
        text = " ".join(f"{name}.clear();" for name in reversed(names))
        return [Declared(catch.head, (text,), ())] if names else []

    def _caught_local(self, catch: syntax.Catch) -> list[Statement]:
        """What was caught as the handler sees it: by its name, and by one that nothing can hide, for `throw;`."""
        assert self._caught is not None
        kind, kept = self._caught
        source = "error__" if kind is not CatchKind.OTHER else "flow::CaughtException(exception__)"
        is_kept = catch in self._hidden.errors
        texts = [f"{kept} = {source};"] if is_kept else []
        names = []
        if kind is CatchKind.OTHER:
            self._uses_exception = True
            if not is_kept:
                texts.append(f"flow::CaughtException {kept}(exception__);")
                names.append(Local(kept, trivial=False))
        elif not is_kept and rethrows(catch.body):
            texts.append(f"[[maybe_unused]] flow::Error const {kept} = error__;")
            names.append(Local(kept, trivial=True))
        if catch.name is not None and catch.type is not None:
            type_ = self._type(catch.type)
            value = f"{kept}.as<{type_}>()"
            if kind is CatchKind.ERROR:
                value, type_ = "error__", "flow::Error" if type_.endswith("Error") else "flow::Error const"
            texts.append(f"[[maybe_unused]] {type_} {catch.name} = {value};")
            is_other_value = kind is CatchKind.OTHER and not type_.endswith("&")
            names.append(Local(catch.name, trivial=not is_other_value or is_trivial(type_)))
        return [Declared(catch.head, (" ".join(texts),), tuple(names))] if texts else []
