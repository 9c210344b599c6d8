"""Checks the include of `flow/actorcompiler.h`, which emitted code needs, and which defines the keywords as macros for
editors."""

from __future__ import annotations

import re

from actorc.diagnostics import Diagnostics, Edit, Fault, Fix
from actorc.repairs import insert
from actorc.source import Source
from actorc.syntax import File, Span

_INCLUDE = re.compile(r"#\s*include\s*[<\"]([^>\"\n]*)[>\"]")
_CONDITION = re.compile(r"#\s*if")
_KEYWORDS = re.compile(r"(?:^|/)(?:actorcompiler|actor/keywords)\.h$")


def report_includes(file: File, source: Source, diagnostics: Diagnostics) -> None:
    """A file without includes is a part of another, which has them."""
    if not any(actor.body is not None for actor in file.actors):
        return
    texts = file.words.texts
    includes: list[tuple[int, str]] = []  # before the first actor
    for index in range(file.words.first(file.actors[0].span)):
        match = _INCLUDE.match(texts[index]) if texts[index][0] == "#" else None
        if match is not None:
            includes.append((index, match[1]))
    last = next((index for index, path in reversed(includes) if _KEYWORDS.search(path)), None)
    if last is not None:
        _report_behind(last, [index for index, _ in includes if index > last], file, source, diagnostics)
    elif includes and "actorcompiler.h" not in source.text:
        index = includes[-1][0]
        end = file.words.span(index).end
        fix = Fix("include it", (insert(end, f'{source.line_end}#include "flow/actorcompiler.h"'),))
        fixes = () if any(_CONDITION.match(text) for text in texts[:index]) else (fix,)
        message = "a file with actors includes `flow/actorcompiler.h`"
        hint = "include it after all others"
        diagnostics.warning(Fault.LAST_INCLUDE, message, file.words.span(index), hint=hint, fixes=fixes)


def _report_behind(last: int, behind: list[int], file: File, source: Source, diagnostics: Diagnostics) -> None:
    """Only what follows at once: an include further down may be one of a table, or of another part of the file."""
    texts = file.words.texts
    behind = [index for index in behind if all(text[0] == "#" for text in texts[last:index])]
    if not behind:
        return
    own, first = file.words.span(last), file.words.span(behind[0])
    start, end = source.line_start(source.line(own.start)), source.line_start(source.line(own.start) + 1)
    place = file.words.span(behind[-1]).end
    is_plain = all(_INCLUDE.match(texts[index]) for index in range(last, behind[-1] + 1))
    line = source.text[start:end].rstrip("\r\n")
    fix = Fix("include it last", (Edit(Span(start, end), ""), insert(place, f"{source.line_end}{line}")))
    message = "this is included after `flow/actorcompiler.h`; an editor applies the macros of that header to it"
    hint = "include `flow/actorcompiler.h` last"
    diagnostics.warning(Fault.LAST_INCLUDE, message, first, hint=hint, fixes=(fix,) if is_plain else ())
