"""Puts emitted text on the lines of the source that it comes from.

Emitted text keeps the lines of its source: all that line N of an actor becomes is on one line, which the C++ compiler
counts as line N. So messages, `__LINE__` and debuggers show the source. Emitters write `at(N)` before the text of line
N; this module replaces it by a line break, empty lines, a `#line`, or nothing if the count is right. An expression of
the source also keeps its column: blanks come before it, behind a `#line` if too much stands there already. So does
what the head of an actor spells: types, names and default arguments. A long line is broken at the next `at(N)` or
`MAY_BREAK`, so that compilers do not print a long one.
"""

from __future__ import annotations

import re

from actorc.source import BYTE_ORDER_MARK, Source
from actorc.syntax import Span

# Lone surrogates, which no source can contain: its text was decoded from bytes.
_OPEN, MARK_END = "\ud801", "\ud802"
_MARK = re.compile(f"{_OPEN}([0-9]+),([0-9]+){MARK_END}")
# With `#line` gcc takes the file for a header, and warns of types that no other file can name.
_NO_HEADER = """\
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif
"""
_MOST_EMPTY_LINES = 3  # more than this and a `#line` is shorter
_WIDEST = 160  # beyond this column nothing is moved: of one long line the blanks would be most of the text
_LONG = 100  # a line of this width is broken where it can be


def at(line: int, column: int = 0) -> str:
    """A mark in emitted text: what follows belongs to this line of the source, and begins in this column of it."""
    return f"{_OPEN}{line},{column}{MARK_END}"


MAY_BREAK = at(0)  # a mark: a long line may be broken here


def apart(line: int) -> str:
    """A mark: what follows belongs to this line of the source, and does not stand behind any text of it."""
    return at(line, 1)


BREAK = apart(0)  # the same, on the line that it stands on


def placed(source: Source, span: Span) -> str:
    """The mark for text that is copied from the source; none for what the source only implies."""
    if span.end > len(source.text):
        return ""
    text = source.text_of(span)
    return at(text.line, text.column)


class LineWriter:
    def __init__(self, source: Source, *, is_header: bool) -> None:
        self._source = source
        path = source.path.replace("\\", "\\\\").replace('"', '\\"')
        self._file = f'"{path}"'
        start = "#define POST_ACTOR_COMPILER 1\n" + ("" if is_header else _NO_HEADER)
        self._parts = [BYTE_ORDER_MARK + start if source.text.startswith(BYTE_ORDER_MARK) else start]
        self._line = 0  # the line that the C++ compiler counts for the next character
        self._width = 0  # the bytes that stand on the current line
        self._names_file = False  # whether the name of the last `#line` still holds: other text may have one of its own
        self._is_blank = True  # nothing but white space stands on the current line
        self._directive(1)

    def text(self) -> str:
        return "".join(self._parts)

    def copy(self, start: int, end: int) -> None:
        """Source text, as it is."""
        if start == 0 and self._source.text.startswith(BYTE_ORDER_MARK):
            start = 1
        if start < end:
            self._move_to(self._source.line(start), indent=False)
            self._put(self._source.text[start:end])
            self._names_file = False

    def emit(self, marked: str) -> None:
        """Emitted text with marks."""
        first, *rest = _MARK.split(marked)
        self._put(first)
        for number, place, text in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
            line, column = int(number) or self._line, int(place)
            has_column = 0 < column <= _WIDEST
            self._move_to(line, indent=not has_column)
            if has_column:
                self._move_to_column(column)
            self._put(text)

    def _put(self, text: str) -> None:
        if not text:
            return
        self._parts.append(text)
        breaks = text.count("\n")
        if breaks:
            self._line += breaks
            self._begin_line()
            self._names_file = self._names_file and "#" not in text
            text = text[text.rindex("\n") + 1 :]
        self._width += len(text if text.isascii() else text.encode(errors="surrogatepass"))
        self._is_blank = self._is_blank and not text.strip()

    def _move_to(self, line: int, *, indent: bool) -> None:
        if self._line == line:
            if indent and self._width > _LONG:
                self._break_line()
            return
        gap = line - self._line
        if 0 < gap <= _MOST_EMPTY_LINES:
            self._end_line()
            self._put("\n" * (line - self._line))
        else:
            if not self._is_blank:
                self._end_line()
            self._directive(line)
        if indent:
            text = self._source.line_text(line)
            self._put(text[: len(text) - len(text.lstrip())])

    def _move_to_column(self, column: int) -> None:
        if self._width >= column:
            self._break_line()
        self._put(" " * (column - 1 - self._width))

    def _break_line(self) -> None:
        """What follows stands on a line of its own, and belongs to the same line of the source."""
        self._end_line()
        self._directive(self._line - 1)

    def _end_line(self) -> None:
        self._parts[-1] = self._parts[-1].rstrip(" ")
        self._put("\n")

    def _directive(self, line: int) -> None:
        self._parts.append(f"#line {line}\n" if self._names_file else f"#line {line} {self._file}\n")
        self._line = line
        self._names_file = True
        self._begin_line()

    def _begin_line(self) -> None:
        self._width = 0
        self._is_blank = True
