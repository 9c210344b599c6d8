"""Cuts C++ text into tokens with one regular expression, in a few passes over whole lists: a file has a token for
every five bytes, so that an object or a call for each would take longer than all the rest of the compiler.

Only what matters to the parser becomes a token: blanks, line ends and comments are dropped, since text is always
copied from the source by its span. A preprocessor directive is one token, from its `#` to the end of its logical line.

`>` is always a token of its own unless it is part of `->`, `->*`, `<=>` or `>=`, so that nested template lists close
one by one; all other operators are whole tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from itertools import accumulate, compress
from operator import sub

from actorc.diagnostics import Diagnostics, Fault
from actorc.records import dataclass
from actorc.source import Source
from actorc.syntax import Span


class Kind(Enum):
    NAME = "name"  # identifiers and keywords
    NUMBER = "number"
    STRING = "string"
    CHARACTER = "character"
    PUNCTUATOR = "punctuator"
    DIRECTIVE = "directive"
    BROKEN = "broken"  # a quote of a literal that does not end on its line
    OTHER = "other"  # a character that is not C++


@dataclass(frozen=True, slots=True)
class Token:
    kind: Kind
    text: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """The tokens of a file as lists of equal length. Making a Token of one is slow."""

    kinds: list[Kind]
    texts: list[str]
    starts: list[int]
    ends: list[int]

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, index: int) -> Token:
        return Token(self.kinds[index], self.texts[index], self.starts[index], self.ends[index])

    def __iter__(self) -> Iterator[Token]:
        return map(Token, self.kinds, self.texts, self.starts, self.ends)


_BLANKS = " \t\r\n\f\v\ufeff"
# No possessive quantifiers here: the re of Python 3.11.2, which is Debian 12's, gets them wrong around groups.
_BLOCK_COMMENT = r"/\*(?s:.*?)\*/"
_LINE_COMMENT = r"//[^\n\\]*(?:\\(?:[ \t]*\r?\n)?[^\n\\]*)*"
_RAW_STRING = r'(?:u8|[uUL])?R"(?P<{0}>[^ ()\\\t\v\f\r\n"]{{0,16}})\((?s:.*?)\)(?P={0})"'
_STRING = r'(?:u8|[uUL])?"[^"\\\n]*(?:\\(?:\r\n|(?s:.))[^"\\\n]*)*"'
_CHARACTER = r"(?:u8|[uUL])?'[^'\\\n]*(?:\\(?:\r\n|(?s:.))[^'\\\n]*)*'"
_SUFFIX = r"(?:[^\W\d]\w*)?"
_NAME = r"(?:[^\W\d]|\$)[\w$]*"
_COMMON_NAME = r"[a-zA-Z_]\w*\b(?![\"'$])"  # fast, since it never backtracks
_REST_OF_LINE = (
    rf"(?:\\\r?\n|{_BLOCK_COMMENT}|{_LINE_COMMENT}|{_RAW_STRING.format('raw_in_line')}"
    rf"|{_STRING}|{_CHARACTER}|\r(?!\n|\Z)|[^\r\n])*"
)
_OPERATORS = (
    "<=>", "->*", "...", "<<=", "::", "->", ".*", "<<", "<=", ">=", "==", "!=", "&&", "||", "++", "--",
    "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##",
    "{", "}", "(", ")", "[", "]", ";", ",", "<", ">", "=", ":", "?", ".", "&", "*", "+", "-", "/", "%", "^", "|",
    "~", "!",
)  # fmt: skip
_OPEN_COMMENT = r"/\*(?s:.*)"
_OPEN_RAW = r'(?:u8|[uUL])?R"[^ ()\\\t\v\f\r\n"]{0,16}\((?s:.*)'
# In the order in which they are tried: the most common first, and before what begins alike.
_LEXEMES = (
    ("name", _COMMON_NAME),
    ("punctuator", r"[;,(){}\[\]]"),
    ("blank", r"\\\r?\n"),
    ("comment", f"{_BLOCK_COMMENT}|{_LINE_COMMENT}"),
    ("open_comment", r"/\*(?s:.*)"),
    ("string", f"(?:{_RAW_STRING.format('raw')}|{_STRING}){_SUFFIX}"),
    ("character", _CHARACTER + _SUFFIX),
    ("open_raw", r'(?:u8|[uUL])?R"[^ ()\\\t\v\f\r\n"]{0,16}\((?s:.*)'),
    ("broken", r"(?:u8|[uUL])?[\"'][^\n]*"),
    ("other_name", _NAME),
    ("number", r"\.?[0-9](?:[eEpP][+-]|'\w|[\w.])*"),
    ("operator", "|".join(re.escape(text) for text in _OPERATORS)),
    ("directive", "#" + _REST_OF_LINE),
    ("other", rf"[^{_BLANKS}]"),
)
_KINDS = {
    "name": Kind.NAME,
    "punctuator": Kind.PUNCTUATOR,
    "open_comment": Kind.BROKEN,
    "string": Kind.STRING,
    "character": Kind.CHARACTER,
    "open_raw": Kind.BROKEN,
    "broken": Kind.BROKEN,
    "other_name": Kind.NAME,
    "number": Kind.NUMBER,
    "operator": Kind.PUNCTUATOR,
    "directive": Kind.DIRECTIVE,
    "other": Kind.OTHER,
}


def _piece(*without: str) -> re.Pattern[str]:
    """One lexeme with the blanks in front of it."""
    lexemes = (f"(?P<{name}>{pattern})" for name, pattern in _LEXEMES if name not in without)
    return re.compile(rf"[{_BLANKS}]*(?:{'|'.join(lexemes)})")


_PIECE = _piece()
OPEN_TO_THE_END = "/*"  # the text of a token that swallows the rest of the file


def lex(source: Source, diagnostics: Diagnostics) -> Tokens:
    """All tokens of the file. A literal without end is left to the parser, which ignores text outside actors."""
    pieces = _Pieces(source.text)
    pieces.check_directives()
    texts, kinds = pieces.texts, pieces.kinds
    ends = list(accumulate(map(len, pieces.all)))
    starts = list(map(sub, ends, map(len, texts)))
    if pieces.is_open:
        _report_open(texts[-1], starts[-1], diagnostics)
        texts[-1] = OPEN_TO_THE_END
    keep = [kind is not None for kind in kinds]
    return Tokens(
        [kind for kind in kinds if kind is not None],
        list(compress(texts, keep)),
        list(compress(starts, keep)),
        list(compress(ends, keep)),
    )


def _matches(piece: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Up to the last lexeme: in blanks that none follows, the search would start again at each of them."""
    return piece.finditer(text, 0, len(text.rstrip(_BLANKS)))


