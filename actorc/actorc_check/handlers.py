"""Handlers of coroutines: those that never run, and those that swallow a cancellation."""

from __future__ import annotations

import re

from actorc.diagnostics import Diagnostics, Edit, Fault, Fix, Note
from actorc_check.traps import Traps
from actorc_check.tree import AWAIT, CATCH, FOR, LOOPS, RANGE_FOR, TRY, Function, Node, is_flow

# A handler with one of these does something about the error that it has caught.
_DEALS = re.compile(
    rb"\b(?:throw|return|co_return|break|goto|code|isCancel\w*|actor_cancelled|error_code_actor_cancelled|co_await)\b"
)


def look(function: Function, traps: Traps, text: bytes, diagnostics: Diagnostics) -> None:
    if not function.is_coroutine:
        return
    propagates = function.has_parameter("Propagate")
    for node in function.body.own():
        if node.kind == TRY:
            waits = [inner for inner in node.children[0].own() if inner.kind == AWAIT and not _is_try_get(inner)]
            if waits and propagates:
                _never_runs(node, waits[0], traps, diagnostics)
            elif waits and not function.has_parameter("Uncancellable"):
                _swallows(node, waits[0], traps, text, diagnostics)


def _is_try_get(wait: Node) -> bool:
    return is_flow(wait.children[0].core().cursor.type, ("TryGet",))


def _never_runs(node: Node, wait: Node, traps: Traps, diagnostics: Diagnostics) -> None:
    message = "a coroutine with `Propagate` ends at the `co_await` that fails: these handlers do not see the error"
    hint = "leave the parameter `Propagate` out, or take the error as a value: `co_await tryGet(...)`"
    notes = (Note("such as an error of this `co_await`", traps.word(wait)),)
    diagnostics.warning(Fault.HANDLER_NEVER_RUNS, message, traps.word(node, 3), hint=hint, notes=notes)


def _swallows(node: Node, wait: Node, traps: Traps, text: bytes, diagnostics: Diagnostics) -> None:
    catch = next((child for child in node.children if child.kind == CATCH and _takes_cancel(child)), None)
    if catch is None or _DEALS.search(text[catch.children[-1].start : catch.children[-1].end]):
        return
    loop = next((above for above in node.above() if above.kind in LOOPS), None)
    if loop is None or not _may_spin(loop, text) or _waits_elsewhere(loop, node, catch, text):
        return
    if _is_kept(catch, text) and _DEALS.search(text[catch.end : loop.end]):
        return
    head = traps.span(catch.start, catch.children[-1].start)
    message = "this loop cannot be cancelled: the handler catches `actor_cancelled`, and the next pass waits again"
    notes = (Note("a cancelled coroutine gets it at this `co_await`, in every pass", traps.word(wait)),)
    variable = catch.children[0] if len(catch.children) > 1 else None
    name = variable.cursor.spelling if variable is not None else ""
    rethrow = f"if ({name or 'e'}.code() == error_code_actor_cancelled) throw;"
    edits = [Edit(traps.span(catch.children[-1].start + 1, catch.children[-1].start + 1), f" {rethrow}")]
    if not name:
        written = "Error& e" if variable is None else text[variable.start : variable.end].decode() + " e"
        open_ = text.index(b"(", catch.start)
        close = text.rindex(b")", open_, catch.children[-1].start)
        edits.insert(0, Edit(traps.span(open_ + 1, close), written))
    hint = f"pass it on at the start of the handler: `{rethrow}`"
    fixes = (Fix("pass a cancellation on", tuple(edits)),)
    diagnostics.warning(Fault.SWALLOWED_IN_COROUTINE, message, head, hint=hint, notes=notes, fixes=fixes)


def _takes_cancel(catch: Node) -> bool:
    """`catch (...)`, or one of an Error."""
    if len(catch.children) == 1:
        return True
    type_ = catch.children[0].cursor.type
    return is_flow(type_.get_pointee() if type_.kind.name == "LVALUEREFERENCE" else type_, ("Error",))


def _is_kept(catch: Node, text: bytes) -> bool:
    """Whether the handler assigns the error to a variable, at which the code behind it may look."""
    name = catch.children[0].cursor.spelling.encode() if len(catch.children) > 1 else b""
    body = text[catch.children[-1].start : catch.children[-1].end]
    return bool(name) and re.search(rb"=\s*" + re.escape(name) + rb"\s*;", body) is not None


def _may_spin(loop: Node, text: bytes) -> bool:
    """Whether nothing but its body ends the loop."""
    if loop.kind == RANGE_FOR:
        return False
    if loop.kind != FOR:
        return True
    head = text[loop.start : loop.children[-1].start].rstrip().removesuffix(b")")
    return not head.rpartition(b";")[2].strip()


def _waits_elsewhere(loop: Node, try_: Node, catch: Node, text: bytes) -> bool:
    """Whether each pass waits outside the `try`, so that a cancelled coroutine leaves there."""
    body = loop.children[-1] if loop.kind != "DO_STMT" else loop.children[0]
    skips_rest = b"continue" in text[catch.start : catch.end]
    for part in body.children:
        if part.start <= try_.start < part.end:
            if skips_rest:
                return False
        elif _always_waits(part):
            return True
    return False


def _always_waits(statement: Node) -> bool:
    """Whether it waits unless it ends the function; what stands in a branch or a loop may not run."""
    waiting = [statement]
    while waiting:
        node = waiting.pop()
        if node.kind == AWAIT:
            return True
        if node.kind in LOOPS or node.kind in (TRY, "IF_STMT", "SWITCH_STMT", "LAMBDA_EXPR", "CONDITIONAL_OPERATOR"):
            continue
        waiting += node.children
    return False
