"""Lowers statements while plain locals may be in scope: no jump may arrive there.

Code without waits is native C++ here, but for `return`, `throw` and `try`. A wait is evaluated, and a jump leaves the
scope; lower.py prints what follows the wait, where no local is in scope.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from actorc import syntax
from actorc.check.sections import Section, falls_through, sections_of
from actorc.check.statics import StaticVariable, static_variable
from actorc.lower.lowered import ChooseOperands, Code, If, Loop, Node, Operand, Raise, Return, Scope, Switch
from actorc.lower.states import assignment, range_value
from actorc.lower.tries import Declared, Items, Nodes, TryLowering, locals_of
from actorc.records import replace
from actorc.source import Pieces, Text
from actorc.spelling import is_known, is_void_value
from actorc.syntax import CatchKind, Span, Statement


def _is_rewritten(item: Statement) -> bool:
    match item:
        case syntax.Return() | syntax.Throw() | syntax.Try() | syntax.StateDecl() | syntax.Loop():
            return True
        case syntax.Wait() | syntax.Choose() | Declared():
            return True
        case syntax.For() | syntax.RangeFor():
            return isinstance(item.init, syntax.StateDecl)
        case syntax.Plain() | syntax.Block() | syntax.If() | syntax.While() | syntax.DoWhile() | syntax.Switch():
            return False
        case syntax.Break() | syntax.Continue() | syntax.Case():
            return False
        case _:
            raise syntax.unknown(item)


def _is_deduced(wait: syntax.WaitExpr) -> bool:
    """Whether only C++ can deduce the type of the result."""
    return wait.result is not None and wait.result.type is None


_NAME = re.compile(r"[A-Za-z_]\w*")
_USED = re.compile(r"&\s*([A-Za-z_]\w*)|\b([A-Za-z_]\w*)\s*(?:\.|->)")  # as an object of which the address may be kept
_TIME = re.compile(r"(?:flow::)?(?:delay|yield)\s*\([^()]*\)$")
_NAME_IN_BRACKETS = re.compile(r"\(\s*([A-Za-z_]\w*)\s*\)")


class PrefixLowering(TryLowering):
    """Lowers statements inside runs, and holds what both kinds of lowering share."""

    def _prefix_list(self, items: Items) -> Nodes:
        nodes: Nodes = []
        mark = len(self._visible)
        for item in items:
            nodes += self._prefix(item)
            self._visible += locals_of(item)
            if not self._reach.completes_before_wait(item):
                break
        del self._visible[mark:]
        return nodes

    def _prefix_block(self, block: syntax.Block) -> Scope:
        return self._scope(block, self._prefix_list(block.statements))

    def repeated_statics(self) -> dict[Statement, StaticVariable]:
        """The `static` locals that have been printed more than once, if their storage can be shared."""
        repeated = [item for item, count in self._static_prints.items() if count > 1 and item not in self._shared]
        statics = {item: static_variable(item, self._source) for item in repeated if isinstance(item, syntax.Plain)}
        return {item: static for item, static in statics.items() if static is not None}

    def _static(self, item: Statement) -> Code:
        static = self._shared[item]
        number = list(self._shared).index(item) + 1
        head = f"[[maybe_unused]] {static.reference} {static.name} = static{number}__.get("
        return Code(self._line(item), (f"{head}[&]() -> {static.made} {{ return ", *static.value, "; });"))

    def _prefix(self, item: Statement) -> Nodes:
        line = self._line(item)
        if item in self._shared:
            return [self._static(item)]
        if self._in_switch and falls_through(item, self._source):
            if isinstance(item, syntax.Plain):
                return []  # printed where a label follows
        elif self._is_verbatim(item):
            for inner in syntax.walk(item) if self._static_prints else ():
                if inner in self._static_prints:
                    self._static_prints[inner] += 1
            return [Code(line, (self._text(item),))]
        match item:
            case syntax.Break():
                return [Code(line, ("break;",))]
            case syntax.Continue():
                return [Code(line, ("continue;",))]
            case Declared(pieces=pieces):
                return [Code(line, pieces)]
            case syntax.StateDecl():
                return [] if item.leading else self._state(item)
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
            known = self._verbatim[item] = not any(
                _is_rewritten(inner) or inner in self._shared for inner in syntax.walk(item)
            )
        return known

    def _operand(self, wait: syntax.WaitExpr) -> Operand:
        place = self._places[wait]
        function: Pieces = (f"operand<{place.number}, {self._result_type(wait)}>",)
        if _is_deduced(wait):
            function = (f"operand<{place.number}, flow::Deduce>",)
        elif wait.result is None:
            function = (f"operand<{place.number}>",)
        elif wait.result.type is not None and not is_known(self._type(wait.result.type)):
            type_ = self._source.text_of(wait.result.type.span)
            function = (f"operand<{place.number}, ", replace(type_, text=self._type(wait.result.type)), ">")
        operand = self._text(wait.operand)
        is_name = all(part.isidentifier() for part in operand.text.split("."))
        word = self._source.text_of(wait.word)
        return Operand(self._line(wait), function, place.to_hold, word, operand, is_name, self._dying(operand.text))

    def _dying(self, operand: str) -> str:
        """The locals that end at a wait and may have what it waits for. Parameters and states have what they hold."""
        kept = operand in self._variables or any(operand == parameter.name for parameter in self._actor.parameters)
        if (kept and not self._is_local(operand, 0)) or _TIME.match(operand):
            return ""
        named = set(_NAME.findall(operand))
        used = {match[1] or match[2] for match in _USED.finditer(operand)}
        found: dict[str, str] = {}  # by what holds them: a name may hide another one
        for local in self._visible:
            held = local.holder or local.name
            if local.name not in named and held in found and local.is_part:
                continue  # another part of the same result
            found.pop(held, None)
            if local.is_object and (local.name in named or not local.trivial) and (local.holder or not local.is_part):
                is_used = int(local.name in used)
                text = f"FLOW_RESULT({local.name}, {local.holder}, {is_used})"
                found[held] = text if local.holder else f"FLOW_LOCAL({local.name}, {is_used})"
        return f"FLOW_DYING({', '.join(found.values())})" if found else ""

    def _result_type(self, wait: syntax.WaitExpr) -> str:
        """The type of the wait's result, as it can be spelt after its operand."""
        if wait.result is None:
            return "flow::Void"
        if wait.result.type is None:
            return f"flow::Deduced<decltype(room__), {self._places[wait].number}>"
        return self._type(wait.result.type)

    def _choose_operands(self, item: syntax.Choose) -> ChooseOperands:
        return ChooseOperands(self._line(item), tuple(self._operand(when.wait) for when in item.whens))

    def _return(self, item: syntax.Return) -> Return:
        line, source = self._line(item), self._shown(item)
        if item.value is None or item.is_never:
            return Return(line, source, None, is_never=item.is_never)
        value = self._text(item.value)
        if item.is_sequence:
            return Return(line, source, ("(", value, ")"))
        in_brackets = _NAME_IN_BRACKETS.fullmatch(value.text)  # C++ moves it as well
        if in_brackets is not None:
            value = replace(value, text=in_brackets[1])
        is_moved = self._may_be_moved(value.text, item.span.start)
        if is_moved:
            self.moved_returns.add(item.span.start)
        variable = self._variables.get(value.text)
        if is_moved and variable is not None and variable.slot and not self._is_local(value.text, item.span.start):
            return Return(line, source, (f"{variable.slot_name}.moved(", value, ")"))
        return Return(line, source, (value,), is_moved=is_moved, is_void_value=is_void_value(value.text))

    def _may_be_moved(self, value: str, place: int) -> bool:
        """Whether it is the name of an object of the actor's own. What only refers to one has a type that says so."""
        for local in reversed(self._visible):
            if local.name == value:
                return not local.trivial and not local.is_part
        return value in self._movable or self._is_local(value, place)

    def _is_local(self, value: str, place: int) -> bool:
        """Whether the name is that of a local there, which hides a state variable."""
        if any(local.name == value for local in self._visible):
            return True
        return any(span.start < place < span.end for span in self._in_heads.get(value, ()))

    def _shown(self, item: syntax.Node) -> Text:
        """As it stands in the source, or its first line: for a comment, which a backslash at its end would continue."""
        word = self._source.text_of(Span(item.span.start, item.span.start + 1))
        end = item.span.end + self._source.text.startswith(";", item.span.end)
        line = self._source.text[item.span.start : end].partition("\n")[0]
        return replace(word, text=line.rstrip("\\ \t\r"))

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
                self._visible += item.decl_locals
                init = (*self._init(item), "; ") if item.init is not None else ()
                head = ("for (", *init, self._text(item.decl), " : ", self._text(item.range), ")")
                loop = Loop(line, head, lower_body(item.body))
                del self._visible[mark:]
                return [loop]
            case syntax.Loop():
                return [Loop(line, ("for (;;)",), lower_body(item.body))]
            case _:
                raise syntax.unknown(item)

    def _init(self, item: syntax.For | syntax.RangeFor) -> Pieces:
        if isinstance(item.init, syntax.StateDecl):
            return self._assignment(item.init)
        return self._optional(item.init)

    def _state(self, item: syntax.StateDecl) -> Nodes:
        made: Nodes = [Code(self._line(item), (*self._assignment(item), ";"))]
        if item.chained is not None:
            line = self._source.line(item.chained.span.start)
            made.append(Code(line, (item.name, self._text(item.chained), ";")))
        return made

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
        variable = self._variables[self._hidden.iterators.get(item) or self._hidden.ranges[item]]
        place = variable.range_name
        pieces = ("[[maybe_unused]] ", self._text(item.decl), f" = *{place};")
        element = Declared(item.decl.span, item.decl_locals, pieces)
        scope = lower_body(syntax.Block(item.body.span, (element, *item.body.statements)))
        range_ = self._text(item.range)
        if item in self._hidden.iterators:
            # Where the call's bracket is, both compilers say what is refused.
            begin = replace(range_, text=f"({range_.text})")
            start: Pieces = (f"{place} = flow::beginOf", begin)
            rest = f"; {place} != flow::endOf({range_.text}); ++{place})"
            ends: Nodes = []
        else:
            bracket = replace(range_, text="(", column=max(range_.column - 1, 0))
            value = () if variable.kept else range_value(item, self._source)
            start = (f"{place}.start", bracket, *value, ")")
            rest = f"; {place}.more(); {place}.next())"
            ends = [Code(self._end_line(item), (f"{place}.clear();",))]
        started = (*start, f" // {self._shown(item).text}\n") if with_init else ()
        head = ("for (", *started, Text(rest, self._end_line(item.range)))
        return [*nodes, Loop(line, head, scope), *ends]

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

    def _prefix_try(self, item: syntax.Try) -> Nodes:
        body, region, labels = self._try_body(item, self._prefix_block)
        return self._try(item, region, body, labels, self._prefix_list)
