"""`try` and its handlers, and what all of lowering shares: labels, lines, and the facts about the actor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from actorc import syntax
from actorc.check.reach import Reach
from actorc.check.statics import StaticVariable, is_static
from actorc.lower.catches import rethrows, takes_errors
from actorc.lower.lowered import Goto, Handler, LabelName, NativeCatch, Node, Region, Scope, Try
from actorc.lower.states import hidden_states, is_referring, state_variables
from actorc.records import dataclass, replace
from actorc.source import Pieces, Source, Text
from actorc.spelling import by_reference, declared_names, is_trivial, one_line
from actorc.syntax import CatchKind, Local, Span, Statement


@dataclass(frozen=True, slots=True, eq=False)
class Declared(syntax.Plain):
    """Locals that no statement of the source declares: a wait's result, a caught error, the element of a range."""

    pieces: Pieces


Nodes = list[Node]
Items = Sequence[Statement]


def locals_of(item: Statement) -> tuple[Local, ...]:
    return item.locals if isinstance(item, syntax.Plain) else ()


@dataclass(frozen=True, slots=True)
class _Place:
    """A wait's number in its actor, and which place of the room is its own."""

    number: int
    branch: int | None  # of a choose

    @property
    def to_hold(self) -> str:
        return "room__" if self.branch is None else f"room__.at({self.branch})"

    @property
    def to_take(self) -> str:
        """Losers are released once the result has been taken."""
        return "room__" if self.branch is None else f"room__.at({self.branch}, choose__)"


def _places(waits: Items) -> Iterator[tuple[syntax.WaitExpr, _Place]]:
    number = 0
    for item in waits:
        is_choose = isinstance(item, syntax.Choose)
        for index, wait in enumerate(syntax.waits_of(item)):
            number += 1
            yield wait, _Place(number, index if is_choose else None)


def _declared_in_heads(body: syntax.Block, source: Source) -> dict[str, list[Span]]:
    """Where the objects are in scope that the heads of `if`s, `switch`es and loops declare, by their names."""
    found: dict[str, list[Span]] = {}
    for inner in syntax.walk(body):
        for code in syntax.heads_of(inner):
            for name in declared_names(source[code.span]):
                found.setdefault(name, []).append(inner.span)
    return found


class TryLowering:
    """What is known about the actor, and how its `try`s are laid out."""

    def __init__(
        self,
        actor: syntax.Actor,
        body: syntax.Block,
        source: Source,
        shared: Mapping[Statement, StaticVariable] | None = None,
    ) -> None:
        """`shared`: plain `static` locals that are printed more than once."""
        self._actor = actor
        self._source = source
        self._reach = Reach(source)
        self._hidden = hidden_states(actor, body, source, self._reach)
        self._states = state_variables(actor, body, source, self._hidden)
        self._variables = {state.name: state for state in self._states}
        self._movable = {parameter.name for parameter in actor.parameters}
        self._movable |= {state.name for state in self._states if not is_referring(state)}
        self._movable |= {capture.name for capture in actor.captures or () if not capture.is_reference}
        self._in_heads = _declared_in_heads(body, source)
        self._moved: dict[str, int] = {}  # the last place where each name is moved on
        self._returned: dict[str, int] = {}  # and where it is returned
        self.moved_returns: set[int] = set()  # where the `return`s begin that move what they name
        waits = [inner for inner in syntax.walk(body) if isinstance(inner, syntax.Wait | syntax.Choose)]
        self._numbers: dict[Statement, int] = {wait: number for number, wait in enumerate(waits, 1)}
        self._places = dict(_places(waits))
        self._verbatim: dict[Statement, bool] = {}
        self._counts: dict[str, int] = {}
        self._jumped_to: set[LabelName] = set()
        self._handler: LabelName | None = None
        self._has_typed_clause = False  # a clause for a C++ type may take what a wait throws, before any other clause
        self._caught: tuple[CatchKind, str] | None = None  # what `throw;` passes on: its kind and the variable
        self._visible: list[Local] = []  # locals in scope: they hide state variables
        self._uses_error = False
        self._uses_exception = False
        self._handles_waits = False
        self._shared = dict(shared or {})
        self._static_prints = {inner: 0 for inner in syntax.walk(body) if is_static(inner, source)}
        self._in_switch = False  # one that is not copied as it stands

    def _line(self, node: syntax.Node) -> int:
        return self._source.line(node.span.start)

    def _end_line(self, node: syntax.Node) -> int:
        return self._source.line(node.span.end - 1)

    def _text(self, node: syntax.Node) -> Text:
        return self._source.text_of(node.span)

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

    def _try_body(
        self, item: syntax.Try, lower_body: Callable[[syntax.Block], Scope]
    ) -> tuple[Scope, Region, list[LabelName]]:
        """The body, and a label for each clause."""
        outer, outer_is_typed = self._handler, self._has_typed_clause
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
        is_typed = any(catch.kind is CatchKind.OTHER for catch in item.catches)
        self._has_typed_clause = is_typed or (self._has_typed_clause and not takes_errors(item))
        body = lower_body(item.body)
        self._handler, self._has_typed_clause = outer, outer_is_typed
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
        mark = by_reference(text.text)
        return (text, mark) if mark else (text,)

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
        return [Declared(catch.head, (), (text,))] if names else []

    def _caught_local(self, catch: syntax.Catch) -> list[Statement]:
        """The caught error under the handler's name, and under a name that nothing can hide, for `throw;`."""
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
                names.append(Local(kept, trivial=False, is_object=False))
        elif not is_kept and rethrows(catch.body):
            texts.append(f"[[maybe_unused]] flow::Error const {kept} = error__;")
            names.append(Local(kept, trivial=True, is_object=False))
        declared: Pieces = ()
        if catch.name is not None and catch.type is not None:
            type_ = self._type(catch.type)
            if kind is CatchKind.ERROR:
                const = "" if type_.endswith("Error") else " const"
                declared = (f"[[maybe_unused]] flow::Error{const} {catch.name} = error__;",)
            else:
                auto = "auto&&" if type_.endswith("&") else "auto"  # a type that is wrong is reported once
                place = replace(self._text(catch.type), text=type_)
                name = self._source.name_behind(catch.name, catch.type.span) or catch.name
                declared = (f"[[maybe_unused]] {auto} ", name, f" = {kept}.as<", place, ">();")
            is_other_value = kind is CatchKind.OTHER and not type_.endswith("&")
            names.append(Local(catch.name, not is_other_value or is_trivial(type_), is_object=False))
        pieces: Pieces = (" ".join(texts), *declared)
        return [Declared(catch.head, tuple(names), pieces)] if any(pieces) else []
