"""The part of clang's syntax tree that the checks read.

libclang has no names for the nodes of coroutines and shows all that clang adds to them. Here a coroutine's body is the
block that was written, and of `co_await f` only `f` is left. Places are offsets in the file, in bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

AWAIT = "AWAIT"  # co_await, and co_yield
CO_RETURN = "CO_RETURN"
BLOCK = "COMPOUND_STMT"
TRY = "CXX_TRY_STMT"
CATCH = "CXX_CATCH_STMT"
LAMBDA = "LAMBDA_EXPR"
CALL = "CALL_EXPR"
USE = "DECL_REF_EXPR"
IF = "IF_STMT"
FOR = "FOR_STMT"
RANGE_FOR = "CXX_FOR_RANGE_STMT"
LOOPS = frozenset({FOR, RANGE_FOR, "WHILE_STMT", "DO_STMT"})
FUNCTIONS = frozenset({
    "FUNCTION_DECL", "CXX_METHOD", "CONSTRUCTOR", "DESTRUCTOR", "CONVERSION_FUNCTION", "FUNCTION_TEMPLATE", LAMBDA,
})  # fmt: skip
CLASSES = ("CLASS_DECL", "STRUCT_DECL", "UNION_DECL", "CLASS_TEMPLATE", "CLASS_TEMPLATE_PARTIAL_SPECIALIZATION")
_COROUTINE = "COROUTINE"
_OPERATION = {"isReady", "park", "take"}  # what the concept InPlace asks for
_ADDED = {b"co_await": AWAIT, b"co_yield": AWAIT, b"co_return": CO_RETURN}


class Node:
    """One node; `kind` is libclang's name for it, or one of those above."""

    __slots__ = ("children", "cursor", "end", "kind", "parent", "start")

    def __init__(self, cursor: Any, kind: str, start: int, end: int, parent: Node | None) -> None:
        self.cursor = cursor
        self.kind = kind
        self.start = start
        self.end = end
        self.parent = parent
        self.children: list[Node] = []

    def walk(self) -> Iterator[Node]:
        """The node and all below it, in the order of the text."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.children)

    def own(self) -> Iterator[Node]:
        """The same without what belongs to functions and classes inside."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            inner = (child for child in node.children if child.kind not in FUNCTIONS and not _is_class(child))
            waiting += reversed(list(inner))

    def above(self) -> Iterator[Node]:
        """The nodes that hold this one, innermost first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def core(self) -> Node:
        """The expression without parentheses and what clang adds around it."""
        node = self
        while node.kind in ("UNEXPOSED_EXPR", "PAREN_EXPR") and len(node.children) == 1:
            node = node.children[0]
        return node

    def name_start(self) -> int:
        return int(self.cursor.location.offset)


def _is_class(node: Node) -> bool:
    return node.kind in ("STRUCT_DECL", "CLASS_DECL", "UNION_DECL", "CLASS_TEMPLATE")


class Function:
    """A function or lambda that has a body."""

    def __init__(self, node: Node, body: Node, *, is_coroutine: bool) -> None:
        self.node = node
        self.body = body
        self.is_coroutine = is_coroutine
        self.parameters = [child for child in node.children if child.kind == "PARM_DECL"]
        self.awaits = [node for node in body.own() if node.kind == AWAIT] if is_coroutine else []

    @property
    def title(self) -> str:
        return "this lambda" if self.node.kind == LAMBDA else f"`{self.node.cursor.spelling}`"

    def has_parameter(self, type_: str) -> bool:
        """Whether a parameter has this type of namespace flow."""
        return any(is_flow(parameter.cursor.type, (type_,)) for parameter in self.parameters)


def is_flow(type_: Any, names: tuple[str, ...]) -> bool:
    """Whether it is one of these classes of namespace flow, whatever their arguments."""
    declaration = type_.get_canonical().get_declaration()
    return declaration.spelling in names and namespace_of(declaration) == "flow"


def is_operation(type_: Any) -> bool:
    """Whether it can be waited for and does nothing by itself."""
    if is_flow(type_, ("Race", "TryGet")):
        return True
    declaration = type_.get_canonical().get_declaration()
    if declaration.kind.name not in ("STRUCT_DECL", "CLASS_DECL"):
        return False
    members = _members(declaration)
    return members >= _OPERATION or any(name.startswith("operator Future") for name in members)


def _members(declaration: Any) -> set[str]:
    """The names of a class's members, also of its bases."""
    names = set()
    for child in written_members(declaration):
        if child.kind.name == "CXX_BASE_SPECIFIER":
            names |= _members(child.type.get_canonical().get_declaration())
        else:
            names.add(child.spelling)
    return names


def written_members(declaration: Any) -> list[Any]:
    """The members of a class as the text has them. libclang shows none of those that it makes of a template."""
    from clang import cindex

    definition = declaration.get_definition() or declaration
    template = cindex.conf.lib.clang_getSpecializedCursorTemplate(definition)
    source = template if template is not None and template.kind.name in CLASSES else definition
    return list((source.get_definition() or source).get_children())


def namespace_of(declaration: Any) -> str:
    """The outermost namespace around a declaration."""
    name = ""
    above = declaration.semantic_parent
    while above is not None and above.kind.name == "NAMESPACE":
        name = above.spelling
        above = above.semantic_parent
    return str(name)


def functions(unit: Any, path: str, text: bytes) -> list[Function]:
    """All in the file itself, also those inside others."""
    found: list[Function] = []
    for cursor in unit.cursor.get_children():
        file = cursor.location.file
        if file is not None and file.name == path:
            for node in _built(cursor, text).walk():
                if node.kind in FUNCTIONS and node.children:
                    found += _function(node)
    return found


def _function(node: Node) -> Iterator[Function]:
    last = node.children[-1]
    if last.kind == _COROUTINE and last.children:
        yield Function(node, last.children[0], is_coroutine=True)
    elif last.kind in (BLOCK, TRY):
        yield Function(node, last, is_coroutine=False)


def _built(top: Any, text: bytes) -> Node:
    root = _node(top, None, text)
    waiting = [root]
    while waiting:
        parent = waiting.pop()
        children = list(parent.cursor.get_children())
        parent.kind, kept = _meaning(parent, children, text)
        parent.children = [_node(cursor, parent, text) for cursor in kept]
        waiting += parent.children
    return root


def _node(cursor: Any, parent: Node | None, text: bytes) -> Node:
    try:
        kind = str(cursor.kind.name)
    except ValueError:  # a kind that the bindings do not have
        kind = "UNKNOWN"
    extent = cursor.extent
    return Node(cursor, kind, extent.start.offset, extent.end.offset, parent)


def _meaning(node: Node, children: list[Any], text: bytes) -> tuple[str, list[Any]]:
    """The kind of a node, and the children that were written."""
    if node.kind not in ("UNEXPOSED_EXPR", "UNEXPOSED_STMT") or not children:
        return node.kind, children
    if node.kind == "UNEXPOSED_STMT" and children[0].kind.name in (BLOCK, TRY):
        above = node.parent
        if above is not None and above.kind in FUNCTIONS:
            return _COROUTINE, children[:1]
    if len(children) > 2 and children[2].spelling == "await_ready":  # also what a macro has made
        return AWAIT, children[:1]
    word = text[node.start : node.start + 9].split(b" ")[0].split(b"(")[0].rstrip(b";\n\t")
    kind = _ADDED.get(word)
    if kind is None or (kind == CO_RETURN) != (node.kind == "UNEXPOSED_STMT"):
        return node.kind, children
    return (kind, children[:1]) if kind == CO_RETURN or len(children) > 1 else (node.kind, children)
