"""Actors that plain C++ declares as their callers see them, each parameter as `T const&`.

To clang, which reads an actor file as it stands, a definition with `T x` is of another function. So it gets a text in
which such an actor has the parameters that actorc emits, and a variable of the same name for each: the actor's copy.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from actorc.diagnostics import Diagnostics, Edit, apply_edits
from actorc.driver import examine
from actorc.emit.signature import Argument, arguments_of
from actorc.source import Source
from actorc.syntax import Actor, File, Parameter, Span
from actorc_check.reading import Reading

_BLOCKS = ("LINKAGE_SPEC", "UNEXPOSED_DECL")
_SCOPES = ("NAMESPACE", "CLASS_DECL", "STRUCT_DECL")
_FUNCTIONS = ("FUNCTION_DECL", "CXX_METHOD", "FUNCTION_TEMPLATE")


def edits_of_heads(unit: Any, path: str, file: File, source: Source) -> list[Edit]:
    """The edits of an actor file that clang has read as it stands, from `path`."""
    reading = Reading(source)
    places = {actor.name_span.start: actor for actor in file.actors if actor.parameters and actor.test_name is None}
    wanted: dict[tuple[str, str], list[tuple[Any, Actor]]] = defaultdict(list)
    scopes: set[str] = set()
    for function in own_functions(unit.cursor, path):
        actor = places.get(reading.offset(function.location.offset))
        if actor is not None:
            wanted[_scope(function), function.spelling].append((function, actor))
            scopes |= set(_names_above(function))
    found: dict[int, Actor] = {}
    for declared in _declared(unit.cursor, scopes) if wanted else ():
        for function, actor in wanted.get((_scope(declared), declared.spelling), ()):
            if function.canonical != declared.canonical and _is_by_reference(declared, len(actor.parameters)):
                found[actor.span.start] = actor
    return [edit for actor in found.values() for edit in _edits(actor, source)]


def included(unit: Any) -> list[tuple[str, str]]:
    """The edited texts of the actor headers that a file includes, by their paths."""
    texts = {}
    for path in {each.include.name for each in unit.get_includes() if each.include.name.endswith(".actor.h")}:
        source, diagnostics = Source.read(path), Diagnostics()
        file = examine(source, diagnostics)
        if not diagnostics.errors and (edits := edits_of_heads(unit, path, file, source)):
            texts[path] = apply_edits(source.text, edits)
    return sorted(texts.items())


def own_functions(cursor: Any, path: str) -> Iterator[Any]:
    """Those in the file itself, outside of classes."""
    for child in cursor.get_children():
        where = child.location.file
        if where is None or where.name != path:
            continue
        if child.kind.name in _FUNCTIONS:
            yield child
        elif child.kind.name in (*_BLOCKS, "NAMESPACE"):
            yield from own_functions(child, path)


def _declared(cursor: Any, scopes: set[str]) -> Iterator[Any]:
    """All functions in these namespaces and classes."""
    for child in cursor.get_children():
        kind = child.kind.name
        if kind in _FUNCTIONS:
            yield child
        elif kind in _BLOCKS or (kind in _SCOPES and child.get_usr() in scopes):
            yield from _declared(child, scopes)


def _scope(function: Any) -> str:
    return next(_names_above(function), "")


def _names_above(cursor: Any) -> Iterator[str]:
    """clang's names for the namespaces and classes around it, innermost first."""
    above = cursor.semantic_parent
    while above is not None and above.kind.name != "TRANSLATION_UNIT":
        if above.kind.name not in _BLOCKS:
            yield str(above.get_usr())
        above = above.semantic_parent


def _is_by_reference(function: Any, count: int) -> bool:
    parameters = [child for child in function.get_children() if child.kind.name == "PARM_DECL"]
    return len(parameters) == count and all(each.type.kind.name.endswith("REFERENCE") for each in parameters)


def _edits(actor: Actor, source: Source) -> Iterator[Edit]:
    copies = ""
    for parameter, argument in zip(actor.parameters, arguments_of(actor, source), strict=True):
        named = _name(parameter, source)
        yield from _in_head(parameter, argument, named, source)
        if named is not None:
            copies += _copy(parameter.name)
    if actor.body is not None and copies:
        start, end = actor.body.span.start + 1, actor.body.span.end - 1
        yield Edit(Span(start, start), f"{{{copies}")  # a block of its own, in which the names are free
        yield Edit(Span(end, end), "}")


def _in_head(parameter: Parameter, argument: Argument, named: Span | None, source: Source) -> Iterator[Edit]:
    """With the `const&` or `&&` that actorc gives the type, in place of what is written behind it."""
    type_ = parameter.type.span
    before, after = argument.pattern.split("{}")
    if before:
        yield Edit(Span(type_.start, type_.start), before)
    if named is not None:
        end = named.start
    elif parameter.default is not None:
        end = source.text.index("=", type_.end)
    else:
        end = parameter.span.end
    lines = "\n" * source.text.count("\n", type_.end, end)
    yield Edit(Span(type_.end, end), f"{after} {lines}")


def _name(parameter: Parameter, source: Source) -> Span | None:
    found = re.compile(rf"\b{parameter.name}\b").search(source.text, parameter.type.span.end, parameter.span.end)
    return None if found is None else Span(*found.span())


def _copy(name: str) -> str:
    """In its type the name is that of the parameter, and behind the `=` that of the copy."""
    return f" flow::Own<decltype({name})> {name} = static_cast<decltype({name}) (*)()>(nullptr)();"
