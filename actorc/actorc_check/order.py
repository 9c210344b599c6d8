"""What can run after a `co_await` in the same function."""

from __future__ import annotations

from actorc_check.tree import BLOCK, CATCH, CO_RETURN, FOR, IF, LOOPS, TRY, Function, Node

_LEAVES = frozenset({CO_RETURN, "RETURN_STMT", "CXX_THROW_EXPR"})
_SWITCH = "SWITCH_STMT"


def first_after(function: Function, uses: list[Node]) -> tuple[Node, Node] | None:
    """The first of the uses that can run after a `co_await`, and that `co_await`."""
    for use in uses:
        for wait in function.awaits:
            if _can_follow(use, wait, function.body):
                return use, wait
    return None


def _can_follow(use: Node, wait: Node, body: Node) -> bool:
    above_wait = [wait, *_up_to(wait, body)]
    above_use = [use, *_up_to(use, body)]
    common = next(node for node in above_wait if node in above_use)
    for index, node in enumerate(above_wait):
        if node.kind in LOOPS and node in above_use and not _is_first_part(above_use, node):
            return not _leaves(above_wait[:index])
    if use.start < wait.end:
        return False
    mine, others = _child(above_wait, common), _child(above_use, common)
    if _are_exclusive(common, mine, others):
        return False
    return not _leaves(above_wait[: above_wait.index(common)]) or common.kind == TRY


def _up_to(node: Node, body: Node) -> list[Node]:
    found = []
    for above in node.above():
        found.append(above)
        if above is body:
            break
    return found


def _child(path: list[Node], above: Node) -> Node:
    """The node of the path below `above`."""
    return path[max(0, path.index(above) - 1)]


def _is_first_part(path: list[Node], loop: Node) -> bool:
    """`for (HERE; ...)`, which runs once."""
    return loop.kind == FOR and loop.children[0].kind == "DECL_STMT" and loop.children[0] in path


def _are_exclusive(common: Node, mine: Node, others: Node) -> bool:
    """Whether only one of two children runs."""
    if common.kind == IF and len(common.children) >= 3:
        then, otherwise = common.children[-2:]
        is_statement = then.kind.endswith("_STMT") or then.cursor.type.spelling != "bool"
        return is_statement and mine is then and others is otherwise
    if common.kind == "CONDITIONAL_OPERATOR":
        return mine is common.children[1] and others is common.children[2]
    if common.kind == TRY:
        return mine.kind == CATCH and others.kind == CATCH
    if common.kind == BLOCK and common.parent is not None and common.parent.kind == _SWITCH:
        first, last = common.children.index(mine), common.children.index(others)
        return any(_ends(child) for child in common.children[first:last])
    return False


def _ends(statement: Node) -> bool:
    """Whether control never comes to the statement after this one of a `switch`."""
    while statement.children and (statement.kind == BLOCK or statement.kind in ("CASE_STMT", "DEFAULT_STMT")):
        statement = statement.children[-1]
    return statement.kind == "BREAK_STMT" or statement.core().kind in _LEAVES


def _leaves(path: list[Node]) -> bool:
    """Whether the function ends before control leaves the nodes of a path, which begins at a `co_await`.

    A handler may go on after what its `try` raises.
    """
    for node in path:
        if node.parent is not None and node.parent.kind == TRY and node.kind == BLOCK:
            return False
        if node.kind in _LEAVES:
            return True
        if node.kind == BLOCK and node.children and node.children[-1].core().kind in _LEAVES:
            return True
    return False
