"""Replaces convert.py in tests of the text around actors: a body keeps its words, and an actor with a name that
begins with `left` is left."""

from __future__ import annotations

from actorc.source import Source
from actorc.syntax import Actor, File, Span
from actorc_migrate.edits import Edits
from actorc_migrate.notes import Conversion, Hazard, Note, Outcome
from actorc_migrate.settings import Settings


def convert(file: File, source: Source, settings: Settings, edits: Edits) -> Conversion:
    if "FAULT" in source.text:
        raise KeyError("a bug")
    outcomes, notes = [], []
    for actor in file.actors:
        if actor.name.startswith("left"):
            outcomes.append(Outcome(actor.name, actor.span, {}, "its name begins with left"))
            continue
        _convert(actor, source, settings, edits)
        outcomes.append(Outcome(actor.name, actor.span, {"wait": source[actor.span].count("wait(")}, ""))
        if "guard" in source[actor.span]:
            place = source.text.index("guard", actor.span.start)
            message = "`guard` is destroyed at the end of its block"
            notes.append(
                Note(Hazard.LOCAL_ACROSS_WAIT, Span(place, place + 5), actor.name, message, "a block around it")
            )
    return Conversion(tuple(outcomes), tuple(notes))


def _convert(actor: Actor, source: Source, settings: Settings, edits: Edits) -> None:
    if actor.test_name is not None:
        return
    words = [("ACTOR ", ""), ("UNCANCELLABLE ", "")]
    runs_on = actor.is_uncancellable
    if actor.result_type is None:
        words.append(("void ", "Future<Void> " if settings.is_foundationdb else "flow::coro::Detached "))
        runs_on = runs_on or settings.is_foundationdb
    for word, new in words:
        place = source.text.find(word, actor.span.start, actor.name_span.start)
        if place >= 0:
            edits.replace(Span(place, place + len(word)), new)
    if runs_on:
        place = source.text.index("(", actor.name_span.end) + 1
        edits.insert(place, "Uncancellable, " if actor.parameters else "Uncancellable")
    if actor.body is not None:
        place = source.text.find("wait(", actor.body.span.start, actor.body.span.end)
        while place >= 0:
            edits.replace(Span(place, place + 4), "co_await ")
            place = source.text.find("wait(", place + 1, actor.body.span.end)
