"""Statements as they stand where plain locals may be in scope: no jump may arrive there.

Code without waits is native C++ here, but for `return`, `throw` and `try`. A wait is evaluated and then left for with a
jump; what comes after it in its block is not printed here, but by lower.py, where no local is in scope.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from actorc import syntax
from actorc.lowered import (
    ChooseOperands,
    Code,
    Goto,
    Handler,
    If,
    LabelName,
    Loop,
    Node,
    Operand,
    Pieces,
    Raise,
    Region,
    Return,
    Scope,
    Text,
    Try,
)
from actorc.reach import Reach
from actorc.records import dataclass
from actorc.source import Source
from actorc.spelling import is_void_value, one_line
from actorc.states import assignment, range_iterators, state_variables
from actorc.syntax import Local, Statement


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
    return isinstance(item, _REWRITTEN) or (isinstance(item, syntax.For) and isinstance(item.init, syntax.StateDecl))


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
        self._iterators = range_iterators(body, self._reach)
        self._states = state_variables(body, source, self._iterators)
        self._movable = {parameter.name for parameter in actor.parameters} | {state.name for state in self._states}
        waits = [inner for inner in syntax.walk(body) if isinstance(inner, syntax.Wait | syntax.Choose)]
        self._numbers: dict[Statement, int] = {wait: number for number, wait in enumerate(waits, 1)}
        self._deduced = {wait: f"auto{number}__" for number, wait in enumerate(_deduced(waits), 1)}
        self._counts: dict[str, int] = {}
        self._jumped_to: set[LabelName] = set()
        self._handler: LabelName | None = None
        self._caught = ""  # the local that holds the error that `throw;` passes on
        self._visible: list[str] = []  # locals in scope: they hide state variables
        self._uses_error = False

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
        if self._is_verbatim(item):
            return [Code(line, (self._text(item),))]
        match item:
            case syntax.Break():
                return [Code(line, ("break;",))]
            case syntax.Continue():
                return [Code(line, ("continue;",))]
            case Declared(pieces=pieces):
                return [Code(line, pieces)]
            case syntax.StateDecl():
                return [] if item.leading else [Code(line, (*assignment(item, self._source), ";"))]
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
                error: Pieces = (self._caught,) if item.value is None else (self._text(item.value),)
                return [Raise(line, error, self._handler)]
            case _:
                return [self._loop(item, self._prefix_block, with_init=True)]

    def _is_verbatim(self, item: Statement) -> bool:
        """Whether the statement is copied as it stands."""
        if isinstance(item, syntax.Break | syntax.Continue):
            return False  # may stand for none in the source
        return not any(_is_rewritten(inner) for inner in syntax.walk(item))

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

    # -----------------------------------------------------------------------------------------------------------

    def _loop(self, item: Statement, lower_body: Callable[[syntax.Block], Scope], *, with_init: bool) -> Loop:
        line = self._line(item)
        match item:
            case syntax.While():
                return Loop(line, ("while (", self._text(item.condition), ")"), lower_body(item.body))
            case syntax.For():
                head = ("for (", *(self._init(item) if with_init else ()), "; ", *self._optional(item.condition), "; ")
                return Loop(line, (*head, *self._optional(item.step), ")"), lower_body(item.body))
            case syntax.RangeFor() if self._reach.suspends(item):
                return self._range_for(item, lower_body, with_init=with_init)
            case syntax.RangeFor():
                mark = len(self._visible)
                self._visible += [local.name for local in item.decl_locals]
                head = ("for (", self._text(item.decl), " : ", self._text(item.range), ")")
                loop = Loop(line, head, lower_body(item.body))
                del self._visible[mark:]
                return loop
            case syntax.Loop():
                return Loop(line, ("for (;;)",), lower_body(item.body))
            case _:
                raise AssertionError(f"no loop: {type(item).__name__}")

    def _init(self, item: syntax.For) -> Pieces:
        if isinstance(item.init, syntax.StateDecl):
            return assignment(item.init, self._source)
        return self._optional(item.init)

    def _optional(self, code: syntax.Code | None) -> Pieces:
        return () if code is None else (self._text(code),)

    def _range_for(
        self, item: syntax.RangeFor, lower_body: Callable[[syntax.Block], Scope], *, with_init: bool
    ) -> Loop:
        """The place in the range is kept in a state variable; the element is a local of each pass."""
        iterator, container = self._iterators[item], self._source[item.range.span]
        begin = f"{iterator} = std::begin({container})" if with_init else ""
        head = f"for ({begin}; {iterator} != std::end({container}); ++{iterator})"
        pieces = ("[[maybe_unused]] ", self._text(item.decl), f" = *{iterator};")
        element = Declared(item.decl.span, pieces, item.decl_locals)
        body = syntax.Block(item.body.span, (element, *item.body.statements))
        return Loop(self._line(item), (head,), lower_body(body))

    # -----------------------------------------------------------------------------------------------------------

    def _prefix_try(self, item: syntax.Try) -> Nodes:
        outer = self._handler
        region = Region(self._new("try"))
        self._handler = LabelName("catch", region.front.number)
        body = self._prefix_block(item.body)
        label, self._handler = self._handler, outer
        return self._try(item, region, body, label, self._prefix_list)

    def _try(
        self, item: syntax.Try, region: Region, body: Scope, label: LabelName, lower_list: Callable[[Items], Nodes]
    ) -> Nodes:
        self._uses_error = True
        handler = self._handler_scope(item, label, lower_list)
        line = self._source.line(item.catches[0].head.start)
        return [Try(self._line(item), region, body, label), Handler(line, label, handler)]

    def _handler_scope(self, item: syntax.Try, label: LabelName, lower_list: Callable[[Items], Nodes]) -> Scope:
        outer, self._caught = self._caught, f"caught{label.number}__"
        nodes = lower_list([*self._caught_local(item), *item.catches[0].body.statements])
        self._caught = outer
        return self._scope(item.catches[0].body, nodes)

    def _caught_local(self, item: syntax.Try) -> list[Statement]:
        """The error as the handler sees it: by its name, and by one that nothing can hide, for `throw;`."""
        texts = []
        if any(isinstance(inner, syntax.Throw) and inner.value is None for inner in syntax.walk(item.catches[0].body)):
            texts.append(f"[[maybe_unused]] flow::Error const {self._caught} = error__;")
        if item.catches[0].name is not None:
            texts.append(f"[[maybe_unused]] flow::Error const {item.catches[0].name} = error__;")
        names = (Local(re.sub(r"\W", "", item.catches[0].name or ""), trivial=True),)
        return [Declared(item.catches[0].head, (" ".join(texts),), names)] if texts else []
