"""What other pages quote of the page of results: rows of its tables, and the line above them."""

from __future__ import annotations

import re
from collections.abc import Iterator

_CONTEXT = re.compile(r"^\S+ [\d.]+, (sim|real) loop, \S+$")

Cells = tuple[str, ...]


def cells(line: str) -> Cells | None:
    """Of a row of a table."""
    return tuple(cell.strip() for cell in line.strip().strip("|").split("|")) if line.startswith("|") else None


def tables(page: str) -> Iterator[list[str]]:
    """The lines of each table: the heading, the line below it, and the rows."""
    for block in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
        yield block.splitlines()


def updated(text: str, page: str) -> str:
    """The text with today's figures in the tables that have the heading of one in the page. A row is known by its first
    two cells; one that is no longer in the page is left out."""
    found = {heading: lines for lines in tables(page) if any(heading := cells(lines[0]) or ())}
    contexts = {match[1]: line for line in page.splitlines() if (match := _CONTEXT.match(line))}
    result: list[str] = []
    table: list[str] | None = None
    for line in text.splitlines():
        row = cells(line)
        if row is None:
            table = None
            match = _CONTEXT.match(line)
            result.append(contexts.get(match[1], line) if match else line)
        elif table is None:
            table = found.get(row, [line])
            result.append(table[0])
        elif set(row[0]) == {"-"}:
            result.append(table[1] if len(table) > 1 else line)
        elif len(table) > 1:
            result += [each for each in table[2:] if (cells(each) or ())[:2] == row[:2]]
        else:
            result.append(line)
    return "\n".join(result) + "\n"
