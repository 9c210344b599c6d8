"""Tokens: every kind of C++ token, and directives as they stand in real files."""

from __future__ import annotations

import pytest

from actorc.diagnostics import Diagnostics
from actorc.parse.lexer import Kind, Token, lex
from actorc.source import Source


def tokens(text: str) -> list[Token]:
    return list(lex(Source("test", text), Diagnostics()))


def texts(text: str) -> list[str]:
    return [token.text for token in tokens(text)]


@pytest.mark.parametrize("end", ["\\", "\\\\", "\\ \t", "\\\r", " \\\\\\"])
def test_a_comment_goes_on_behind_a_backslash_at_the_end_of_its_line(end: str) -> None:
    """Whatever stands before the backslash; behind it may be blanks."""
    assert texts(f"a; // C:\\folder{end}\nb;\nc;") == ["a", ";", "c", ";"]


def test_a_backslash_inside_a_comment_is_nothing() -> None:
    assert texts("// a\\b \\\\ \\ c\nd // \\n\ne") == ["d", "e"]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Kind.NAME, "_a$9"),
        (Kind.NAME, "größe"),
        (Kind.NUMBER, "1'000'000"),
        (Kind.NUMBER, "0x1p-3"),
        (Kind.NUMBER, ".5e+3f"),
        (Kind.NUMBER, "12_km"),
        (Kind.STRING, '"a\\"b"'),
        (Kind.STRING, 'u8"a\\\nb"'),
        (Kind.STRING, '"a"_sr'),
        (Kind.STRING, 'R"x(a)" } // )y"\n)x"'),
        (Kind.STRING, 'LR"()"'),
        (Kind.CHARACTER, "'\\''"),
        (Kind.CHARACTER, "L'x'"),
        (Kind.PUNCTUATOR, "<=>"),
        (Kind.PUNCTUATOR, "->*"),
        (Kind.PUNCTUATOR, "..."),
        (Kind.PUNCTUATOR, "<<="),
        (Kind.PUNCTUATOR, "::"),
        (Kind.DIRECTIVE, "#define A(x) \\\n  x /* y\n z */ w // v \\\n u"),
        (Kind.DIRECTIVE, "#  error don't"),
        (Kind.DIRECTIVE, '#define A R"(\n)"'),
        (Kind.BROKEN, '"abc'),
        (Kind.BROKEN, "'abc"),
        (Kind.OTHER, "\0"),
        (Kind.OTHER, "@"),
    ],
)
def test_one_token(kind: Kind, text: str) -> None:
    assert tokens(f"\n{text}\n;") == [
        Token(kind, text, 1, 1 + len(text)),
        Token(Kind.PUNCTUATOR, ";", len(text) + 2, len(text) + 3),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a<b<c>>d", ["a", "<", "b", "<", "c", ">", ">", "d"]),
        ("a>>=b<<c", ["a", ">", ">=", "b", "<<", "c"]),
        ("a/* b */c// d\ne", ["a", "c", "e"]),
        ("a // b \\\n c\nd", ["a", "d"]),
        ("a\\\nb", ["a", "b"]),
        ("a # b", ["a", "#", "b"]),
        ("/* a */ #b\n c", ["#b", "c"]),
        ("a /*\n*/ #b\n", ["a", "#", "b"]),
        ("\ufeff#a\nb", ["#a", "b"]),
        ("#a\r\nb", ["#a", "b"]),
        ("uR u8 R", ["uR", "u8", "R"]),
        ("x'a'", ["x", "'a'"]),
        ("1.2.3 1..2", ["1.2.3", "1..2"]),
        ("", []),
    ],
)
def test_sequences(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


def test_spans_cover_what_the_token_says() -> None:
    text = 'int main() {\r\n\treturn R"(x)" + 1\'0; // end\r\n}\r\n'
    assert all(text[token.start : token.end] == token.text for token in tokens(text))
