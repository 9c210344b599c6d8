"""Reports words of the actor language outside actors, where C++ would misread them."""

from __future__ import annotations

import re

from actorc.diagnostics import Diagnostics, Fault
from actorc.parse.brackets import TokenList
from actorc.parse.lexer import Kind
from actorc.repairs import removed
from actorc.syntax import Span
from actorc.words import BUILTIN_TYPES, KEYWORDS

STRAY_WORDS = frozenset({"UNCANCELLABLE", "state"})  # and directives
_MACRO = re.compile(r"#\s*define\s+(?!ACTOR\b|SWIFT_ACTOR\b)\w+")
_ACTOR = re.compile(r"\"(?:\\.|[^\"\\])*\"|//[^\n]*|/\*.*?\*/|\b(?P<word>ACTOR|SWIFT_ACTOR)\b", re.DOTALL)
_BEFORE_ACTOR = frozenset({"static", "Future", "flow", "void", "ACTOR", "SWIFT_ACTOR"})


def find_stray(tokens: TokenList, index: int, diagnostics: Diagnostics) -> None:
    """Report what the token at `index`, outside actors, should not be."""
    text = tokens.texts[index]
    if text == "UNCANCELLABLE" and tokens.texts[index + 1] in _BEFORE_ACTOR:
        message = "`UNCANCELLABLE` belongs to an actor, and stands after the word ACTOR"
        hint = "write `ACTOR UNCANCELLABLE Future<T> name(...)`"
        diagnostics.error(Fault.STRAY_SPECIFIER, message, tokens.span(index, index + 1), hint=hint)
    elif text == "state" and _declares_state(tokens, index):
        message = "`state` means something only in actors"
        fixes = removed(tokens.to_next(index), text)
        diagnostics.error(Fault.STATE_WITHOUT_EFFECT, message, tokens.span(index, index + 1), fixes=fixes)
    elif "ACTOR" in text and tokens.kind(index) is Kind.DIRECTIVE:
        _find_in_macro(tokens.tokens[index].span, text, diagnostics)


def _declares_state(tokens: TokenList, index: int) -> bool:
    """Whether `state TYPE NAME` stands here; `state` may also be a type or a name of the program."""
    texts = tokens.texts
    before = texts[index - 1] if index else ""
    if before not in (";", "{", "}", "") and before[0] != "#":
        return False
    if texts[index + 1] in BUILTIN_TYPES or texts[index + 1] == "auto":
        return True
    place = index + 1 + (texts[index + 1] == "const")
    if not tokens.is_name(place) or texts[place] in KEYWORDS:
        return False
    while texts[place + 1] == "::" and tokens.is_name(place + 2):
        place += 2
    if texts[place + 1] == "<":
        return True
    return tokens.is_name(place + 1) and texts[place + 2] in (";", "=", "(", "{")


def _find_in_macro(span: Span, text: str, diagnostics: Diagnostics) -> None:
    head = _MACRO.match(text)
    if head is None:
        return
    for match in _ACTOR.finditer(text, head.end()):
        if match["word"]:
            place = Span(span.start + match.start("word"), span.start + match.end("word"))
            message = "an actor in a macro definition is never compiled: actorc does not expand macros"
            hint = "write the actor out, perhaps as a template, or let the macro call it"
            diagnostics.error(Fault.ACTOR_IN_MACRO, message, place, hint=hint)
            return
