"""A source file as text, and the conversion of an offset to a line and a column.

The text is kept exactly as it was read: CRLF, a byte order mark and NUL characters survive, since everything
outside actors is copied to the output. Bytes that are not UTF-8 become lone surrogates (`surrogateescape`), so that
they too have an offset at which they can be reported. If the lines of a file end with CR alone, they are converted,
since not every C++ compiler reads those.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right

from actorc.records import dataclass
from actorc.syntax import Span

BYTE_ORDER_MARK = "\ufeff"
STANDARD_INPUT = "<stdin>"
_UNDECODABLE = re.compile("[\udc80-\udcff]")


class Source:
    """`path` is the name that messages and `#line` show; `text` is the whole file."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self._line_starts = [1 if text.startswith(BYTE_ORDER_MARK) else 0]
        self._line_starts += [match.end() for match in re.finditer("\n", text)]
        self._implied = ""

    @classmethod
    def from_bytes(cls, path: str, data: bytes) -> Source:
        text = data.decode("utf-8", errors="surrogateescape")
        if "\n" not in text:
            text = text.replace("\r", "\n")
        return cls(path, text)

    @classmethod
    def read(cls, path: str) -> Source:
        """Reads a file, or standard input for `-`; raises OSError with the name that messages show."""
        if path == "-":
            return cls.from_bytes(STANDARD_INPUT, _standard_input())
        with open(path, "rb") as file:
            return cls.from_bytes(path, file.read())

    def __getitem__(self, span: Span) -> str:
        size = len(self.text)
        if span.start > size:
            return self._implied[span.start - size - 1 : span.end - size - 1]
        return self.text[span.start : span.end]

    def implied(self, text: str) -> Span:
        """A span after the end of the file, for text that a construct implies and does not spell."""
        start = len(self.text) + 1 + len(self._implied)
        self._implied += text
        return Span(start, start + len(text))

    @property
    def line_end(self) -> str:
        first = self.text.find("\n")
        return "\r\n" if first > 0 and self.text[first - 1] == "\r" else "\n"

    def line(self, offset: int) -> int:
        """The line, counted from 1, that an offset stands in."""
        return max(1, bisect_right(self._line_starts, offset))

    def text_of(self, span: Span) -> Text:
        """The text that stands there, with its place."""
        line = self.line(span.start)
        before = self.text[self._line_starts[line - 1] : span.start]
        return Text(self[span], line, len(before.encode(errors="surrogatepass")) + 1)

    def name_behind(self, name: str, span: Span) -> Text | None:
        """A name at the first place behind a span where it stands."""
        found = re.compile(rf"\b{name}\b").search(self.text, span.end)
        return None if found is None else self.text_of(Span(*found.span()))

    def line_column(self, offset: int) -> tuple[int, int]:
        """Line and column, both counted from 1; a column is a character, whatever its width."""
        line = self.line(offset)
        return line, max(0, offset - self._line_starts[line - 1]) + 1

    def line_start(self, line: int) -> int:
        """The offset at which a line begins."""
        return self._line_starts[line - 1]

    def line_text(self, line: int) -> str:
        """The text of a line without its line end."""
        start = self._line_starts[line - 1]
        end = self._line_starts[line] if line < len(self._line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    def undecodable(self) -> Span | None:
        """The first run of bytes that are not UTF-8."""
        first = _UNDECODABLE.search(self.text)
        if first is None:
            return None
        end = first.end()
        while end < len(self.text) and _UNDECODABLE.match(self.text, end):
            end += 1
        return Span(first.start(), end)

    def encode(self, text: str) -> bytes:
        """The bytes for text that was cut from this source: the reverse of reading it."""
        return text.encode("utf-8", errors="surrogateescape")


def _standard_input() -> bytes:
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        raise OSError(error.errno, error.strerror, STANDARD_INPUT) from error


@dataclass(frozen=True, slots=True)
class Text:
    """Source text with the place where it stands. Glue is a plain `str` beside it."""

    text: str
    line: int
    column: int = 0  # in bytes, as C++ compilers count, from 1; 0: anywhere on the line


Pieces = tuple["str | Text", ...]
