"""Waits that destroy what they wait for: an actor's plain local lives up to the next wait.

An operation in place only refers to its object, and an actor or coroutine that was given a pointer goes on with it.
Where the object is a plain local of the actor that waits, or belongs to one, the wait destroys it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from actorc.check.lifetimes import Local, plain_locals
from actorc.check.reach import Reach
from actorc.diagnostics import Diagnostics, Edit, Fault, Fix, Note
from actorc.records import dataclass
from actorc.source import Source
from actorc.syntax import File, Plain, Span, Wait, When, all_actors
from actorc_check.clang import written_offset
from actorc_check.kept_objects import FUTURES, KeptObjects
from actorc_check.reading import Reading
from actorc_check.tree import CALL, LAMBDA, USE, Function, Node, is_flow, is_operation, namespace_of

_WAITS = ("wait", "waitNext")
_ONLY = {"std": {"unique_ptr"}}
_SHARED = {"std": {"shared_ptr"}, "flow": {"Reference"}}
_VIEWS = {"std": {"span", "basic_string_view"}, "flow": {"ReadBuffer", "StringRef", "VectorRef"}}
_HOLDERS = {
    "std": {"array", "basic_string", "deque", "list", "map", "optional", "unordered_map", "vector"},
    "flow": {"Optional", "Standalone"},
}
_PARTS = ("operator[]", "operator->", "operator*", "at", "back", "front", "get", "getPtr", "value")
_MAKES = ("makeReference", "make_shared")
_MEMBER = "MEMBER_REF_EXPR"
_REFERENCES = ("LVALUEREFERENCE", "RVALUEREFERENCE")


@dataclass(frozen=True, slots=True)
class _Found:
    """A local that a wait destroys. `node`: where it is used; `owns`: what it holds is destroyed, not it alone."""

    local: Local
    node: Node
    owns: bool
    how: str


class DyingLocals:
    """Looks through the actors of a file and adds to `diagnostics`."""

    def __init__(self, unit: Any, file: File, source: Source, reading: Reading, diagnostics: Diagnostics) -> None:
        self._source = source
        self._reading = reading
        self._diagnostics = diagnostics
        self._locals: dict[int, Local] = {}  # by the place of the name
        bodies = {actor.body.span.start: actor for actor in all_actors(file.actors) if actor.body is not None}
        reach = Reach(source)
        self._actors = bodies
        for actor in bodies.values():
            if actor.body is not None:
                self._locals |= {local.span.start: local for local in plain_locals(actor.body, file.words, reach)}
        self._kept = KeptObjects(unit, file, source, reading, bodies)
        self._function: Function | None = None
        self._variables: dict[int, Node] = {}  # of the function, by the place of the name

    def look(self, function: Function) -> None:
        if self._reading.offset(function.body.start) not in self._actors:
            return
        self._function = function
        self._variables = {
            written_offset(node.cursor.location): node for node in function.body.walk() if node.kind == "VAR_DECL"
        }
        for node in function.body.own():
            if node.kind == CALL and node.cursor.spelling in _WAITS and len(node.children) > 1:
                operand = node.children[1].core()
                self._report(next(self._in_operand(operand, ()), None), operand, "this wait")
            elif node.kind == "VAR_DECL" and is_flow(node.cursor.type, FUTURES) and not self._is_plain(node):
                self._report(next(self._in_operand(node, ()), None), node, "the next wait")

    # -----------------------------------------------------------------------------------------------------------
    # What is reported

    def _report(self, found: _Found | None, waited: Node, wait: str) -> None:
        """`waited`: what is waited for, or a future that is kept."""
        if found is None:
            return
        local, place, whole = found.local, self._span(found.node), self._span(waited)
        what = f"what `{local.name}` holds" if found.owns else f"`{local.name}`"
        message = f"{wait} destroys {what}, {found.how}"
        notes = [Note(f"`{local.name}` is declared here; a plain local lives up to the next wait", local.span)]
        if not whole.start <= place.start < whole.end:
            notes.append(Note("and used here", place))
            place = whole
        if not self._diagnostics.knows(Fault.DYING_LOCAL, place):
            hint, fixes = self._repair(local)
            self._diagnostics.warning(Fault.DYING_LOCAL, message, place, hint=hint, notes=tuple(notes), fixes=fixes)

    def _repair(self, local: Local) -> tuple[str, tuple[Fix, ...]]:
        origin = local.origin.wait if isinstance(local.origin, Wait | When) else local.origin
        written = " ".join(self._source[Span(origin.span.start, local.span.end)].split())
        is_alone = not isinstance(origin, Plain) or len(origin.locals) == 1
        if not isinstance(local.origin, Wait | When | Plain) or not is_alone or "[" in written:
            return f"keep it in a variable that is declared with `state`: `state TYPE kept = {local.name};`", ()
        if "auto" in written.split() or "&" in written:
            return f"declare it with `state` and its type: `state TYPE {local.name} = ...`", ()
        fix = Fix(f"declare `{local.name}` with `state`", (Edit(Span(origin.span.start, origin.span.start), "state "),))
        return f"declare it with `state`: `state {written}`", (fix,)

    def _span(self, node: Node) -> Span:
        """Also within the argument of a macro, such as `when`."""
        extent = node.cursor.extent
        return self._reading.span(written_offset(extent.start), written_offset(extent.end))

    # -----------------------------------------------------------------------------------------------------------
    # What is waited for

    def _in_operand(self, operand: Node, around: tuple[Node, ...]) -> Iterator[_Found]:
        """`around`: the variables and lambdas that have led there."""
        for node in _evaluated(operand):
            if node.kind == CALL:
                yield from self._in_call(node, around)
            elif node.kind == USE and (variable := self._variable(node)) is not None and variable not in around:
                type_ = variable.cursor.type
                if self._is_plain(variable) and (is_operation(type_) or is_flow(type_, FUTURES)):
                    yield from self._in_operand(variable, (*around, variable))

    def _in_call(self, call: Node, around: tuple[Node, ...]) -> Iterator[_Found]:
        if call.cursor.referenced is not None and call.cursor.referenced.kind.name == "CONSTRUCTOR":
            return
        if call.cursor.spelling == "operator()":
            for node in call.children[0].walk():
                lambda_ = self._lambda(node)
                if lambda_ is not None and lambda_ not in around:
                    for inner in lambda_.walk():
                        if inner.kind == "RETURN_STMT":
                            yield from self._in_operand(inner, (*around, lambda_))
        elif is_operation(call.cursor.type):
            yield from self._named_by(call)
        elif is_flow(call.cursor.type, FUTURES):
            yield from self._used_by(call)

    def _lambda(self, node: Node) -> Node | None:
        if node.kind == LAMBDA:
            return node
        variable = self._variable(node)
        if variable is None or not self._is_plain(variable):
            return None
        return next((inner for inner in variable.walk() if inner.kind == LAMBDA), None)

    def _named_by(self, call: Node) -> Iterator[_Found]:
        """A plain local to which the operation that a call gives refers: its object, or an argument by reference."""
        how = "to which the operation refers while it waits"
        called = call.children[0].core() if call.children else call
        pointers = _pointers(call.cursor.type)
        is_member = called.kind == _MEMBER
        if is_member and called.children and pointers:
            yield from self._dies(called.children[0], how, is_pointer=_is_pointer(called.children[0]))
        for argument, type_ in zip(call.children[1:], _parameter_types(call), strict=False):
            if pointers > is_member:  # besides the one to its object
                yield from self._referred(argument, type_, how)

    def _used_by(self, call: Node) -> Iterator[_Found]:
        """A plain local that an actor or a coroutine uses when it goes on."""
        how = f"which `{call.cursor.spelling}` uses when it goes on"
        called = call.children[0].core() if call.children else call
        if called.kind == _MEMBER and called.children:
            for found in self._dies(called.children[0], how, is_pointer=_is_pointer(called.children[0])):
                if self._kept.is_kept(call, None):
                    yield found
        for index, argument in enumerate(call.children[1:]):
            core = argument.core()
            if _is_pointer(core):
                for found in self._dies(core, how, is_pointer=True):
                    if self._kept.is_kept(call, index):
                        yield found

    def _referred(self, argument: Node, type_: Any, how: str) -> Iterator[_Found]:
        """A local that an argument refers to: by reference, by address, or through a view of its elements."""
        if type_.kind.name in _REFERENCES:
            yield from self._dies(argument, how)
        elif type_.get_canonical().kind.name == "POINTER":
            yield from self._dies(argument.core(), how, is_pointer=True)
        elif _is_one_of(type_, _VIEWS):
            for node in argument.walk():
                if node.kind == USE and (_is_one_of(node.cursor.type, _HOLDERS) or _is_array(node)):
                    yield from self._dies(node, how)

    # -----------------------------------------------------------------------------------------------------------
    # What a plain local owns

    def _dies(self, expression: Node, how: str, *, is_pointer: bool = False) -> Iterator[_Found]:
        """The plain local of which the object is a part, or which owns it."""
        found = self._root(expression, is_pointer=is_pointer)
        if found is None:
            return
        use, local, owners = found
        variable = self._variable(use)
        if variable is None:
            return
        if any(_is_one_of(type_, _SHARED) for type_ in owners) and not self._is_only_owner(variable):
            return
        yield _Found(local, use, bool(owners), how)

    def _root(self, expression: Node, *, is_pointer: bool) -> tuple[Node, Local, list[Any]] | None:
        """The use of the local, and the smart pointers on the way. `is_pointer`: the expression points to the object.

        A loop of pointers that are initialised with each other is not followed for ever.
        """
        owners: list[Any] = []
        node = expression.core()
        for _ in range(32):
            if node.kind == USE:
                variable = self._variable(node)
                if variable is None or not self._is_plain(variable):
                    return None
                kind = variable.cursor.type.get_canonical().kind.name
                refers = is_pointer if kind == "POINTER" else kind in _REFERENCES
                if kind == "POINTER" and not is_pointer:
                    return None
                if not refers or self._is_result(variable):
                    local = self._locals[self._place(variable)]
                    return None if kind == "POINTER" or (is_pointer and not _is_array(node)) else (node, local, owners)
                if not variable.children:
                    return None
                node = variable.children[-1].core()
            elif node.kind == _MEMBER and node.children and node.cursor.referenced.kind.name == "FIELD_DECL":
                kind = node.cursor.referenced.type.get_canonical().kind.name
                if kind in _REFERENCES or (is_pointer and not _is_array(node)):
                    return None
                node = node.children[0].core()
                is_pointer = _is_pointer(node)
            elif node.kind == CALL and (node.cursor.spelling in _PARTS or node.cursor.spelling == "move"):
                inner = _object(node)
                if inner is None:
                    return None
                if node.cursor.spelling != "move":
                    type_ = inner.cursor.type
                    if _is_one_of(type_, _ONLY) or _is_one_of(type_, _SHARED):
                        owners.append(type_)
                    elif not _is_one_of(type_, _HOLDERS):
                        return None
                    is_pointer = False
                node = inner
            elif node.kind == "UNARY_OPERATOR" and node.children:
                sign = self._source[self._span(node)][:1]
                if sign not in ("&", "*"):
                    return None
                is_pointer = sign == "*"
                node = node.children[0].core()
            elif node.kind == "ARRAY_SUBSCRIPT_EXPR" and node.children and _is_array(node.children[0].core()):
                node, is_pointer = node.children[0].core(), False
            else:
                return None
        return None

    def _is_only_owner(self, variable: Node) -> bool:
        """Whether a local certainly holds the only reference: what it was given is new, and it is passed to nobody."""
        if self._function is None or not _is_new(variable):
            return False
        place = self._place(variable)
        uses = (node for node in self._function.body.walk() if node.kind == USE and self._place_of(node) == place)
        return all(_only_reads(use) for use in uses)

    # -----------------------------------------------------------------------------------------------------------
    # Variables

    def _variable(self, node: Node) -> Node | None:
        meant = node.cursor.referenced if node.kind == USE else None
        if meant is None or meant.kind.name != "VAR_DECL" or meant.storage_class.name == "STATIC":
            return None
        return self._variables.get(written_offset(meant.location))

    def _place(self, variable: Node) -> int:
        return self._reading.offset(written_offset(variable.cursor.location))

    def _place_of(self, use: Node) -> int:
        variable = self._variable(use)
        return -1 if variable is None else self._place(variable)

    def _is_plain(self, variable: Node) -> bool:
        return self._place(variable) in self._locals

    def _is_result(self, variable: Node) -> bool:
        """Whether a wait gives it: the result is kept up to the next wait, also behind a reference."""
        return isinstance(self._locals[self._place(variable)].origin, Wait | When)


def _evaluated(expression: Node) -> Iterator[Node]:
    """The nodes below an expression, without what stands in lambdas."""
    waiting = [expression]
    while waiting:
        node = waiting.pop()
        yield node
        if node.kind != LAMBDA:
            waiting += reversed(node.children)


def _object(call: Node) -> Node | None:
    """The object of a member function or an operator; of `move`, its argument."""
    if call.cursor.spelling == "move":
        return call.children[1].core() if len(call.children) == 2 else None
    first = call.children[0].core() if call.children else None
    if first is not None and first.kind == _MEMBER and first.cursor.spelling == call.cursor.spelling:
        return first.children[0].core() if first.children else None
    return first


def _is_one_of(type_: Any, names: dict[str, set[str]]) -> bool:
    type_ = type_.get_canonical()
    if type_.kind.name in _REFERENCES:
        type_ = type_.get_pointee().get_canonical()
    declaration = type_.get_declaration()
    return declaration.spelling in names.get(namespace_of(declaration), ())


def _is_pointer(node: Node) -> bool:
    return bool(node.cursor.type.get_canonical().kind.name == "POINTER")


def _is_array(node: Node) -> bool:
    return bool(node.cursor.type.get_canonical().kind.name == "CONSTANTARRAY")


def _parameter_types(call: Node) -> list[Any]:
    callee = call.cursor.referenced
    return [] if callee is None else [each.type for each in callee.get_arguments()]


def _pointers(operation: Any, depth: int = 0) -> int:
    """How many members of an operation refer to something."""
    declaration = operation.get_canonical().get_declaration()
    count = 0
    for field in operation.get_canonical().get_fields():
        refers = field.type.get_canonical().kind.name in ("POINTER", *_REFERENCES) or _is_one_of(field.type, _VIEWS)
        count += refers or (_pointers(field.type, depth + 1) if depth < 4 else 0)
    for each in (declaration.get_definition() or declaration).get_children():
        if each.kind.name == "CXX_BASE_SPECIFIER" and depth < 4:
            count += _pointers(each.type, depth + 1)
    return count


def _is_new(variable: Node) -> bool:
    """Whether the value of a variable was made for it: by a call that is waited for, or one that makes an object."""
    for node in variable.walk():
        if node.kind == "CXX_NEW_EXPR":
            return True
        if node.kind != CALL:
            continue
        if node.cursor.spelling in _WAITS and len(node.children) > 1:
            return node.children[1].core().kind == CALL
        callee = node.cursor.referenced
        if callee is None or callee.kind.name == "CONSTRUCTOR":
            continue
        is_const = callee.kind.name == "CXX_METHOD" and callee.is_const_method()
        is_reference = callee.result_type.kind.name in _REFERENCES
        if node.cursor.spelling in _MAKES:
            return True
        return namespace_of(callee) == "flow" and not is_const and not is_reference
    return False


def _only_reads(use: Node) -> bool:
    """Whether a smart pointer, or one in a member, is used for its object and not copied."""
    node = use
    for above in use.above():
        if above.kind in ("UNEXPOSED_EXPR", "PAREN_EXPR"):
            node = above
        elif above.kind == _MEMBER:
            if above.cursor.referenced is None or above.cursor.referenced.kind.name != "FIELD_DECL":
                return True
            node = above
        elif above.kind == CALL:
            is_operator = above.cursor.spelling in ("operator->", "operator*", "operator bool", "operator==")
            return is_operator and above.children[0] is node
        else:
            return above.kind != "VAR_DECL" and not above.kind.endswith("LIST_EXPR")
    return True
