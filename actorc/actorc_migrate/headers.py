"""Edits the text around the actors of a file: includes, guards, and `loop` outside of actors."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from actorc.check.forward import Forward, forward_declarations
from actorc.records import dataclass
from actorc.source import Source
from actorc.syntax import File, Span, Words
from actorc_migrate.directives import Directive
from actorc_migrate.edits import Edits
from actorc_migrate.guards import Guards
from actorc_migrate.settings import Settings

_KEYWORDS = re.compile(r"(?:^|/)(?:(?:un)?actorcompiler|actor/keywords)\.h$")
_BEGINS_KEYWORDS = re.compile(r"(?:^|/)(?:actorcompiler|actor/keywords)\.h$")
_ABOUT_GUARDS = re.compile(r"intelli-?sense|generated (?:version|header|file)|\bguards?\b", re.IGNORECASE)
_BEFORE_STATEMENT = frozenset({";", "{", "}", ")", "else", "do", ""})
_NO_BODY = frozenset({"=", "(", ",", ".", "->", "::", ";", ")", "[", ""})
# Headers that the actor headers included, and that a file without flow/flow.h may need.
_FLOW_PARTS = (
    (re.compile(r"\brace\s*\("), "flow/combine/race.h"),
    (re.compile(r"Stream\s*<"), "flow/core/stream.h"),
    (re.compile(r"\b(?:delay|yield)\s*\("), "flow/wait/delay.h"),
    (re.compile(r"\bDescriptor\s*<"), "flow/emitted/descriptor.h"),
)
_FLOW = frozenset({"flow/flow.h", "flow/sim.h"})
_COROUTINES = {"flow": "flow/coro/coroutine.h", "foundationdb": "flow/CoroUtils.h"}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Of a file, as far as a migration changes them."""

    directives: tuple[Directive, ...]
    loops: tuple[Span, ...]  # the word `loop` outside of actors, where it is the macro
    forward: tuple[Forward, ...]  # declarations of Flow's classes


def surroundings_of(file: File, directives: tuple[Directive, ...]) -> Surroundings:
    loops = _loops(file.words, [actor.span for actor in file.actors])
    return Surroundings(directives, tuple(loops), tuple(forward_declarations(file)))


def _loops(words: Words, actors: Sequence[Span]) -> Iterator[Span]:
    inside = [words.between(span) for span in actors]
    texts = words.texts
    for index, text in enumerate(texts):
        if text != "loop" or texts[index + 1] in _NO_BODY:
            continue
        before = texts[index - 1] if index else ""
        is_statement = before in _BEFORE_STATEMENT or before[:1] == "#"
        if is_statement and not any(first <= index < end for first, end in inside):
            yield words.span(index)


def replace_loops(surroundings: Surroundings, edits: Edits) -> None:
    for span in surroundings.loops:
        edits.replace(span, "while (true)")


def replace_forward_declarations(surroundings: Surroundings, source: Source, edits: Edits) -> None:
    for each in surroundings.forward:
        text = each.replacement(source)
        begins_line = each.span.start == source.line_start(source.line(each.span.start))
        edits.replace(each.span, text.strip("\n") if begins_line else text)


def rename_includes(directives: Iterable[Directive], new_name: Callable[[str], str | None], edits: Edits) -> None:
    """`new_name` gives what to include in place of a path, None if it stays."""
    for directive in directives:
        included = directive.included
        if included is not None and (name := new_name(included[0])) is not None:
            edits.replace(included[1], name)


def needed_includes(text: Callable[[], str], reached: Collection[str], settings: Settings) -> list[str]:
    """What a file with coroutines must include besides what it `reached`; `text` gives what it has become."""
    coroutines = _COROUTINES[settings.target]
    needed = [coroutines]
    if not settings.is_foundationdb:
        if not _FLOW.isdisjoint(reached):
            return []
        become = text()
        needed += [path for pattern, path in _FLOW_PARTS if pattern.search(become)]
    return [path for path in needed if path not in reached]


