"""The traps of coroutines: what compiles, and goes wrong when the coroutine goes on or ends."""

from __future__ import annotations

import os
import re
from functools import cache
from typing import Any

from actorc.diagnostics import Diagnostics, Edit, Fault, Fix, Note, Severity, allows
from actorc.source import Source
from actorc.syntax import Span
from actorc_check.actors import ACTOR_FILES
from actorc_check.clang import OwnError, is_inclusion, written_offset
from actorc_check.cpp_errors import explained
from actorc_check.declared import head_of
from actorc_check.flow_names import hint_for
from actorc_check.order import first_after
from actorc_check.reading import Reading
from actorc_check.tree import (
    AWAIT,
    CALL,
    CO_RETURN,
    FUNCTIONS,
    LAMBDA,
    USE,
    Function,
    Node,
    is_flow,
    is_operation,
    namespace_of,
)

_VIEWS = {"basic_string_view": "std::string", "span": "std::vector", "initializer_list": "std::vector"}
_FLOW_VIEWS = {"StringRef": "Standalone<StringRef>", "VectorRef": "Standalone<VectorRef<...>>"}
_NO_STATEMENTS = frozenset({"RETURN_STMT", "DECL_STMT", CO_RETURN})
_DISCARDABLE = re.compile(r"\b(?:UNCANCELLABLE|flow_allow_discard)\b")
_MOST_ALIGNMENT = 64  # of a frame: memory::kMostAlignment


