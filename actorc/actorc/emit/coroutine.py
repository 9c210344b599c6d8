"""Actors as C++20 coroutines: parameters and states are locals at the top, and a wait is a co_await.

gcc 12 miscompiles braced lists and `?:` in co_await expressions, so the operand is always a variable or a call with
plain arguments.
"""

from __future__ import annotations

import re

from actorc.emit import layout
from actorc.emit.declaration import Declaration
from actorc.emit.lines import BREAK, MARK_END, MAY_BREAK, apart, at
from actorc.emit.printer import Printer, beside, initialiser, moved, pieces
from actorc.lower import labels
from actorc.lower.lowered import Body, Code, Node, Return, Suspend
from actorc.source import Text
from actorc.spelling import is_trivial


def definition(declaration: Declaration, body: Body) -> str:
    """The definition of an actor, with line marks. Texts that share a line of the source may share a line."""
    coroutine = _coroutine(declaration, body)
    named = declaration.checked
    if _names_result(declaration):
        named = declaration.named_result + named
    if declaration.is_named and not declaration.is_local:
        named = layout.classes(declaration, body, "")
    if named:
        named = layout.around(declaration, named)
    prefix = "" if _needs_run(declaration) else "arg__"  # the coroutine's copies have the names of the source
    if _needs_run(declaration):
        name = declaration.class_name
        returns = "flow::coro::Detached" if declaration.result == "void" else declaration.returns
        result = "" if declaration.result == "void" else "return "
        arguments, passed = (
            declaration.own_arguments if declaration.has_pack else declaration.inner_arguments,
            declaration.passed(),
        )
        if declaration.frame_limit:
            arguments = ", ".join(filter(None, (arguments, f"flow::FrameLimit<{declaration.frame_limit}>")))
            passed = ", ".join(filter(None, (passed, f"flow::FrameLimit<{declaration.frame_limit}>()")))
        run = f"struct {name} {{ static {returns} run({arguments}) {{ {MAY_BREAK}{coroutine}}} }};"
        call = f"{name}::run({passed})"
        if declaration.has_pack:
            call = f"flow::coro::callWithCopies({', '.join(filter(None, (f'{name}::run', passed)))})"
        coroutine = f"{run} {result}{call}; "
    head = declaration.head(prefix, defines=True)
    return f"{named}{head} {{ {apart(declaration.line)}{declaration.aliases}{coroutine}}}"


def _needs_run(declaration: Declaration) -> bool:
    """Whether the coroutine must be a separate function. It must if the function is void, if it has a parameter pack
    (which cannot be copied into a local), if it is a lambda (which may be destroyed before its coroutine), if it may be
    a member (the actor does not see its object), or if it has a frame limit (a parameter that callers do not see)."""
    return bool(
        declaration.result == "void"
        or declaration.has_pack
        or declaration.may_have_object
        or declaration.captures is not None
        or declaration.frame_limit
    )


def _names_result(declaration: Declaration) -> bool:
    """Whether the code has the result's type, besides the head. A local class or a template shows few errors."""
    return declaration.may_return_void and not declaration.is_local and not declaration.template


def _coroutine(declaration: Declaration, body: Body) -> str:
    """What stands in the braces: the parameters and the states as locals, and the code."""
    printer = _CoroutinePrinter(declaration, body)
    parts = []
    if declaration.names_address:
        parts.append(
            "flow::coro::Self self__; co_await self__; [[maybe_unused]] auto* const this__ = self__->frame(); "
        )
    if not declaration.has_pack:
        parts += [each.copy + layout.fit(each.place_of_name, each.type, each.name) for each in declaration.kept]
    for state in body.states:
        slot = f"[[maybe_unused]] {layout.slot_type(state)} {state.slot_name}; " if state.slot else ""
        name = f"{at(state.type.line, state.column)}{state.name}{state.extents}"
        declared = f"[[maybe_unused]] {layout.state_type(state)} {name}{initialiser(state, '{}')}"
        parts.append(f"{at(state.type.line)}{slot}{declared}; {layout.state_fit(state)}")
    parts += [BREAK, printer.prologue()]
    if declaration.is_uncancellable:  # after the prologue, which sets the frame again
        parts.append("co_await flow::coro::uncancellable(); ")
    return "".join((*parts, printer.body_text(), "co_return; " if body.ends else ""))


