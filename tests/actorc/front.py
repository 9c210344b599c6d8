"""What the tests of the front end share: marked sources, and shorthands for its stages."""

from __future__ import annotations

from actorc.diagnostics import Diagnostics, Fault
from actorc.driver import examine
from actorc.report.report import as_text
from actorc.source import Source
from actorc.syntax import Actor, File, Plain, Statement, walk

# The others are found by `actorc check`, which test_traps.py tests.
OF_COMPILER = [fault for fault in Fault if not fault.code.startswith("A07")]
MARK = "@@"  # stands in a test's source before each place that must be reported


def analysed(text: str) -> tuple[File, Source, Diagnostics]:
    source, diagnostics = Source("test.actor.cpp", text), Diagnostics()
    return examine(source, diagnostics), source, diagnostics


def sound(text: str) -> tuple[File, Source]:
    """The tree of a source that must have no errors."""
    file, source, diagnostics = analysed(text)
    assert as_text(diagnostics, source, warnings=False) == ""
    return file, source


def actor(body: str) -> tuple[Actor, Source]:
    """An actor with this body that must have no errors; it has a parameter `f`, and waits and returns at its end."""
    file, source = sound(in_actor(body))
    return file.actors[0], source


def in_actor(body: str) -> str:
    return f"ACTOR Future<Void> test(Future<Void> f) {{\n{body}\nwait(f);\nreturn Void();\n}}\n"


def statements(body: str) -> tuple[list[Statement], Source]:
    """The statements of a body, without the two that `in_actor` appends."""
    found, source = actor(body)
    assert found.body is not None
    return list(found.body.statements[:-2]), source


def plains(body: str) -> list[str]:
    found, source = actor(body)
    assert found.body is not None
    return [source[node.span] for node in walk(found.body) if isinstance(node, Plain)]


def unmarked(text: str) -> tuple[str, list[int]]:
    """The text without its marks, and the offsets at which they stood."""
    first, *rest = text.split(MARK)
    offsets = []
    for part in rest:
        offsets.append(len(first))
        first += part
    return first, offsets


def reported(text: str) -> list[tuple[str, int]]:
    _, _, diagnostics = analysed(text)
    return [(found.code, found.span.start) for found in diagnostics]