class Traps:
    """Looks through the functions of a file and adds to `diagnostics`."""

    def __init__(self, source: Source, reading: Reading, diagnostics: Diagnostics) -> None:
        self._source = source
        self._text = reading.text
        self._diagnostics = diagnostics
        self.span = reading.span

    def look(self, function: Function) -> None:
        self._discards(function)
        if function.is_coroutine:
            self._parameters(function)
            self._captures(function)
            self._locals(function)

    # -----------------------------------------------------------------------------------------------------------
    # Places

    def word(self, node: Node, length: int = len("co_await")) -> Span:
        return self.span(node.start, min(node.end, node.start + length))

    def _written(self, node: Node) -> str:
        return self._text[node.start : node.end].decode("utf-8", errors="replace")

    def _name(self, node: Node) -> Span:
        """The name that a declaration introduces, or all of it."""
        start, size = node.name_start(), len(node.cursor.spelling.encode())
        return self.span(start, start + size) if size else self.span(node.start, node.end)

    def add_error(self, own: OwnError, path: str, severity: Severity, *, is_ported: bool) -> None:
        """What clang says of the file."""
        error = own.error
        notes = tuple(
            Note(each.spelling, self._pointed(each))
            for each in error.children
            if each.location.file is not None and each.location.file.name == path and not is_inclusion(each)
        )
        place = self._pointed(own.place)
        what = explained(error.spelling, self._source.text, place.start)
        message = what.message
        if own.place is not error and (header := error.location.file) is not None:
            message += f" (in {os.path.realpath(header.name)}:{error.location.line})"
        hint = what.hint or hint_for(error.spelling, is_ported=is_ported)
        add = self._diagnostics.error if severity is Severity.ERROR else self._diagnostics.warning
        add(Fault.WRONG_CPP, message, place, hint=hint, notes=notes, fixes=what.fixes)

    def _pointed(self, message: Any) -> Span:
        """The word or the range at the place of a message."""
        start = written_offset(message.location)
        for each in message.ranges:
            if written_offset(each.start) == start:
                return self.span(start, written_offset(each.end))
        word = re.match(rb"\w*", self._text[start:])
        return self.span(start, start + max(1, word.end() if word else 1))

    # -----------------------------------------------------------------------------------------------------------
    # Futures that are thrown away

    def _discards(self, function: Function) -> None:
        for node in function.body.own():
            if node.kind.endswith("_STMT") and node.kind not in _NO_STATEMENTS:
                for child in node.children:
                    self._discarded(child, function)
            elif node.kind == "BINARY_OPERATOR" and self._is_comma(node):
                self._discarded(node.children[0], function)

    def _is_comma(self, node: Node) -> bool:
        between = self._text[node.children[0].end : node.children[1].start] if len(node.children) == 2 else b""
        return between.strip() == b","

    def _discarded(self, expression: Node, function: Function) -> None:
        node = expression.core()
        if node.kind == "CONDITIONAL_OPERATOR":
            for branch in node.children[1:]:
                self._discarded(branch, function)
            return
        if node.kind == "BINARY_OPERATOR" and self._is_comma(node):
            self._discarded(node.children[1], function)  # `_discards` sees the first
            return
        if node.kind != CALL or not gives_value(node.cursor) or _may_be_discarded(node.cursor.referenced):
            return
        place = self.span(node.start, node.end)
        if self._diagnostics.knows(Fault.DISCARDED_FUTURE, place):  # by the compiler of actors
            return
        name = node.cursor.spelling
        if is_flow(node.cursor.type, ("Future", "StrictFuture")):
            message = f"the future of `{name}` is thrown away here, which cancels the work behind it"
            hint = "wait for it, keep it in a variable for as long as the work shall go on, or write `(void)` before it"
        elif is_operation(node.cursor.type):
            message = f"`{name}` gives an operation, and nothing waits for it"
            hint = "write `co_await` before it" if function.is_coroutine else "an actor waits for it with `wait(...)`"
        else:
            return
        fixes: tuple[Fix, ...] = ()
        if function.is_coroutine:
            hint = hint.replace("wait for it", "write `co_await` before it")
            fixes = (Fix("wait for it", (Edit(self.span(node.start, node.start), "co_await "),)),)
        self._diagnostics.warning(Fault.DISCARDED_RESULT, message, place, hint=hint, fixes=fixes)

    # -----------------------------------------------------------------------------------------------------------
    # Parameters that refer to what may be gone

    def _parameters(self, function: Function) -> None:
        has_arena = function.has_parameter("Arena")  # which keeps what a StringRef refers to
        for parameter in function.parameters:
            type_ = parameter.cursor.type
            kind = _refers(type_)
            if kind is None or (has_arena and is_flow(type_, tuple(_FLOW_VIEWS))):
                continue
            uses = [node for node in function.body.walk() if _uses(node, parameter)]
            found = first_after(function, uses)
            if found is None or _outlives_coroutines(type_):
                continue
            use, wait = found
            name = parameter.cursor.spelling
            instead, hint = self._by_value(parameter)
            message = f"`{name}` is {kind}: what it refers to may be gone when {function.title} goes on"
            notes = (
                Note("the coroutine may wait here, while its caller goes on", self.word(wait)),
                Note("and uses it here", self.span(use.start, use.end)),
            )
            fixes: tuple[Fix, ...] = ()
            if instead is not None and _is_declared_once(function):
                place = self.span(parameter.start, parameter.name_start())
                fixes = (Fix("take it by value", (Edit(place, instead + " "),)),)
            self._diagnostics.warning(
                Fault.DANGLING_PARAMETER, message, self._name(parameter), hint=hint, notes=notes, fixes=fixes
            )

    def _by_value(self, parameter: Node) -> tuple[str | None, str]:
        """The type to take instead, if it is clear, and the hint."""
        name = parameter.cursor.spelling
        written = self._text[parameter.start : parameter.name_start()].decode("utf-8", errors="replace").strip()
        type_ = parameter.cursor.type
        view = _view(type_)
        if view is not None and "vector" not in view.lower():
            return view, f"take a copy: `{view} {name}`"
        if view is not None and "<" in view:
            return None, f"take a copy: `{view} {name}`"
        if view is not None:
            return None, f"take a copy: `{view}<...> {name}`"
        instead = written.removesuffix("&&").removesuffix("&").strip()
        if type_.get_pointee().is_const_qualified() or written.endswith("&&"):
            instead = instead.removeprefix("const ").removesuffix(" const").strip()
            return instead, f"take it by value: `{instead} {name}`"
        return None, (
            f"take a `{instead}*` or a `std::shared_ptr<{instead}>`, which shows that it must outlive the coroutine; "
            f"where it does, write `// actorc: allow A0702` here, or where `{instead}` is defined"
        )

    # -----------------------------------------------------------------------------------------------------------
    # Locals that are not aligned as they ask for

    def _locals(self, function: Function) -> None:
        """With gcc, which has no way to ask how a frame is aligned, no compiler refuses these."""
        for node in function.body.own():
            if node.kind != "VAR_DECL" or not _is_in_frame(node.cursor):
                continue
            own = node.cursor.spelling
            of_type, written = int(node.cursor.type.get_align()), self._written_alignment(node)
            if of_type < 0:
                continue  # of a template, where only its instances have one
            most = max(of_type, written)
            if most > _MOST_ALIGNMENT:
                message = f"`{own}` asks for {most} bytes of alignment; a coroutine's frame has {_MOST_ALIGNMENT}"
                hint = "keep it in an object that a `std::unique_ptr` holds, or in a function that is no coroutine"
            elif written > of_type:
                message = f"`{own}` asks for {written} bytes of alignment; in a coroutine gcc gives it {of_type}"
                hint = f"let its type ask for it: `struct alignas({written}) ...`"
            else:
                continue
            self._diagnostics.warning(Fault.MISALIGNED_LOCAL, message, self._name(node), hint=hint)

    def _written_alignment(self, variable: Node) -> int:
        """A number that `alignas` asks for, which libclang does not give."""
        places = (child.start for child in variable.children if child.kind == "ALIGNED_ATTR")
        numbers = (re.match(rb"\w+\s*\(\s*(\d+)\s*\)", self._text[place:]) for place in places)
        return max((int(number[1]) for number in numbers if number), default=0)

    # -----------------------------------------------------------------------------------------------------------
    # Lambdas that capture

    def _captures(self, function: Function) -> None:
        if function.node.kind != LAMBDA or self._outlives(function.node):
            return
        uses = [node for node in function.body.walk() if self._is_captured(node, function)]
        found = first_after(function, uses)
        if found is None:
            return
        use, wait = found
        start = function.node.start
        place = self.span(start, self._text.index(b"]", start) + 1)
        notes = (
            Note("the coroutine may wait here, while the lambda's object goes away", self.word(wait)),
            Note("and uses a capture here", self.span(use.start, use.end)),
        )
        message = "this coroutine uses what its lambda captures, and the lambda's object may be gone after a wait"
        hint = "capture nothing, and pass what it needs as parameters by value: `[](T x) -> Future<U> { ... }(x)`"
        self._diagnostics.warning(Fault.CAPTURING_COROUTINE, message, place, hint=hint, notes=notes)

    def _is_captured(self, node: Node, function: Function) -> bool:
        """Whether a node of the body uses a variable of the functions around the lambda, or `this`."""
        if node.kind == "CXX_THIS_EXPR":
            return True
        if node.kind == "MEMBER_REF_EXPR":
            return not node.children and node.cursor.spelling != ""  # `this->` is not written
        if node.kind != USE:
            return False
        meant = node.cursor.referenced
        if meant is None or meant.kind.name not in ("VAR_DECL", "PARM_DECL"):
            return False
        if meant.kind.name == "VAR_DECL" and not _is_automatic(meant):
            return False
        offset = meant.extent.start.offset
        inside = function.body.start <= offset < function.body.end
        return not inside and not any(offset == parameter.start for parameter in function.parameters)

    def _outlives(self, node: Node) -> bool:
        """Whether the lambda's object certainly lives until the coroutine ends: its call is awaited at once."""
        for above in node.above():
            if above.kind == AWAIT:
                return True
            if above.kind == "VAR_DECL":
                return not self._is_called_at_once(node) and self._is_always_awaited(above)
            if above.kind.endswith("_STMT") or above.kind in FUNCTIONS:
                return False
        return False

    def _is_called_at_once(self, lambda_: Node) -> bool:
        return re.match(rb"[\s)]*\(", self._text[lambda_.end :]) is not None

    def _is_always_awaited(self, variable: Node) -> bool:
        """Whether each use of a variable that holds a lambda is a call below a `co_await`."""
        function = next((above for above in variable.above() if above.kind in FUNCTIONS), None)
        if function is None:
            return False
        uses = [node for node in function.walk() if _uses(node, variable)]
        return bool(uses) and all(self._is_awaited(use) for use in uses)

    def _is_awaited(self, use: Node) -> bool:
        for above in use.above():
            if above.kind == AWAIT:
                return True
            if above.kind.endswith("_STMT") or above.kind in ("VAR_DECL", *FUNCTIONS):
                return False
        return False