class _Pieces:
    """The whole text, cut in front of the blanks before each lexeme. Comments are pieces of no kind."""

    def __init__(self, text: str) -> None:
        self.all: list[str] = []
        groups: list[str | None] = []
        take, note = self.all.append, groups.append
        for match in _matches(_PIECE, text):
            take(match.group())
            note(match.lastgroup)
        self.texts = [piece.lstrip(_BLANKS) for piece in self.all]
        self.kinds = [_KINDS.get(group or "") for group in groups]
        self.is_open = bool(groups) and groups[-1] in ("open_comment", "open_raw")

    def check_directives(self) -> None:
        """Cut up what a `#` begins that is not the first on its line."""
        stray = [place for place, kind in enumerate(self.kinds) if kind is Kind.DIRECTIVE and not self._begins(place)]
        for place in reversed(stray):
            self._cut(place)

    def _begins(self, place: int) -> bool:
        """Whether nothing but blanks and comments stands before a piece on its line."""
        while place and "\n" not in self.all[place][: len(self.all[place]) - len(self.texts[place])]:
            place -= 1
            if self.kinds[place] is not None:
                return False
        return True

    def _cut(self, place: int) -> None:
        text = self.all[place]
        matches = list(_matches(_piece("directive", "open_comment", "open_raw"), text))
        pieces = [match.group() for match in matches]
        rest = text[matches[-1].end() :]
        self.all[place : place + 1] = [*pieces, rest]
        self.texts[place : place + 1] = [*(piece.lstrip(_BLANKS) for piece in pieces), ""]
        self.kinds[place : place + 1] = [*(_KINDS.get(match.lastgroup or "") for match in matches), None]


def _report_open(text: str, start: int, diagnostics: Diagnostics) -> None:
    """A comment or raw string without end swallows the rest of the file, so it matters wherever it stands."""
    span = Span(start, start + 2)
    if text.startswith("/*"):
        diagnostics.error(Fault.UNTERMINATED_COMMENT, "this comment is never closed", span, hint="close it with `*/`")
    else:
        diagnostics.error(
            Fault.UNTERMINATED_LITERAL,
            "this raw string is never closed",
            span,
            hint="end it with `)` and its delimiter",
        )
