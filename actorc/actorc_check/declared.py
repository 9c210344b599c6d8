"""Actors that plain C++ declares with parameters by value, while their callers see `T const&`: they do not link."""

from __future__ import annotations

import os
import re
from itertools import islice
from typing import Any

from actorc.diagnostics import Diagnostics, Fault
from actorc.source import Source
from actorc.syntax import File
from actorc_check.heads import own_functions
from actorc_check.reading import Reading

_IS_ACTOR = re.compile(r"\b(?:SWIFT_)?ACTOR\b")


def report_declarations(unit: Any, file: File, source: Source, reading: Reading, diagnostics: Diagnostics) -> None:
    """Of the actors that the file defines."""
    actors = {
        actor.name_span.start: actor for actor in file.actors if actor.body is not None and actor.test_name is None
    }
    for function in own_functions(unit.cursor, os.path.abspath(source.path)):
        actor = actors.get(reading.offset(function.location.offset))
        first = function.canonical
        parameters = list(first.get_arguments())
        by_value = [each for each in parameters if not each.type.kind.name.endswith("REFERENCE")]
        if actor is None or function.kind.name != "FUNCTION_DECL" or first == function or not by_value:
            continue
        head = head_of(first)
        if head is None or _IS_ACTOR.search(head):
            continue
        place = os.path.relpath(first.location.file.name, os.path.dirname(os.path.abspath(source.path)))
        message = (
            f"{place}:{first.location.line} takes parameters by value, and so declares another function than this actor"
        )
        seen = ", ".join(_as_callers_see(each) for each in parameters)
        hint = f"write there `{first.result_type.spelling} {first.spelling}({seen});`"
        diagnostics.warning(Fault.ACTOR_DECLARATION, message, actor.name_span, hint=hint)


def head_of(declaration: Any) -> str | None:
    """What stands before the name of a function in its declaration; None if the file cannot be read.

    clang may have read another text than the disk has, with the same lines.
    """
    where = declaration.location
    try:
        with open(where.file.name, "rb") as stream:
            lines = list(islice(stream, where.line))
    except OSError:
        return None
    before = b"".join(lines[-10:-1]) + lines[-1][: where.column - 1]
    return re.split("[;{}]", before.decode("utf-8", errors="replace"))[-1]


def _as_callers_see(parameter: Any) -> str:
    type_ = re.sub(r" (?=[*&])", "", parameter.type.spelling)
    is_reference = parameter.type.kind.name.endswith("REFERENCE")
    return f"{type_ if is_reference else f'{type_} const&'} {parameter.spelling}".strip()
