"""The token list with every bracket's partner: what the parser walks over.

Brackets are matched actor by actor, never over a whole file, so that `#if` branches with unbalanced braces outside
actors do no harm. A bracket without a partner is reported once and from then on is a token like any other:
the statements around it can still be parsed.

Template brackets are matched by a heuristic: a `<` after a name opens, and a `>` closes the nearest open `<`
between the same other brackets and semicolons.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection

from actorc.diagnostics import Diagnostics, Edit, Fault, Fix, Note
from actorc.parse.lexer import OPEN_TO_THE_END, Kind, Tokens
from actorc.source import Source
from actorc.syntax import Code, Span
from actorc.words import ACTOR_WORDS

BENCHMARK_WORDS = frozenset({"BENCHMARK_CASE", "FLOW_BENCHMARK_CASE"})
TEST_WORDS = BENCHMARK_WORDS | {"TEST_CASE", "FLOW_TEST_CASE"}
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_OPENERS = {close: open_ for open_, close in _PAIRS.items()}


class TokenList:
    """Tokens by index. `texts` ends with empty strings, so that it may be asked for a few tokens behind the last."""

    def __init__(self, source: Source, tokens: Tokens, diagnostics: Diagnostics) -> None:
        self.source = source
        self.tokens = tokens
        self.texts = tokens.texts + [""] * 4
        self._padded_kinds = tokens.kinds + [Kind.OTHER] * 4
        self._kinds, self._starts, self._ends = tokens.kinds, tokens.starts, tokens.ends
        self.diagnostics = diagnostics
        self.partner: dict[int, int] = {}  # from an opening to its closing bracket
        self.angle: dict[int, int] = {}  # from `<` to its `>`
        self.broken = {index for index, kind in enumerate(tokens.kinds) if kind is Kind.BROKEN}
        self.given: set[str] = set()  # names that fixes in this actor have made up
        self._marks: dict[frozenset[str], list[int]] = {}

    def __len__(self) -> int:
        return len(self.tokens)

    def kind(self, index: int) -> Kind:
        return self._padded_kinds[index]

    def begins_actor(self, index: int) -> bool:
        """Whether an actor begins at this token, in whatever spelling."""
        text = self.texts[index]
        if text in ACTOR_WORDS:
            return not self.begins_lambda(index)
        return text in TEST_WORDS and self.texts[index + 1] == "("

    def begins_lambda(self, index: int) -> bool:
        """Whether the word ACTOR at this token belongs to a lambda."""
        index += 2 if self.texts[index + 1] == "UNCANCELLABLE" else 1
        return self.texts[index] == "[" and self.texts[index + 1] != "["

    def lambda_body(self, actor: int, end: int) -> int | None:
        """The `{` of the lambda that begins with the word ACTOR at this token."""
        index = actor + (2 if self.texts[actor + 1] == "UNCANCELLABLE" else 1)
        if index not in self.partner:
            return None
        body = self.find(index, end, ("{", ";", ","))
        return body if body < end and self.texts[body] == "{" and body in self.partner else None

    def is_name(self, index: int) -> bool:
        return self._padded_kinds[index] is Kind.NAME

    def text(self, first: int, end: int) -> str:
        """The source text of tokens `first` to `end` (excluded)."""
        return self.source[self.span(first, end)]

    def span(self, first: int, end: int) -> Span:
        """From the start of token `first` to the end of the token before `end`; empty if there is none."""
        end = min(end, len(self._ends))
        if first >= end:
            start = self._ends[first - 1] if 0 < first <= len(self._ends) else len(self.source.text)
            return Span(start, start)
        return Span(self._starts[first], self._ends[end - 1])

    def to_next(self, index: int) -> Span:
        """A token with the blanks behind it."""
        return Span(self._starts[index], self._starts[index + 1] if index + 1 < len(self) else self._ends[index])

    def between(self, first: int, second: int) -> Span:
        """From the end of one token to the start of another."""
        return Span(self._ends[first], self.span(second, second + 1).start)

    def after(self, index: int) -> Span:
        """The place just after a token, for something that is missing there."""
        return Span(self._ends[index], self._ends[index])

    def code(self, first: int, end: int) -> Code:
        return Code(self.span(first, end))

    def same_line(self, first: int, second: int) -> bool:
        return "\n" not in self.source.text[self._ends[first] : self._starts[second]]

    def next(self, index: int, end: int, *, angles: bool = False) -> int:
        """The index after a token, or after the whole group that it opens."""
        close = self.partner.get(index)
        if close is None and angles:
            close = self.angle.get(index)
        return close + 1 if close is not None and close < end else index + 1

    def find(self, first: int, end: int, wanted: Collection[str], *, angles: bool = True) -> int:
        """The first token in `wanted` that stands in no inner group; `end` if there is none."""
        index = first
        while index < end and self.texts[index] not in wanted:
            index = self.next(index, end, angles=angles)
        return min(index, end)

    def split(self, first: int, end: int, separator: str = ",") -> list[tuple[int, int]]:
        """The ranges between separators; none at all for an empty range."""
        ranges = []
        while first < end:
            stop = self.find(first, end, (separator,))
            ranges.append((first, stop))
            if stop == end - 1:
                ranges.append((end, end))
            first = stop + 1
        return ranges

    def occurrences(self, first: int, end: int, words: frozenset[str]) -> list[int]:
        """Where one of the words stands, at any depth. The places are searched once for the whole file."""
        marks = self._marks.get(words)
        if marks is None:
            marks = self._marks[words] = [index for index, text in enumerate(self.texts) if text in words]
        return marks[bisect_left(marks, first) : bisect_left(marks, end)]

    def places(self, words: Collection[str]) -> list[int]:
        """Where a directive or one of the words stands."""
        return [index for index, text in enumerate(self.texts) if text in words or text[:1] == "#"]

    def of_kinds(self, first: int, end: int, kinds: Collection[Kind]) -> list[int]:
        """Where a token of one of the kinds stands, at any depth."""
        return [index for index, kind in enumerate(self._kinds[first:end], first) if kind in kinds]

    def pair_head(self, first: int) -> int:
        """Match the brackets of an actor's head; returns the index of the `;` or `{` that ends it, if it has one."""
        return _Pairing(self, None).run(first)

    def pair_body(self, open_: int) -> int:
        """Match the brackets of a body; returns the index of its `}`, or of the next actor or the end of the file."""
        return _Pairing(self, open_).run(open_ + 1)