class Frame:
    """The lines at the top and at the bottom of a file which its actors needed."""

    def __init__(self, source: Source, directives: Sequence[Directive], edits: Edits) -> None:
        self._source = source
        self._directives = directives
        self._edits = edits
        self._gone: list[tuple[int, int, str]] = []  # first line, last line, what comes instead

    def drop_keywords(self, needed: Sequence[str], first_actor: int | None) -> None:
        """The first include of the actors' keywords becomes that of coroutines, all others go."""
        lines = self._as_lines(needed)
        for directive in self._directives:
            included = directive.included
            if included is None or not _KEYWORDS.search(included[0]):
                continue
            self._replace(directive, lines if _BEGINS_KEYWORDS.search(included[0]) else "")
            if _BEGINS_KEYWORDS.search(included[0]):
                lines = ""
        if lines and first_actor is not None:
            self._add_include(lines, first_actor)

    def add_includes(self, needed: Sequence[str], first_actor: int) -> None:
        """In a file that keeps some actors, before the keywords."""
        lines = self._as_lines(needed)
        if not lines:
            return
        for directive in self._directives:
            included = directive.included
            if included is not None and _BEGINS_KEYWORDS.search(included[0]):
                line = self._source.line(directive.start)
                self._edits.insert(self._source.line_start(line), lines)
                return
        self._add_include(lines, first_actor)

    def _as_lines(self, needed: Sequence[str]) -> str:
        return "".join(f'#include "{path}"{self._source.line_end}' for path in needed)

    def _add_include(self, lines: str, first_actor: int) -> None:
        """Behind the last include before the actors; a file without any is a part of another, which has them."""
        last = None
        for directive in self._directives:
            if directive.start < first_actor and directive.included is not None:
                last = directive
        if last is not None:
            end_of_line = self._source.line_end
            self._edits.insert(last.end, end_of_line + lines.removesuffix(end_of_line))

    def one_guard(self, guards: Guards, macro: str | None) -> None:
        """Without a macro `#pragma once` does it."""
        end_of_line = self._source.line_end
        top = ""
        if not guards.has_pragma:
            top = f"#ifndef {macro}{end_of_line}#define {macro}{end_of_line}" if macro else f"#pragma once{end_of_line}"
        first = self._above(self._source.line(guards.first.start))
        self._gone.append((first, self._source.line(guards.last.end), top))
        if guards.has_pragma or macro is None:
            self._replace(guards.end, "")
            return
        name = re.search(rf"\b{guards.macro}\b", guards.end.text)
        if name is not None:
            start = guards.end.start + name.start()
            self._edits.replace(Span(start, start + len(guards.macro)), macro)

    def _above(self, line: int) -> int:
        """The first line of the comment above that explains the two guards."""
        first = line
        while first > 1 and self._source.line_text(first - 1).lstrip().startswith("//"):
            first -= 1
        comment = "\n".join(self._source.line_text(each) for each in range(first, line))
        return first if _ABOUT_GUARDS.search(comment) else line

    def _replace(self, directive: Directive, lines: str) -> None:
        first, last = self._source.line(directive.start), self._source.line(directive.end)
        self._gone.append((first, last, lines))

    def finish(self) -> None:
        """Makes the edits. Where lines go from between two blank ones, one of these goes too."""
        groups: list[tuple[int, int, str]] = []
        for first, last, lines in sorted(self._gone):
            if groups and groups[-1][1] + 1 == first:
                begin, _, before = groups.pop()
                groups.append((begin, last, before + lines))
            else:
                groups.append((first, last, lines))
        for first, last, lines in groups:
            self._edits.replace(self._lines(first, last, keeps_blanks=bool(lines)), lines)

    def _lines(self, first: int, last: int, *, keeps_blanks: bool) -> Span:
        source = self._source
        count = source.line(len(source.text))
        is_blank_above = first == 1 or not source.line_text(first - 1).strip()
        if not keeps_blanks and is_blank_above:
            if last < count and not source.line_text(last + 1).strip():
                last += 1
            while first > 2 and not source.text[self._start(last + 1) :].strip() and self._is_blank(first - 1):
                first -= 1  # no blank line ends a file
        return Span(self._start(first), self._start(last + 1))

    def _is_blank(self, line: int) -> bool:
        return not self._source.line_text(line).strip()

    def _start(self, line: int) -> int:
        source = self._source
        return source.line_start(line) if line <= source.line(len(source.text)) else len(source.text)
