"""`co_await f(c ? g() : h())`: gcc 12 evaluates both branches, and destroys what they made twice or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterator

_NOISE = re.compile(r"//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'")
_AWAIT = re.compile(r"\bco_await\b")
_MAKES = re.compile(r"[\w>]\s*[({]|\+")  # a call, an object, a concatenation


def conditional_awaits(lines: list[str]) -> Iterator[int]:
    text = _NOISE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), "\n".join(lines))
    for match in _AWAIT.finditer(text):
        _, question, rest = _without_braces(_up_to(";", text[match.end() :])).partition("?")
        if question and _MAKES.search(_up_to(",", rest)):
            yield text.count("\n", 0, match.start()) + 1


def _up_to(end: str, text: str) -> str:
    """What stands before `end`, or before the bracket that closes what is around the text."""
    depth = 0
    for index, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if depth < 0 or (depth == 0 and character == end):
            return text[:index]
    return text


def _without_braces(text: str) -> str:
    """Without the bodies of lambdas."""
    kept: list[str] = []
    depth = 0
    for character in text:
        if depth == 0:
            kept.append(character)
        depth += (character == "{") - (character == "}")
    return "".join(kept)