class _Pairing:
    """One run over the tokens. The partner of `root` ends the run; None for an actor's head."""

    def __init__(self, tokens: TokenList, root: int | None) -> None:
        self._tokens = tokens
        self._texts = tokens.texts
        self._root = root
        self._open: list[int] = [] if root is None else [root]
        self._angles: list[list[int]] = [[]] if root is None else [[], []]
        self._suspect: tuple[int, int] | None = None
        self._forgotten = 0

    def run(self, index: int) -> int:
        texts = self._texts
        count = len(self._tokens)
        while index < count:
            text = texts[index]
            if text in _PAIRS:
                if self._ends_head(text):
                    return index
                self._open.append(index)
                self._angles.append([])
            elif text in _OPENERS:
                self._close(index, text)
                if self._root is not None and not self._open:
                    return index
            elif text == "<" or text == ">":
                self._angle(index, text)
            elif text == ";":
                if self._ends_head(text):
                    return index
                self._angles[-1].clear()
            elif (text in ACTOR_WORDS or text in TEST_WORDS) and self._tokens.begins_actor(index):
                if not self._is_nested(index):
                    break
                self._report_nested(index)
            elif index in self._tokens.broken:
                self._forget_line()
            index += 1
        self._report_unclosed(index)
        return index

    def _is_nested(self, actor: int) -> bool:
        """Whether an actor is inside the body that is read, and not after it with a brace missing between: only the
        indentation shows that."""
        if self._root is None:
            return False
        outer = self._root
        while outer > 0 and not self._tokens.begins_actor(outer):
            outer -= 1
        return self._indentation(actor) > self._indentation(outer)

    def _indentation(self, index: int) -> int:
        text, start = self._tokens.source.text, self._tokens.tokens[index].start
        begin = text.rfind("\n", 0, start) + 1
        return len(text[begin:start]) - len(text[begin:start].lstrip())

    def _report_nested(self, index: int) -> None:
        token = self._tokens.tokens[index]
        message = "an actor cannot be defined inside another"
        hint = "define it before, or make it a lambda: `auto f = ACTOR [...](...) -> Future<T> { ... };`"
        self._tokens.diagnostics.error(Fault.NESTED_ACTOR, message, token.span, hint=hint)

    def _ends_head(self, text: str) -> bool:
        """A `;` ends a head wherever it stands, but a `{` may open a default argument's initialiser."""
        if self._root is not None or (text != ";" and (text != "{" or self._open)):
            return False
        if any(self._texts[index] == "{" for index in self._open):
            return False
        for index in self._open:
            self._report(index)
        return True

    def _forget_line(self) -> None:
        """After a literal without end: brackets with a partner that may be inside the literal do not count."""
        while self._open and self._open[-1] != self._root and self._texts[self._open[-1]] != "{":
            self._open.pop()
            self._angles.pop()
            self._forgotten += 1

    def _close(self, index: int, text: str) -> None:
        opener = _OPENERS[text]
        depth = len(self._open) - 1
        while depth >= 0 and self._texts[self._open[depth]] != opener:
            if self._texts[self._open[depth]] == "{":
                depth = -1  # a `)` cannot close what was opened outside the braces
                break
            depth -= 1
        if depth < 0 and self._forgotten:
            self._forgotten -= 1
            return
        if depth < 0:
            token = self._tokens.tokens[index]
            message, hint = f"this `{text}` closes nothing", f"leave it out, or write the `{opener}` that is missing"
            fixes = (Fix(f"leave out this `{text}`", (Edit(token.span, ""),)),)
            self._tokens.diagnostics.error(Fault.STRAY_BRACKET, message, token.span, hint=hint, fixes=fixes)
            return
        for unclosed in self._open[depth + 1 :]:
            self._report(unclosed)
        self._tokens.partner[self._open[depth]] = index
        if text == "}":
            self._note_indentation(self._open[depth], index)
        del self._open[depth:], self._angles[depth + 1 :]

    def _angle(self, index: int, text: str) -> None:
        if text == "<":
            if self._tokens.is_name(index - 1):
                self._angles[-1].append(index)
        elif self._angles[-1]:
            self._tokens.angle[self._angles[-1].pop()] = index

    def _note_indentation(self, open_: int, close: int) -> None:
        """Remember the first `}` that begins a line further left than the line of its `{`: a brace may be missing."""
        if self._suspect is not None:
            return
        text = self._tokens.source.text
        end = self._tokens.tokens[close].start
        line = text[text.rfind("\n", 0, end) + 1 : end]
        if line.isspace() or not line:
            begin = text.rfind("\n", 0, self._tokens.tokens[open_].start) + 1
            indent = text[begin : begin + len(line) + 1]
            if len(indent) > len(line) and indent.isspace():
                self._suspect = (open_, close)

    def _report(self, index: int, notes: tuple[Note, ...] = ()) -> None:
        token = self._tokens.tokens[index]
        message = f"this `{token.text}` is never closed"
        hint = f"write the `{_PAIRS[token.text]}` that is missing"
        self._tokens.diagnostics.error(Fault.UNCLOSED_BRACKET, message, token.span, hint=hint, notes=notes)

    def _report_unclosed(self, end: int) -> None:
        """At the end of the file, or before the next actor: reports the outermost open bracket."""
        if not self._open:
            return
        tokens = self._tokens.tokens
        if tokens[-1].text == OPEN_TO_THE_END:
            return  # the closing bracket may be in there
        notes = []
        if self._suspect is not None:
            open_, close = self._suspect
            notes.append(Note("perhaps the `}` for this `{` is missing", tokens[open_].span))
            notes.append(Note("since it is closed by this `}`, which stands further left", tokens[close].span))
        if end < len(tokens):
            notes.append(Note("the next actor begins here", tokens[end].span))
        self._report(self._open[0], tuple(notes))