def _is_automatic(variable: Any) -> bool:
    return variable.storage_class.name in ("NONE", "AUTO", "REGISTER") and variable.semantic_parent.kind.name in (
        "FUNCTION_DECL",
        "CXX_METHOD",
        "FUNCTION_TEMPLATE",
        "CONSTRUCTOR",
        "DESTRUCTOR",
    )


def _is_in_frame(variable: Any) -> bool:
    is_static = variable.storage_class.name in ("STATIC", "EXTERN") or variable.tls_kind.name != "NONE"
    return not is_static and variable.type.kind.name not in ("LVALUEREFERENCE", "RVALUEREFERENCE")


def gives_value(call: Any) -> bool:
    """Whether it makes an object, as opposed to `f = g()`, which gives a reference."""
    callee = call.referenced
    if callee is None:
        return True
    return callee.result_type.get_canonical().kind.name not in ("LVALUEREFERENCE", "RVALUEREFERENCE")


def _may_be_discarded(callee: Any) -> bool:
    """Whether it is an actor that runs by itself, or whose author allows it."""
    if callee is None or callee.location.file is None or not callee.location.file.name.endswith(ACTOR_FILES):
        return False
    return _DISCARDABLE.search(head_of(callee) or "") is not None


def _uses(node: Node, declaration: Node) -> bool:
    return node.kind == USE and _are_same(node.cursor.referenced, declaration.cursor)


