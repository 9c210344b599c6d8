"""The emitted text of a file: every actor replaced, everything outside them but a few declarations as it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from actorc.check.captures import capture_lists
from actorc.check.facts import Facts, facts_of
from actorc.check.forward import Forward, forward_declarations
from actorc.check.kept import kept_variables
from actorc.emit import coroutine as emit_coroutine
from actorc.emit import statemachine as emit_statemachine
from actorc.emit.captures import spelt_captures
from actorc.emit.declaration import Declaration, shell_of
from actorc.emit.description import described
from actorc.emit.lines import LineWriter, at
from actorc.emit.patched import PatchedSource
from actorc.lower.lower import lower
from actorc.lower.lowered import Body
from actorc.source import Source
from actorc.spelling import one_line
from actorc.syntax import Actor, Block, Description, File, Span, Words, walk

_Definition = Callable[[Declaration, Body], str]
_DEFINITIONS: dict[str, _Definition] = {
    "state-machine": emit_statemachine.definition,
    "coroutine": emit_coroutine.definition,
}


def emit(
    file: File, source: Source, backend: str, output_path: str, *, nodiscard: bool = True, probes: bool = False
) -> str:
    """The text to be compiled in place of a source without errors. `backend` is a key of `_DEFINITIONS`.

    `nodiscard`: the C++ compiler warns of calls that discard the future, which cancels the actor. `probes`: state
    machines call the program's fdb_probe_actor_... functions.
    """
    definition = _DEFINITIONS[backend]
    is_header = output_path.endswith(".h")
    facts = facts_of(file, nodiscard=nodiscard, probes=probes, is_header=is_header)
    writer = LineWriter(source, is_header=is_header)
    position = 0
    declared: set[tuple[object, ...]] = set()
    items: list[Actor | Description | Forward] = [*file.actors, *file.descriptions, *forward_declarations(file)]
    for item in sorted(items, key=lambda item: item.span.start):
        writer.copy(position, item.span.start)
        if isinstance(item, Description):
            writer.copy(item.struct.span.start, item.struct.span.end)
            writer.emit(described(item, source))
        elif isinstance(item, Forward):
            writer.emit(item.replacement(source))
        else:
            writer.emit(_emitted(item, source, file.words, facts, definition, is_first=_key(item) not in declared))
            declared.add(_key(item))
        position = item.span.end
    writer.copy(position, len(source.text))
    return writer.text()


def _emitted(
    actor: Actor, source: Source, words: Words, facts: Facts, definition: _Definition, *, is_first: bool
) -> str:
    """An actor's declaration or definition, with marks for lines."""
    patches: list[tuple[Span, str]] = []
    for each in actor.lambdas:
        patches.append((each.span, _emitted(each, source, words, facts, definition, is_first=False)))
    if actor.body is not None:
        patches += _captures(actor, actor.body, source, words)
    if patches:
        source = PatchedSource(source, sorted(patches, key=lambda patch: patch[0].start))
    declaration = shell_of(actor, source, facts, is_first=is_first)
    if actor.body is None:
        return f"{declaration.head()};"
    text = definition(declaration, lower(actor, source))
    if actor.test_name is not None:
        macro = "FLOW_ACTOR_BENCHMARK_CASE" if actor.is_benchmark else "FLOW_ACTOR_TEST_CASE"
        text += f" {at(declaration.line)}{macro}({actor.name}, {one_line(source[actor.test_name.span])})"
    return text


def _captures(actor: Actor, body: Block, source: Source, words: Words) -> Iterator[tuple[Span, str]]:
    """How the plain lambdas of an actor spell what they capture; those inside its `ACTOR` lambdas are theirs."""
    apart = [each.span for each in actor.lambdas]
    places = ((words.starts[each.open], each) for each in capture_lists(words, body.span) if each.entries)
    lists = [found for place, found in places if not any(span.start <= place < span.end for span in apart)]
    if not lists:
        return iter(())
    kept = {variable.name for variable in kept_variables(actor, tuple(walk(body)), words)}
    return spelt_captures(source, words, lists, kept)


def _key(actor: Actor) -> tuple[object, ...]:
    """The key that identifies an actor in a file."""
    return (*actor.enclosing_classes, *actor.qualifier, actor.name, len(actor.parameters), len(actor.template or ()))
