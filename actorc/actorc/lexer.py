"""Cuts C++ text into tokens with one regular expression.

Only what matters to the parser becomes a token: blanks, line ends and comments are dropped, since text is always
copied from the source by its span. A preprocessor directive is one token, from its `#` to the end of its logical line.

`>` is always a token of its own unless it is part of `->`, `->*`, `<=>` or `>=`, so that nested template lists close
one by one; all other operators are whole tokens.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

from actorc.diagnostics import Diagnostics, Fault
from actorc.source import Source
from actorc.syntax import Span


class Kind(Enum):
    NAME = "name"  # identifiers and keywords
    NUMBER = "number"
    STRING = "string"
    CHARACTER = "character"
    PUNCTUATOR = "punctuator"
    DIRECTIVE = "directive"
    BROKEN = "broken"  # a quote whose literal does not end on its line
    OTHER = "other"  # a character that is not C++


class Token(NamedTuple):
    kind: Kind
    text: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)


# No possessive quantifiers here: the re of Python 3.11.2, which is Debian 12's, gets them wrong around groups.
_BLOCK_COMMENT = r"/\*(?s:.*?)\*/"
_LINE_COMMENT = r"//[^\n\\]*(?:\\(?:\r?\n|.)?[^\n\\]*)*"
_RAW_STRING = r'(?:u8|[uUL])?R"(?P<{0}>[^ ()\\\t\v\f\r\n"]{{0,16}})\((?s:.*?)\)(?P={0})"'
_STRING = r'(?:u8|[uUL])?"[^"\\\n]*(?:\\(?:\r\n|(?s:.))[^"\\\n]*)*"'
_CHARACTER = r"(?:u8|[uUL])?'[^'\\\n]*(?:\\(?:\r\n|(?s:.))[^'\\\n]*)*'"
_SUFFIX = r"(?:[^\W\d]\w*)?"
_NAME = r"(?:[^\W\d]|\$)[\w$]*"
_REST_OF_LINE = (
    rf"(?:\\\r?\n|{_BLOCK_COMMENT}|{_LINE_COMMENT}|{_RAW_STRING.format('raw_in_line')}"
    rf"|{_STRING}|{_CHARACTER}|[^\n])*"
)
_PUNCTUATORS = (
    "<=>", "->*", "...", "<<=", "::", "->", ".*", "<<", "<=", ">=", "==", "!=", "&&", "||", "++", "--",
    "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##",
    "{", "}", "(", ")", "[", "]", ";", ",", "<", ">", "=", ":", "?", ".", "&", "*", "+", "-", "/", "%", "^", "|",
    "~", "!", "#",
)  # fmt: skip

_MASTER = re.compile(
    "|".join(
        (
            r"(?P<blank>(?:[ \t\r\n\f\v\ufeff]|\\\r?\n)+)",
            rf"(?P<comment>{_BLOCK_COMMENT}|{_LINE_COMMENT})",
            r"(?P<open_comment>/\*(?s:.*))",
            rf"(?P<string>(?:{_RAW_STRING.format('raw')}|{_STRING}){_SUFFIX})",
            rf"(?P<character>{_CHARACTER}{_SUFFIX})",
            r'(?P<open_raw>(?:u8|[uUL])?R"[^ ()\\\t\v\f\r\n"]{0,16}\((?s:.*))',
            r"(?P<broken>(?:u8|[uUL])?[\"'][^\n]*)",
            rf"(?P<name>{_NAME})",
            r"(?P<number>\.?[0-9](?:[eEpP][+-]|'\w|[\w.])*)",
            "(?P<punctuator>" + "|".join(re.escape(text) for text in _PUNCTUATORS) + ")",
            r"(?P<other>(?s:.))",
        )
    )
)
OPEN_TO_THE_END = "/*"  # the text of a token that swallows the rest of the file
_DIRECTIVE = re.compile("#" + _REST_OF_LINE)
_KINDS: dict[str | None, Kind] = {kind.value: kind for kind in Kind}


def lex(source: Source, diagnostics: Diagnostics) -> list[Token]:
    """All tokens of the file. A literal without end is left to the parser, to which text outside actors is nothing."""
    tokens: list[Token] = []
    position = 0
    text = source.text
    while position < len(text):
        position = _lex_run(text, position, tokens, diagnostics)
    return tokens


def _lex_run(text: str, position: int, tokens: list[Token], diagnostics: Diagnostics) -> int:
    """Tokens from `position` on, up to the end or just after a directive; returns where it stopped.

    A `#` opens a directive where nothing but blanks and comments precede it on its line.
    """
    append = tokens.append
    line_begins = position == 0
    for match in _MASTER.finditer(text, position):
        group = match.lastgroup
        if group == "blank":
            line_begins = line_begins or "\n" in match.group()
        elif group == "punctuator" and line_begins and match.group() == "#":
            return _lex_directive(text, match.start(), tokens)
        elif group in _KINDS:
            append(Token(_KINDS[group], match.group(), match.start(), match.end()))
            line_begins = False
        elif group != "comment":
            append(_open_token(match, diagnostics))
    return len(text)


def _lex_directive(text: str, position: int, tokens: list[Token]) -> int:
    match = _DIRECTIVE.match(text, position)
    assert match is not None
    directive = match.group().rstrip("\r")
    tokens.append(Token(Kind.DIRECTIVE, directive, position, position + len(directive)))
    return match.end()


def _open_token(match: re.Match[str], diagnostics: Diagnostics) -> Token:
    """A comment or raw string without end swallows the rest of the file, so it matters wherever it stands."""
    span = Span(match.start(), match.start() + 2)
    if match.lastgroup == "open_comment":
        diagnostics.error(Fault.UNTERMINATED_COMMENT, "this comment is never closed", span, hint="close it with `*/`")
    else:
        diagnostics.error(Fault.UNTERMINATED_LITERAL, "this raw string is never closed", span)
    return Token(Kind.BROKEN, OPEN_TO_THE_END, match.start(), match.end())