def _are_same(first: Any, second: Any) -> bool:
    return first is not None and second is not None and bool(first == second)


def _view(type_: Any) -> str | None:
    declaration = type_.get_canonical().get_declaration()
    views = {"std": _VIEWS, "flow": _FLOW_VIEWS}.get(namespace_of(declaration), {})
    return views.get(declaration.spelling)


def _refers(type_: Any) -> str | None:
    """How a parameter of this type refers to something of the caller's; None if it does not."""
    if type_.kind.name in ("LVALUEREFERENCE", "RVALUEREFERENCE"):
        return "a reference"
    return None if _view(type_) is None else f"a `{type_.spelling}`"


def _outlives_coroutines(type_: Any) -> bool:
    """Whether it refers to an object that certainly lives longer than a coroutine.

    A loop outlives the futures on it, and a world its processes. The definition of another class has a comment.
    """
    declaration = type_.get_pointee().get_canonical().get_declaration()
    return is_flow(declaration.type, ("Process",)) or _is_loop(declaration) or _allows_references(declaration)


def _is_loop(declaration: Any) -> bool:
    """Whether it is a class flow::Loop, or derived from one, such as World."""
    if is_flow(declaration.type, ("Loop",)):
        return True
    bases = [child for child in declaration.get_children() if child.kind.name == "CXX_BASE_SPECIFIER"]
    return any(_is_loop(base.type.get_canonical().get_declaration()) for base in bases)


def _allows_references(declaration: Any) -> bool:
    where = declaration.location
    if where.file is None:
        return False
    lines = _lines_of(where.file.name)
    return any(allows(Fault.DANGLING_PARAMETER, line) for line in lines[max(0, where.line - 2) : where.line])


@cache
def _lines_of(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []


def _is_declared_once(function: Function) -> bool:
    cursor = function.node.cursor
    is_only = _are_same(cursor.canonical, cursor) and _are_same(cursor.semantic_parent, cursor.lexical_parent)
    return function.node.kind == LAMBDA or is_only
