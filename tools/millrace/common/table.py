"""A table that fits its output, and never cuts a number or a verdict.

In a file or a pipe it is Markdown, as wide as it gets. On a narrow terminal, headings and texts take several lines. If
that is not enough, columns are left out, in the order that the table states, and a line names them. If that is not
enough either, each row becomes a paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

NARROWEST = 14  # of a column of text, unless its longest word is shorter
# Between two such pieces a text may be broken.
_PIECE = re.compile(r"\s+|[^\s/:-]*(?:/|::|-|:)|[^\s/:-]+")


@dataclass(frozen=True, slots=True)
class _Column:
    heading: str
    is_text: bool


class Table:
    def __init__(self, title: str, plain: bool, optional: Sequence[str] = ()) -> None:
        """`plain` gives Markdown. `optional` are the headings that are left out where space is short, the first
        first."""
        self._title = title
        self._plain = plain
        self._optional = optional
        self._columns: list[_Column] = []
        self._rows: list[tuple[bool, Sequence[str]]] = []  # is it bold, and its cells

    def texts(self, *headings: str) -> None:
        """Adds columns, each of which may take several lines."""
        self._columns += [_Column(heading, is_text=True) for heading in headings]

    def numbers(self, *headings: str) -> None:
        self._columns += [_Column(heading, is_text=False) for heading in headings]

    def add_row(self, *cells: str, bold: bool = False) -> None:
        self._rows.append((bold, cells))

    @property
    def row_count(self) -> int:
        return len(self._rows)

    @property
    def headings(self) -> list[str]:
        return [column.heading for column in self._columns]

    @property
    def numeric(self) -> list[bool]:
        return [not column.is_text for column in self._columns]

    @property
    def rows(self) -> list[Sequence[str]]:
        return [cells for _, cells in self._rows]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        if self._title:
            yield Text(self._title, "table.title")
        every = list(range(len(self._columns)))
        if self._plain:
            yield self._table(every, [_natural(self._cells(i)) for i in every])
            return
        chosen, widths = self._fit(options.max_width)
        if chosen:
            yield self._table(chosen, widths)
            left_out = dict.fromkeys(column.heading for i, column in enumerate(self._columns) if i not in chosen)
            if left_out:
                yield Text(f"left out, since the terminal is narrow: {', '.join(left_out)}", "dim")
        else:
            yield from self._paragraphs()

    def _cells(self, index: int) -> list[str]:
        return [self._columns[index].heading, *(cells[index] for _, cells in self._rows)]

    def _fit(self, width: int) -> tuple[list[int], list[int]]:
        """Which columns are shown, and how wide they are; none if no choice of them is narrow enough."""
        every = list(range(len(self._columns)))
        widths = [_natural(self._cells(i)) for i in every]
        if sum(widths) + _between(every) <= width:
            return every, widths
        for count in range(len(self._optional) + 1):
            chosen = [i for i in every if self._columns[i].heading not in self._optional[:count]]
            least = [self._least(i) for i in chosen]
            spare = width - _between(chosen) - sum(least)
            if spare >= 0:
                return chosen, self._spread(chosen, least, spare)
        return [], []

    def _least(self, index: int) -> int:
        heading, *cells = self._cells(index)
        words = max(cell_len(word) for word in _pieces(heading))
        if not self._columns[index].is_text:
            return max(words, _natural(cells))
        return max(words, min(NARROWEST, max((cell_len(word) for cell in cells for word in cell.split()), default=0)))

    def _spread(self, chosen: Sequence[int], least: Sequence[int], spare: int) -> list[int]:
        """Distributes the rest of the width: to texts first, then to headings."""
        widths = list(least)
        for is_text in (True, False):
            for place, index in enumerate(chosen):
                if self._columns[index].is_text == is_text:
                    more = min(spare, _natural(self._cells(index)) - widths[place])
                    widths[place] += more
                    spare -= more
        return widths

    def _table(self, chosen: Sequence[int], widths: Sequence[int]) -> RichTable:
        result = RichTable(box=box.MARKDOWN if self._plain else box.SIMPLE_HEAD)
        if not self._plain:
            result.padding = (0, 1, 0, 0)
        for index, width in zip(chosen, widths, strict=True):
            column = self._columns[index]
            result.add_column(folded(column.heading, width), width=width, no_wrap=True)
            result.columns[-1].justify = "left" if column.is_text else "right"
        for bold, cells in self._rows:
            texts = (folded(cells[index], width) for index, width in zip(chosen, widths, strict=True))
            result.add_row(*(Text(text) for text in texts), style="bold" if bold and not self._plain else "")
        return result

    def _paragraphs(self) -> Iterator[RenderableType]:
        widest = max(map(cell_len, self.headings[1:]), default=0)
        for _, cells in self._rows:
            yield Text()
            yield Text(cells[0], "bold")
            for heading, cell in zip(self.headings[1:], cells[1:], strict=True):
                yield Text(f"  {heading:<{widest}} {cell}")


def _natural(cells: Sequence[str]) -> int:
    return max(map(cell_len, cells), default=0)


def _between(columns: Sequence[int]) -> int:
    """The width that box.SIMPLE_HEAD and the padding add to so many columns."""
    return 2 * len(columns) + 1


def _pieces(text: str) -> list[str]:
    return [piece for piece in _PIECE.findall(text) if piece.strip()] or [""]


def folded(text: str, width: int) -> str:
    """In lines of at most `width`, broken between words, and after / : and - in names; within a word only if it is
    longer than a line."""
    if cell_len(text) <= width:
        return text
    indent = text[: len(text) - len(text.lstrip())]
    lines = [indent]
    for piece in _PIECE.findall(text[len(indent) :]):
        if cell_len(lines[-1]) + cell_len(piece.rstrip()) > width and lines[-1].strip():
            lines.append(indent)
        if not piece.strip() and not lines[-1].strip():
            continue
        room = max(1, width - cell_len(lines[-1]))
        while len(piece) > room and piece.strip():
            lines[-1] += piece[:room]
            piece = piece[room:]
            lines.append(indent)
            room = max(1, width - len(indent))
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines if line.strip())
