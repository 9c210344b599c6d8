"""Captures of plain lambdas in an actor: parameters and states, which are members in one back end and locals in the
other.

`[x]` becomes `[x = x]`. `=` and `this` see what the actor keeps by reference, as the members that they are in a state
machine, and `&` does so in either back end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from actorc.check.captures import CaptureList
from actorc.source import Source
from actorc.syntax import Span, Words

_QUALIFIES = frozenset({".", "->", "::"})


def spelt_captures(
    source: Source, words: Words, lists: Iterable[CaptureList], kept: Collection[str]
) -> Iterator[tuple[Span, str]]:
    """The capture lists that must be rewritten. `kept`: the names of the variables that live as long as the actor."""
    for found in lists:
        if not all(found.entries):
            continue  # C++ reports that a name is missing
        before = [source[_span(entry, words)] for entry in found.entries]
        after = [text for entry in _entries(found, before, words, kept) for text in entry]
        if after != before:
            first, last = found.entries[0], found.entries[-1]
            yield Span(words.starts[first[0]], words.span(last[-1]).end), ", ".join(after)


def _entries(found: CaptureList, spelt: list[str], words: Words, kept: Collection[str]) -> Iterator[list[str]]:
    """What stands for each entry."""
    names = [words.texts[entry[words.texts[entry[0]] == "&" and len(entry) > 1]] for entry in found.entries]
    others = [f"&{name} = {name}" for name in _mentioned(found, words, kept) if name not in names]
    for entry, text, name in zip(found.entries, spelt, names, strict=True):
        if text in ("=", "this"):
            yield [text, *others] if text == "=" else others
            others = []
        elif name in kept and len(entry) == 1 + (words.texts[entry[0]] == "&"):
            yield [f"{text} = {name}"]
        else:
            yield [text]


def _span(entry: range, words: Words) -> Span:
    return Span(words.starts[entry[0]], words.span(entry[-1]).end)


def _mentioned(found: CaptureList, words: Words, kept: Collection[str]) -> list[str]:
    """What the lambda names, in the order in which it does so."""
    texts = words.texts
    inside = range(found.open + 1, found.end)
    return list(dict.fromkeys(texts[i] for i in inside if texts[i] in kept and texts[i - 1] not in _QUALIFIES))
