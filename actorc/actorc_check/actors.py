"""What `actorc check` reports of actor files besides the messages of the compiler: views that live across a wait.

An actor copies its parameters, references too. The copy of a `std::string_view` still refers to the caller's text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from actorc.check.kept import kept_variables
from actorc.check.lifetimes import Local, uses_after_waits
from actorc.check.reach import Reach
from actorc.diagnostics import Diagnostics, Fault, Note
from actorc.driver import examine
from actorc.source import Source
from actorc.syntax import File, Parameter, Return, Span, all_actors, walk

ACTOR_FILES = (".actor.cpp", ".actor.h")
_VIEW = re.compile(
    r"(?:const\s+)?(?:std\s*::\s*)?(?P<view>(?:w|u8|u16|u32)?string_view|(?:basic_string_view|span|initializer_list)\s*<.*>)"
    r"(?:\s+const)?",
    re.DOTALL,
)
_LOOP_CALL = re.compile(r"\bloop\s*\(\s*\)")


def check_actors(source: Source, diagnostics: Diagnostics) -> File:
    """All that is to be said of the actors of a file."""
    file = examine(source, diagnostics)
    _report_views(file, source, diagnostics)
    diagnostics.drop_allowed(source)
    return file


def returned_lists(file: File, source: Source) -> tuple[Span, ...]:
    """Of actors: `return {a, b};` makes a value, and clang, which reads an ordinary function, a future."""
    inner = (inner for actor in all_actors(file.actors) if actor.body for inner in walk(actor.body))
    values = (each.value.span for each in inner if isinstance(each, Return) and each.value is not None)
    return tuple(span for span in values if source[span].startswith("{"))


def _report_views(file: File, source: Source, diagnostics: Diagnostics) -> None:
    """Of actors in which nothing is wrong."""
    reach = Reach(source)
    for actor in all_actors(file.actors):
        if actor.body is None or diagnostics.has_error_in(actor.span):
            continue
        views = [
            Local(kept.name, kept.span, actor, actor.body.span)
            for kept in kept_variables(actor, (), file.words)
            if isinstance(kept.origin, Parameter) and _VIEW.fullmatch(source[kept.origin.type.span].strip())
        ]
        if not views:
            continue
        types = {parameter.name: source[parameter.type.span].strip() for parameter in actor.parameters}
        uses_after_waits(actor.body, views, file.words, reach)
        for view in views:
            if view.lost:
                _report(view, types[view.name], actor.title, diagnostics)


def _report(view: Local, type_: str, title: str, diagnostics: Diagnostics) -> None:
    use = view.lost[0]
    message = f"`{view.name}` is a `{type_}`: what it refers to may be gone when {title} goes on"
    instead = "std::string" if "string_view" in type_ else "std::vector<...>"
    hint = f"take a copy: `{instead} {view.name}`"
    notes = (
        Note("the actor may wait here, while its caller goes on", use.wait),
        Note("and uses it here", use.span),
    )
    diagnostics.warning(Fault.DANGLING_PARAMETER, message, view.span, hint=hint, notes=notes)


def loop_calls(source: Source) -> Iterator[Span]:
    """Calls of a function `loop`, if actorc has accepted the file: the keyword stands before no bracket."""
    return (Span(call.start(), call.end()) for call in _LOOP_CALL.finditer(source.text))
