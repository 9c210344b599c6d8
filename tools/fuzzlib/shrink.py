"""Shrinks a program with a difference.

Each step tries to remove each part of the program's structure: a statement, an actor, a branch, the statement around a
block. Many such candidates are compiled together.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from actorc import syntax
from actorc.diagnostics import Diagnostics
from actorc.driver import BACKENDS, Rejected, analyse
from actorc.source import Source
from actorc.syntax import Block, Span
from fuzzlib.batch import ACTORC_FAILED, MODEL_FAILED, NOT_MIGRATED, Difference, Mutation, Program, check
from fuzzlib.parser_fuzz import fault, minimised
from fuzzlib.toolchain import Toolchain

TOGETHER = 12  # candidates in one file
RUNS = 60  # seeds for each candidate: a removed part shifts the numbers that decide what the rest does
SECONDS = 120.0

_OWN_NAME = re.compile(r"\b(?:[stxep]\d+\w?|child\d+|n|token)\b")
_NO_FAULT_OF_THE_PROGRAM = ("rejected", "does not compile", NOT_MIGRATED, ACTORC_FAILED, MODEL_FAILED)


def shrunk(
    difference: Difference,
    toolchain: Toolchain,
    mutation: Mutation | None = None,
    seconds: float = SECONDS,
    forms: Sequence[str] = BACKENDS,
) -> Difference:
    """A smaller program with a difference of the same sort; the given one if there is none."""
    if difference.kind.startswith(ACTORC_FAILED) and tuple(forms) == BACKENDS:
        return _shrunk_text(difference)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        smaller = _step(difference, toolchain, mutation, deadline, forms)
        if smaller is None:
            break
        difference = smaller
    return difference


def _shrunk_text(difference: Difference) -> Difference:
    """Shrinks as the parser fuzzer does, without a tree or a compiler."""
    program, wanted = difference.program, difference.kind.removeprefix(ACTORC_FAILED)
    if fault(program.text) != wanted:
        return difference
    return replace(difference, program=replace(program, text=minimised(program.text, wanted)))


def _step(
    difference: Difference, toolchain: Toolchain, mutation: Mutation | None, deadline: float, forms: Sequence[str]
) -> Difference | None:
    """The smallest of the first candidates that still differ."""
    start = difference.program.start
    texts = sorted(set(candidates(difference.program.text)), key=len)
    for first in range(0, len(texts), TOGETHER):
        if time.monotonic() > deadline:
            break
        together = [Program(text, start) for text in texts[first : first + TOGETHER]]
        found = [each for each in check(together, toolchain, mutation, RUNS, forms) if _is_alike(each, difference)]
        if found:
            return min(found, key=lambda each: len(each.program.text))
    return None


def _is_alike(found: Difference, wanted: Difference) -> bool:
    if any(each.kind.startswith(_NO_FAULT_OF_THE_PROGRAM) for each in (wanted, found)):
        return found.kind == wanted.kind
    return True


def candidates(text: str) -> Iterator[str]:
    """All valid programs with one part removed."""
    source = Source("shrink.actor.cpp", text)
    try:
        file = analyse(source, Diagnostics())
    except Rejected:
        return
    for span, instead in _cuts(file, source):
        smaller = _tidied(text[: span.start] + instead + text[span.end :])
        if len(smaller) < len(text) and _knows_its_names(smaller) and _is_sound(smaller):
            yield smaller


def _is_sound(text: str) -> bool:
    try:
        analyse(Source("shrink.actor.cpp", text), Diagnostics())
    except Rejected:
        return False
    return True


def _knows_its_names(text: str) -> bool:
    """Whether each name is declared (follows a type) before it is used, and there is a root."""
    if " root(" not in text:
        return False
    for name in set(_OWN_NAME.findall(text)):
        if name == "n" or name == "token":
            continue
        first = re.search(rf"\b{name}\b", text)
        assert first is not None
        before = text[: first.start()].rstrip(" [")
        if not before.endswith((">", "&", "int", "Token", "auto", "void", ",")):
            return False
    return True


def _tidied(text: str) -> str:
    """Without empty lines, and indented anew."""
    lines, depth = [], 0
    for line in map(str.strip, text.split("\n")):
        if line:
            inside = depth - line.startswith("}")
            lines.append("    " * inside + line)
        depth += line.count("{") - line.count("}")
    return "\n".join(lines) + "\n"


def _cuts(file: syntax.File, source: Source) -> Iterator[tuple[Span, str]]:
    """The parts that could be removed, and their replacements."""
    for actor in file.actors:
        yield actor.span, ""
        if actor.body is not None:
            for block in syntax.walk(actor.body):
                if isinstance(block, Block):
                    yield from _cuts_in(block, source)


def _cuts_in(block: Block, source: Source) -> Iterator[tuple[Span, str]]:
    has_braces = source.text[block.span.start] == "{"
    statements = block.statements
    for place, statement in enumerate(statements):
        yield statement.span, "" if has_braces else ";"
        if place and has_braces:  # many at once
            yield Span(statement.span.start, statements[-1].span.end), ""
        yield from _simpler(statement, source)


def _simpler(statement: syntax.Statement, source: Source) -> Iterator[tuple[Span, str]]:
    """A part of a statement in its place."""
    if not isinstance(statement, Block):
        for inner in syntax.children(statement):
            yield statement.span, source[inner.span]
    elif source.text[statement.span.start] == "{":
        yield statement.span, source.text[statement.span.start + 1 : statement.span.end - 1]
    match statement:
        case syntax.If(then=then, orelse=orelse) if orelse is not None:
            yield Span(then.span.end, orelse.span.end), ""
        case syntax.Choose(whens=whens) if len(whens) > 1:
            for when in whens:
                yield when.span, ""
        case syntax.Try(catches=catches) if len(catches) > 1:
            for clause in catches:
                yield Span(clause.head.start, clause.body.span.end), ""
        case syntax.Wait(wait=wait) if wait.result is None or wait.result.kind is not syntax.ResultKind.RETURN:
            yield statement.span, f"wait({source[wait.operand.span]});"
            yield wait.operand.span, "slot(0)" if wait.result is not None else "signal(0)"
