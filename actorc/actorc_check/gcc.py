"""Coroutines that gcc translates wrongly. clang translates them as they are written.

In an expression that waits, gcc 12 keeps temporaries in the frame. It copies the bytes of those that it makes from a
list of members, which are the objects of lambdas and of aggregates, and destroys both copies. The same happens to what
`?:` makes.
"""

from __future__ import annotations

from collections.abc import Iterator

from actorc.diagnostics import Diagnostics, Fault, Note
from actorc_check.destructors import has_destructor
from actorc_check.traps import Traps, gives_value
from actorc_check.tree import AWAIT, CALL, CO_RETURN, FOR, FUNCTIONS, IF, LAMBDA, Function, Node, is_flow

_LIST = "INIT_LIST_EXPR"
_CHOICE = "CONDITIONAL_OPERATOR"
_CONDITIONS = (IF, FOR, "WHILE_STMT", "DO_STMT", "SWITCH_STMT")
_MADE = (LAMBDA, _LIST, "CXX_FUNCTIONAL_CAST_EXPR")
_IN_ORDER = (b"=", b",", b"&&", b"||")
_GCC_THAT_MAKES_OBJECTS_ONCE = 13
_TWICE = "gcc 12 destroys it twice"


def look(function: Function, traps: Traps, text: bytes, diagnostics: Diagnostics, version: int) -> None:
    if not function.is_coroutine:
        return
    is_old = version < _GCC_THAT_MAKES_OBJECTS_ONCE
    wholes = {id(whole): whole for whole in map(_whole, function.awaits)}
    for whole in wholes.values():
        for node in _parts(whole):
            if node.kind == "BINARY_OPERATOR":
                _operands(node, traps, text, diagnostics)
            elif not is_old:
                continue
            elif node.kind == LAMBDA:
                _captures(node, whole, traps, diagnostics)
            elif node.kind == _LIST:
                _members(node, whole, traps, diagnostics)
            elif node.kind == _CHOICE:
                _choice(node, whole, traps, diagnostics)
    if is_old:
        _conditions(function, traps, text, diagnostics)


def _whole(wait: Node) -> Node:
    """The whole expression around a co_await."""
    node = wait
    while node.parent is not None and not _holds_expressions(node.parent):
        node = node.parent
    return node


def _holds_expressions(node: Node) -> bool:
    return node.kind.endswith(("_STMT", "_DECL")) or node.kind == CO_RETURN or node.kind in FUNCTIONS


def _parts(whole: Node) -> Iterator[Node]:
    """All of an expression but the bodies of lambdas, and the lists inside of lists."""
    waiting = [whole]
    while waiting:
        node = waiting.pop()
        yield node
        if node.kind != LAMBDA:
            inner = [child for child in node.children if node.kind != _LIST or child.core().kind != _LIST]
            waiting += reversed(inner)


def _first_wait(whole: Node) -> Node:
    return next(node for node in _parts(whole) if node.kind == AWAIT)


def _captures(node: Node, whole: Node, traps: Traps, diagnostics: Diagnostics) -> None:
    if not has_destructor(node.cursor.type):
        return
    message = f"this lambda has captured what has a destructor, and an expression with a `co_await` makes it: {_TWICE}"
    hint = "give the lambda a name before this statement: `auto work = [...] { ... };`, and pass `work`"
    _report(node, message, hint, whole, traps, diagnostics)


def _members(node: Node, whole: Node, traps: Traps, diagnostics: Diagnostics) -> None:
    type_ = node.cursor.type
    is_array = type_.get_canonical().kind.name == "CONSTANTARRAY"
    if is_array and node is not whole.core():
        return  # of an initializer_list, which gcc refuses
    if not has_destructor(type_):
        return
    name = type_.spelling.removeprefix("const ")
    message = f"this list makes a `{name}`, with a destructor, in an expression with a `co_await`: {_TWICE}"
    if any(inner.kind == AWAIT for inner in node.own()):
        hint = "give what the `co_await` gives a name before this statement"
    else:
        hint = f"give it a name before this statement: `{name} made{{...}};`, and write `made` here"
    _report(node, message, hint, whole, traps, diagnostics)


