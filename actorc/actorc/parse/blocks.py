"""Sequences of statements, sub-statements, and how parsing goes on after a fault."""

from __future__ import annotations

from abc import ABC, abstractmethod

from actorc.diagnostics import Abandoned, Diagnostics, Fault
from actorc.parse.brackets import TokenList
from actorc.parse.declarations import skip_attributes
from actorc.parse.lexer import Kind
from actorc.parse.reader import Reader
from actorc.syntax import Block, Plain, Statement

_DEEPEST = 400
_LONGEST_CHAIN = 1000
_CONTINUES_AFTER_BRACE = frozenset({";", ",", ".", "->", "(", ")", "[", "else", "catch", "while"})
_RESUMES_AT = frozenset({
    "if", "loop", "while", "do", "for", "switch", "try", "choose", "when", "return", "throw", "break",
    "continue", "state", "wait",
})  # fmt: skip


class BlockParser(Reader, ABC):
    def __init__(self, tokens: TokenList, diagnostics: Diagnostics) -> None:
        super().__init__(tokens, diagnostics)
        self._depth = 0
        self._chain = 0
        self._more: list[Statement] = []  # what the statement that was parsed last declares besides

    @abstractmethod
    def _statement(self, index: int, end: int) -> tuple[Statement | None, int]:
        """The statement at `index`, None for an empty one, and the index after it. May raise Abandoned."""

    def _sequence(self, index: int, end: int) -> tuple[Statement, ...]:
        found = []
        while index < end:
            statement, index = self._recovering(index, end)
            if statement is not None:
                found += self._with_more(statement)
        return tuple(found)

    def _with_more(self, statement: Statement) -> list[Statement]:
        more, self._more = self._more, []
        return [statement, *more]

    def _recovering(self, index: int, end: int) -> tuple[Statement | None, int]:
        """A statement, or a Plain that stands in for one that could not be understood."""
        try:
            return self._statement(index, end)
        except Abandoned:
            after = self._resume(index, end)
            return Plain(self._tokens.span(index, after), ()), after

    def _resume(self, first: int, end: int) -> int:
        """Where the statement after the broken one at `first` begins; always further on."""
        texts = self._texts
        index = first
        while index < end:
            if texts[index] == ";" or self._tokens.kind(index) is Kind.BROKEN:
                return index + 1
            if index > first and texts[index] in _RESUMES_AT and not self._tokens.same_line(index - 1, index):
                return index
            after = self._tokens.next(index, end)
            ends = after >= end or texts[after] not in _CONTINUES_AFTER_BRACE
            if texts[index] == "{" and after > index + 1 and ends:
                return after
            index = after
        return end

    def _block(self, open_: int, end: int) -> tuple[Block, int]:
        close = self._tokens.partner.get(open_)
        if close is None or close >= end:
            raise Abandoned  # the missing brace has been reported
        self._enter(open_)
        statements = self._sequence(open_ + 1, close)
        self._depth -= 1
        return Block(self._tokens.span(open_, close + 1), statements), close + 1

    def _sub_statement(self, index: int, end: int, after: str) -> tuple[Block, int]:
        """What belongs to an `if`, a loop, a `when`, ...: a block, or one statement in a Block of its own."""
        index = skip_attributes(self._tokens, index, end)
        while index < end and self._tokens.kind(index) is Kind.DIRECTIVE:
            index += 1
        if index >= end:
            message = f"a statement is missing after `{after}`"
            place = self._tokens.after(index - 1)
            self._diagnostics.error(Fault.MISSING_STATEMENT, message, place, hint="for none, write `{}`")
            return Block(place, ()), index
        if self._texts[index] == "{":
            return self._block(index, end)
        self._enter(index)
        statement, stop = self._recovering(index, end)
        found = [] if statement is None else self._with_more(statement)
        while self._texts[stop - 1] == ":" and stop < end:  # a label is only the beginning of a statement
            statement, stop = self._recovering(stop, end)
            found += [] if statement is None else self._with_more(statement)
        self._depth -= 1
        return Block(self._tokens.span(index, stop), tuple(found)), stop

    def _else_if(self, index: int, end: int) -> tuple[Block, int]:
        """What belongs to an `else` that another `if` follows: a chain may be longer than statements may be deep."""
        if self._chain >= _LONGEST_CHAIN:
            message = f"a chain of `else if` has more than {_LONGEST_CHAIN} parts"
            self._fail(Fault.TOO_DEEP, message, index - 1, index, "write a `switch`, or look the value up in a table")
        self._chain += 1
        statement, stop = self._recovering(index, end)
        self._chain -= 1
        statements = () if statement is None else (statement,)
        return Block(self._tokens.span(index, stop), statements), stop

    def _enter(self, index: int) -> None:
        """Deeper nesting would exhaust the stack of this program, here or in a later stage."""
        if self._depth >= _DEEPEST:
            message = f"statements are nested more than {_DEEPEST} deep"
            self._fail(Fault.TOO_DEEP, message, index, index + 1, "move inner statements into an actor of their own")
        self._depth += 1

    def _parentheses(self, index: int, end: int, keyword: str) -> tuple[int, int]:
        """The indices of `(` and its `)` after a keyword."""
        if self._texts[index] != "(" or index >= end:
            message = f"`{keyword}` must be followed by `(...)`"
            self._fail(Fault.MISSING_PARENTHESIS, message, index - 1, index, f"write `{keyword} (...)`")
        close = self._tokens.partner.get(index)
        if close is None or close >= end:
            raise Abandoned
        if close == index + 1:
            self._error(Fault.MISSING_PARENTHESIS, f"the parentheses after `{keyword}` are empty", index, close + 1)
        return index, close
