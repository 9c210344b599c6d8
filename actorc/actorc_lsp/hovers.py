"""What an editor shows for the word under the mouse: an actor's waits and states, or the page of a diagnostic."""

from __future__ import annotations

import re
from collections.abc import Iterator

from actorc.check.kept import kept_variables
from actorc.diagnostics import Diagnostic, Severity
from actorc.report.explain import page
from actorc.source import Source
from actorc.syntax import Actor, Span, all_actors, waits_of, walk
from actorc_lsp.analysis import Analysis

_BEGINS = ("ACTOR", "SWIFT_ACTOR", "TEST_CASE", "BENCHMARK_CASE")
_WIDEST = 80  # characters of a wait that are shown


def hover(analysis: Analysis, offset: int) -> tuple[str, Span] | None:
    """Markdown, and the place that it is about."""
    parts = []
    place = None
    word = _word(analysis.source, offset)
    if word is not None and analysis.file is not None:
        parts = [_actor(actor, analysis) for actor in _meant(analysis, word)] or _left_out(analysis, word)
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


def _meant(analysis: Analysis, word: Span) -> list[Actor]:
    """The actor that begins with the word, or those of this name: definitions, else declarations."""
    assert analysis.file is not None
    actors = list(all_actors(analysis.file.actors))
    name = analysis.source[word]
    if name in _BEGINS:
        return [actor for actor in actors if actor.span.start == word.start]
    named = [actor for actor in actors if actor.name == name and actor.test_name is None]
    return [actor for actor in named if actor.body is not None] or named


def _left_out(analysis: Analysis, word: Span) -> list[str]:
    """Of an actor with an error in its head, the parser keeps only the error."""
    source = analysis.source
    if source[word] not in _BEGINS:
        return []
    following = re.compile(rf"\b(?:{'|'.join(_BEGINS)})\b").search(source.text, word.end)
    end = len(source.text) if following is None else following.start()
    errors = [found for found in _errors(analysis) if word.start <= found.span.start < end]
    return [f"The head of this actor has an error: {errors[0].message}\n"] if errors else []


def _errors(analysis: Analysis) -> list[Diagnostic]:
    return [found for found in analysis.found if found.severity is Severity.ERROR]


def _actor(actor: Actor, analysis: Analysis) -> str:
    assert analysis.file is not None
    source = analysis.source
    lines = [_title(actor, source), ""]
    if actor.body is None:
        return "\n".join([*lines, "declared here, and defined in another file", ""])
    statements = tuple(walk(actor.body))
    for kept in kept_variables(actor, statements, analysis.file.words):
        type_ = "" if kept.type is None else f"{_in_line(source[kept.type.span])} "
        lines.append(f"- {kept.kind} `{type_}{kept.name}`")
    waits = list(_waits(actor, source))
    if not waits and any(actor.span.start <= found.span.start < actor.span.end for found in _errors(analysis)):
        waits = ["Its waits are known when its errors are mended."]
    lines += ["", *(waits or ["It has no wait."])]
    return "\n".join([*lines, ""])


def _title(actor: Actor, source: Source) -> str:
    if actor.test_name is not None:
        word = "BENCHMARK_CASE" if actor.is_benchmark else "TEST_CASE"
        return f"`{word}({source[actor.test_name.span]})`"
    kind = "UNCANCELLABLE ACTOR" if actor.is_uncancellable else "ACTOR"
    name = "::".join((*actor.qualifier, actor.name)) if actor.captures is None else "(lambda)"
    return f"`{kind} {actor.return_text} {name}`"


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
