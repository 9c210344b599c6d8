"""Whether what a function returns goes on with the function's object, or with what an argument points to.

An actor or a coroutine does if it uses it after a wait. Another function does if it gives it to one, or makes an
operation in place of it.
"""

from __future__ import annotations

import os
import re
from typing import Any

from actorc.check.lifetimes import Local, uses_after_waits
from actorc.check.reach import Reach
from actorc.source import Source
from actorc.syntax import Actor, File
from actorc_check.actors import ACTOR_FILES
from actorc_check.clang import written_offset
from actorc_check.declared import head_of
from actorc_check.order import first_after
from actorc_check.reading import Reading
from actorc_check.tree import CALL, USE, Function, Node, functions, is_flow, is_operation

FUTURES = ("Future", "StrictFuture")
_MOST_CALLS = 4  # that are followed, one inside the other
_WORD = re.compile(r"\b(?:SWIFT_)?ACTOR\b")


class KeptObjects:
    """`index`: the number of an argument; None: the object of a member function."""

    def __init__(self, unit: Any, file: File, source: Source, reading: Reading, actors: dict[int, Actor]) -> None:
        """`actors`: those of the file, by the place of their bodies."""
        self._unit = unit
        self._words = file.words
        self._reach = Reach(source)
        self._path = os.path.abspath(source.path)
        self._reading = reading
        self._actors = actors
        self._functions: dict[str, dict[int, Function]] = {}  # by their files and the places of their names

    def is_kept(self, call: Node, index: int | None, calls: int = 0) -> bool:
        """By what a call returns."""
        declaration = call.cursor.referenced
        if declaration is None or calls > _MOST_CALLS:
            return False
        definition = declaration.get_definition()
        function = None if definition is None else self._function(definition)
        if function is None:
            where = declaration.location.file
            is_actor = (
                where is not None and where.name.endswith(ACTOR_FILES) and _WORD.search(head_of(declaration) or "")
            )
            return bool(is_actor) and index is not None
        actor = self._actors.get(self._reading.offset(function.body.start)) if self._is_own(definition) else None
        if actor is not None:
            return index is not None and self._uses_later(actor, index)
        if definition.location.file.name.endswith(ACTOR_FILES) and _WORD.search(head_of(definition) or ""):
            return index is not None
        means = _Means(function, index)
        if function.is_coroutine:
            return first_after(function, [node for node in function.body.walk() if means(node)]) is not None
        return any(self._is_passed_on(node, means, calls) for node in function.body.own() if node.kind == CALL)

    def _is_passed_on(self, call: Node, means: _Means, calls: int) -> bool:
        callee, *arguments = call.children or [call]
        is_future = is_flow(call.cursor.type, FUTURES)
        if is_operation(call.cursor.type):
            return any(means(node) for node in callee.walk())
        if not is_future:
            return False
        if means.is_object and means(callee.core()) and self.is_kept(call, None, calls + 1):
            return True
        given = enumerate(argument.core() for argument in arguments)
        return any(means(argument) and self.is_kept(call, index, calls + 1) for index, argument in given)

    def _is_own(self, definition: Any) -> bool:
        return bool(definition.location.file.name == self._path)

    def _function(self, definition: Any) -> Function | None:
        """None if it is none that the program has written, such as a template."""
        if definition.location.file is None:
            return None
        name = definition.location.file.name
        if name not in self._functions:
            self._functions[name] = {each.node.name_start(): each for each in self._read(name)}
        return self._functions[name].get(definition.location.offset)

    def _read(self, name: str) -> list[Function]:
        if name == self._path:
            return functions(self._unit, name, self._reading.text)
        try:
            with open(name, "rb") as stream:
                return functions(self._unit, name, stream.read())
        except OSError:
            return []

    def _uses_later(self, actor: Actor, index: int) -> bool:
        if actor.body is None or index >= len(actor.parameters):
            return False
        parameter = actor.parameters[index]
        local = Local(parameter.name, parameter.span, actor, actor.body.span)
        uses_after_waits(actor.body, [local], self._words, self._reach)
        return bool(local.lost)


class _Means:
    """Whether an expression is the object of a function, part of it, or the argument with a number."""

    def __init__(self, function: Function, index: int | None) -> None:
        self.is_object = index is None
        parameters = function.parameters
        self._place = parameters[index].name_start() if index is not None and index < len(parameters) else -1

    def __call__(self, node: Node) -> bool:
        if self.is_object:
            is_member = node.kind == "MEMBER_REF_EXPR" and not node.children and node.cursor.spelling != ""
            return node.kind == "CXX_THIS_EXPR" or (is_member and not _is_static(node))
        meant = node.cursor.referenced if node.kind == USE else None
        return meant is not None and written_offset(meant.location) == self._place


def _is_static(node: Node) -> bool:
    meant = node.cursor.referenced
    return meant is not None and meant.kind.name == "CXX_METHOD" and bool(meant.is_static_method())
