"""What an editor shows for the word under the mouse: an actor's waits and states, or the page of a diagnostic."""

from __future__ import annotations

import re
from collections.abc import Iterator

from actorc.check.kept import kept_variables
from actorc.report.explain import page
from actorc.source import Source
from actorc.syntax import Actor, File, Span, all_actors, waits_of, walk
from actorc_lsp.analysis import Analysis

_WIDEST = 80  # characters of a wait that are shown


def hover(analysis: Analysis, offset: int) -> tuple[str, Span] | None:
    """Markdown, and the place that it is about."""
    parts = []
    place = None
    word = _word(analysis.source, offset)
    if word is not None and analysis.file is not None:
        parts = [_actor(actor, analysis.file, analysis.source) for actor in _named(analysis, word)]
        place = word if parts else None
    for found in analysis.found:
        if found.span.start <= offset <= found.span.end:
            parts.append(page(found.code).text)
            place = place or found.span
    return ("\n---\n\n".join(parts), place) if place is not None else None


def _word(source: Source, offset: int) -> Span | None:
    line = source.line(offset)
    start = source.line_start(line)
    for match in re.finditer(r"[^\W\d]\w*", source.line_text(line)):
        if start + match.start() <= offset <= start + match.end():
            return Span(start + match.start(), start + match.end())
    return None


def _named(analysis: Analysis, word: Span) -> list[Actor]:
    """The definitions of a name, or the declarations where there is no definition."""
    assert analysis.file is not None
    name = analysis.source[word]
    actors = [actor for actor in all_actors(analysis.file.actors) if actor.name == name and actor.test_name is None]
    return [actor for actor in actors if actor.body is not None] or actors


def _actor(actor: Actor, file: File, source: Source) -> str:
    kind = "UNCANCELLABLE ACTOR" if actor.is_uncancellable else "ACTOR"
    lines = [f"`{kind} {actor.return_text} {'::'.join((*actor.qualifier, actor.name))}`", ""]
    if actor.body is None:
        return "\n".join([*lines, "declared here, and defined in another file", ""])
    statements = tuple(walk(actor.body))
    for kept in kept_variables(actor, statements, file.words):
        type_ = "" if kept.type is None else f"{_in_line(source[kept.type.span])} "
        lines.append(f"- {kept.kind} `{type_}{kept.name}`")
    waits = list(_waits(actor, source))
    lines += ["", *waits] if waits else ["", "It has no wait."]
    return "\n".join([*lines, ""])


def _waits(actor: Actor, source: Source) -> Iterator[str]:
    """The numbers are those that `--generate-probes` gives: one for a wait, one for all of a `choose`."""
    assert actor.body is not None
    number = 0
    for statement in walk(actor.body):
        waits = waits_of(statement)
        for wait in waits:
            text = _in_line(source[wait.span])
            yield f"- wait {number}, line {source.line(wait.span.start)}: `{text}`"
        number += bool(waits)


def _in_line(text: str) -> str:
    line = " ".join(text.split()).replace("`", "'").removesuffix(";")
    return line if len(line) <= _WIDEST else line[: _WIDEST - 3] + "..."