def _choice(node: Node, whole: Node, traps: Traps, diagnostics: Diagnostics) -> None:
    if not has_destructor(node.cursor.type) or not any(_is_made(branch) for branch in node.children[1:]):
        return
    message = f"this `?:` makes an object with a destructor in an expression with a `co_await`: {_TWICE}, or leaks it"
    hint = "write an `if`, or make the object in a statement before this one, without a `co_await`"
    _report(node, message, hint, whole, traps, diagnostics)


def _is_made(branch: Node) -> bool:
    """Whether the branch of a `?:` is an object that the expression makes, as opposed to one that it refers to."""
    node = branch.core()
    if node.kind == _CHOICE:
        return any(_is_made(inner) for inner in node.children[1:])
    if node.kind == AWAIT:
        return _resumes_with_value(node)
    return node.kind in _MADE or (node.kind == CALL and gives_value(node.cursor))


def _resumes_with_value(wait: Node) -> bool:
    """Whether `await_resume`, the last thing that clang adds to a co_await, makes an object."""
    added = list(wait.cursor.get_children())
    while added and added[-1].kind.name == "UNEXPOSED_EXPR":
        added = list(added[-1].get_children())
    return bool(added) and added[-1].spelling == "await_resume" and gives_value(added[-1])


def _operands(node: Node, traps: Traps, text: bytes, diagnostics: Diagnostics) -> None:
    if len(node.children) != 2 or _operator(node, text) in _IN_ORDER:
        return
    first, second = (_number_waited_for(operand, text) for operand in node.children)
    if first is None or second is None:
        return
    message = "gcc begins this `co_await` before the other one of the expression has ended"
    hint = "give each `co_await` a statement of its own: `auto first = co_await ...;`"
    notes = (Note("the other one", traps.word(first)),)
    diagnostics.warning(Fault.GCC_COROUTINE, message, traps.word(second), hint=hint, notes=notes)


def _operator(node: Node, text: bytes) -> bytes:
    """Of two operands, without the parentheses around them."""
    return text[node.children[0].end : node.children[1].start].strip()


def _number_waited_for(operand: Node, text: bytes) -> Node | None:
    """The last co_await of a future whose value is an operand of an arithmetic expression as it is.

    gcc waits in order for what has an address, such as a string, and for tasks.
    """
    node = operand.core()
    if node.kind == "BINARY_OPERATOR" and _operator(node, text) not in _IN_ORDER:
        found = (_number_waited_for(child, text) for child in reversed(node.children))
        return next((wait for wait in found if wait is not None), None)
    if node.kind != AWAIT:
        return None
    return node if is_flow(node.children[0].core().cursor.type, ("Future", "StrictFuture")) else None


def _report(node: Node, message: str, hint: str, whole: Node, traps: Traps, diagnostics: Diagnostics) -> None:
    notes = (Note("the coroutine may wait here", traps.word(_first_wait(whole))),)
    diagnostics.warning(Fault.GCC_COROUTINE, message, traps.span(node.start, node.end), hint=hint, notes=notes)


def _conditions(function: Function, traps: Traps, text: bytes, diagnostics: Diagnostics) -> None:
    """gcc 12 keeps the temporaries of a condition with the variables of a block. Without them its code is wrong."""
    if any(_declares(node) for node in function.body.own()):
        return
    for wait in function.awaits:
        node = _whole(wait)
        statement = node.parent
        if statement is not None and statement.kind in _CONDITIONS and _is_condition(node, statement, text):
            message = f"a condition waits, and {function.title} has no variable: gcc 12 makes code that crashes"
            hint = "give what it waits for a name before this statement, and test that: `auto result = co_await ...;`"
            diagnostics.warning(Fault.GCC_COROUTINE, message, traps.word(wait), hint=hint)
            return


def _declares(node: Node) -> bool:
    """Whether a node of a body gives gcc a block with something in it."""
    return node.kind.endswith("_DECL") or node.kind == "DECL_STMT" or any(c.kind == LAMBDA for c in node.children)


def _is_condition(node: Node, statement: Node, text: bytes) -> bool:
    """Whether an expression below a statement is what it tests."""
    if statement.kind == "DO_STMT":
        return node is statement.children[-1]
    if statement.kind == FOR:  # libclang leaves out those of the parts that are not there
        return text[: node.start].rstrip().endswith(b";") and text[node.end :].lstrip().startswith(b";")
    return node is statement.children[0]