_HAS_ALIGNMENT = re.compile(r"(\[\[.*?\]\]\s*)*alignas\b", re.DOTALL)
_REQUIRE_ALIGNMENT = (
    'static_assert(flow::coro::kAlignsVariables, "in an actor that becomes a coroutine this compiler ignores the '
    'alignas of a variable: let the type ask for it, as in struct alignas(32) Aligned"); '
)


class _CoroutinePrinter(Printer):
    _frame = "actor__->frame()"

    def __init__(self, declaration: Declaration, body: Body) -> None:
        super().__init__(body, labels.plan(body.code, resumes=False))
        self._declaration = declaration

    def prologue(self) -> str:
        """The variables that the body needs besides the actor's own."""
        text = "".join(f"static {type_} {name}; " for type_, name in self._body.statics)
        text += self._kept_ranges()
        if self._body.waits:
            own = "PropagatingSelf" if self._body.propagates else "Self"
            text += f"struct waits__; flow::coro::OperationRoom<waits__{self._places}> room__; {MAY_BREAK}"
            text += f"flow::Pending wait__; flow::coro::{own} actor__; co_await actor__; "
        if self._body.choose_size:
            text += f"flow::Choose<{self._body.choose_size}> choose__; "
        if self._body.uses_error:
            text += "flow::Error error__; "
        if self._body.uses_exception:
            text += "flow::RaisedException exception__; "
        return text + ("int entry__ = 0; " if self.needs_entry else "")

    def _node(self, node: Node) -> None:
        if isinstance(node, Code) and isinstance(first := node.pieces[0], Text) and _HAS_ALIGNMENT.match(first.text):
            self._out.append(f"{at(first.line, first.column)}{_REQUIRE_ALIGNMENT}")
        super()._node(node)

    def _when(self, operand: str) -> str:
        return f"actor__->when(choose__, {operand})"

    def _suspend(self, node: Suspend) -> str:
        parked = "co_await flow::coro::parked();"
        if node.is_choose:
            suspend = f"if (actor__->waitFor(choose__)) {parked} wait__ = choose__.found();"
            return f"{suspend} {self._release_losers(node)}"
        return f"if (actor__->waitFor(wait__)) {{ {parked} wait__ = actor__->settled(); }}"

    def _fail(self, error: str) -> str:
        if error == "wait__":
            return f"{{ actor__->share({error}); co_await flow::coro::passOn({error}); }}"
        return f"{{ flow::Error const raised__ = {error}; co_await flow::coro::fail(raised__); }}"

    def _return(self, node: Return) -> str:
        if node.is_never:
            return "co_await flow::coro::never();"
        if node.value is None or (self._declaration.returns_void and node.is_void_value):
            return "co_return;"
        value, word, comment = pieces(node.value), at(node.source.line, node.source.column), beside(node)
        if self._declaration.returns_void:
            return f"flow::coro::Result<flow::Void>().{word}from({comment}{value}); co_return;"
        if not self._declaration.may_return_void:
            moves = node.is_moved and not is_trivial(self._declaration.result)
            return f"{word}co_return{comment}{moved(node.value) if moves else value};"
        if node.is_moved:
            return f"{word}co_await flow::coro::finish({comment}{moved(node.value)});"
        is_list = pieces(node.value[-1:]).partition(MARK_END)[2].startswith("{")
        value = value if is_list else f"({value})"
        result = self._declaration.result_type if _names_result(self._declaration) else self._declaration.result
        made = f"{result} value__ = flow::coro::Result<{result}>().{word}from({comment}{value});"
        return f"{{ {made} co_await flow::coro::finish(std::move(value__)); }}"
