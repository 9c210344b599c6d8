"""Edits of a text by offsets, which nest: what an edit moves elsewhere is itself edited.

    edits = Edits("wait(f(x));")
    edits.replace(Span(0, 5), "co_await ")
    edits.replace(Span(9, 10))
    edits.result()  # "co_await f(x);"

Text that no edit covers stays unchanged. No two edits may overlap unless one is inside the other. Of an inner edit,
only the parts that the outer edit keeps by naming their span have an effect.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence

from actorc.records import dataclass
from actorc.syntax import Span

_BLANKS = re.compile(r"\s*")

Part = str | Span  # new text, or text of the source, with the edits in it


@dataclass(frozen=True, slots=True)
class Edit:
    span: Span
    parts: tuple[Part, ...]
    rank: int  # of several insertions at one offset the lowest comes first


class Edits:
    def __init__(self, text: str) -> None:
        self._text = text
        # Adds the comments in a span to its replacement, see comments.py. Set only while edits are made.
        self.keeper: Callable[[Span, Sequence[Part]], list[Part]] | None = None
        self._edits: list[Edit] = []
        self._sorted: list[Edit] | None = None
        self._starts: list[int] = []

    def mark(self) -> int:
        """For `forget`."""
        return len(self._edits)

    def forget(self, mark: int) -> None:
        """Undoes all edits made since."""
        del self._edits[mark:]
        self._sorted = None

    def keep(self, span: Span) -> None:
        """Marks a span as moved elsewhere: edits need not keep the comments in it."""
        if self.keeper:
            self.keeper(Span(span.end, span.end), (span,))

    def replace(self, span: Span, *parts: Part) -> None:
        """A span among the parts that lies within `span` is what is kept of it."""
        self._add(Edit(span, tuple(self.keeper(span, parts)) if self.keeper else parts, 0))

    def insert(self, offset: int, *parts: Part, rank: int = 0) -> None:
        """Of insertions with the same rank at one offset the first made comes first; a negative rank is for what closes
        something before that which begins there."""
        self._add(Edit(Span(offset, offset), parts, rank))

    def insert_argument(self, inside: int, text: str, *, is_alone: bool) -> None:
        """The first of a list of arguments or parameters, of which `inside` is the offset behind the `(`."""
        if is_alone:
            self.insert(inside, text, rank=-1)
            return
        blanks = _BLANKS.match(self._text, inside)
        assert blanks is not None
        behind = blanks[0] if "\n" in blanks[0] else " "
        self.insert(blanks.end(), f"{text},{behind}", rank=-1)

    def drop_argument(self, inside: int) -> None:
        """What `insert_argument` has put there."""
        blanks = _BLANKS.match(self._text, inside)
        assert blanks is not None
        for offset in (inside, blanks.end()):
            self.drop(Span(offset, offset))

    def _add(self, edit: Edit) -> None:
        self._edits.append(edit)
        self._sorted = None

    @property
    def text(self) -> str:
        return self._text

    def copy(self) -> Edits:
        other = Edits(self._text)
        other._edits = list(self._edits)
        return other

    def drop(self, span: Span) -> None:
        """Forget the edits that lie within a span: its text stays as it is."""
        self._edits = [edit for edit in self._edits if edit.span.start < span.start or edit.span.end > span.end]
        self._sorted = None

    def changes(self) -> Iterator[tuple[Span, str]]:
        """What is replaced, in order, and by what: text between two of these comes out as it went in."""
        place = 0
        for edit in self._ordered():
            if edit.span.start < place:
                continue
            out: list[str] = []
            for part in edit.parts:
                if isinstance(part, str):
                    out.append(part)
                else:
                    self._render(part, edit, out)
            place = edit.span.end
            yield edit.span, "".join(out)

    def result(self) -> str:
        return self.rendered(Span(0, len(self._text)))

    def rendered(self, span: Span) -> str:
        """The text of a span with its edits; insertions at both of its ends belong to it."""
        out: list[str] = []
        self._render(span, None, out)
        return "".join(out)

    def _ordered(self) -> list[Edit]:
        if self._sorted is None:
            # An insertion stands before what begins at its offset, and an outer edit before those within it.
            self._sorted = sorted(self._edits, key=_order)
            self._starts = [edit.span.start for edit in self._sorted]
        return self._sorted

    def _render(self, span: Span, within: Edit | None, out: list[str]) -> None:
        edits = self._ordered()
        place = span.start
        index = bisect_left(self._starts, span.start)
        while index < len(edits) and edits[index].span.start <= span.end:
            edit = edits[index]
            index += 1
            if edit is within or edit.span.start < place or edit.span.end > span.end or _is_around(edit, within):
                continue
            out.append(self._text[place : edit.span.start])
            for part in edit.parts:
                if isinstance(part, str):
                    out.append(part)
                else:
                    self._render(part, edit, out)
            place = edit.span.end
        out.append(self._text[place : span.end])


def _order(edit: Edit) -> tuple[int, int, int, int]:
    is_replacement = edit.span.end > edit.span.start
    return edit.span.start, int(is_replacement), edit.rank, -edit.span.end


def _is_around(edit: Edit, within: Edit | None) -> bool:
    """Whether an edit covers the whole part that is being printed, or is at its edge, and so is not inside it."""
    if within is None or within.span.start == within.span.end:
        return False
    if edit.span.start == edit.span.end:
        return edit.span.start in (within.span.start, within.span.end)
    return edit.span.start <= within.span.start and within.span.end <= edit.span.end
