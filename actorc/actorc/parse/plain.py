"""C++ statements that are copied as they are: where they end and what must not stand in them."""

from __future__ import annotations

from actorc.diagnostics import Abandoned, Diagnostics, Fault
from actorc.parse.brackets import TokenList
from actorc.parse.declarations import locals_of
from actorc.parse.lexer import Kind
from actorc.parse.reader import Reader
from actorc.parse.waits import BEFORE, WaitScanner
from actorc.repairs import inserted
from actorc.syntax import Plain, Span
from actorc.words import BEFORE_OPERAND, CONTROL

_WORDS = CONTROL - {"throw", "co_await", "co_yield"}  # begin a statement wherever they stand outside brackets
_DIALECT_WORDS = frozenset({"state", "loop", "choose", "when", "wait", "waitNext"})
_OPERAND_ENDS = frozenset({")", "]", "}", "++", "--"})
_LITERALS = (Kind.NUMBER, Kind.STRING, Kind.CHARACTER)
_LOOPS = frozenset({"for", "while", "do"})


class PlainParser(Reader):
    """`continues` collects every `continue` in opaque statements that means a loop of the actor."""

    def __init__(self, tokens: TokenList, diagnostics: Diagnostics, scanner: WaitScanner) -> None:
        super().__init__(tokens, diagnostics)
        self._scanner = scanner
        self.continues: list[Span] = []

    def end(self, first: int, end: int) -> tuple[int, int]:
        """Where the statement at `first` stops (its `;` excluded), and the index after it."""
        texts = self._texts
        index = first
        while index < end:
            if texts[index] == ";":
                return index, index + 1
            if self._tokens.kind(index) is Kind.BROKEN:
                raise Abandoned
            if index > first and (self._begins_statement(index) or self._begins_block(index)):
                self._missing_semicolon(index)
                return index, index
            index = self._tokens.next(index, end)
        self._missing_semicolon(end)
        return end, end

    def _begins_statement(self, index: int) -> bool:
        """Whether a new statement must begin here, because an expression cannot go on like this."""
        text = self._texts[index]
        if text not in _WORDS and text not in _DIALECT_WORDS:
            return False
        before = self._texts[index - 1]
        is_operand = self._tokens.is_name(index - 1) and before not in BEFORE_OPERAND
        if not (is_operand or before in _OPERAND_ENDS or self._tokens.kind(index - 1) in _LITERALS):
            return False
        if text in _WORDS:
            return True
        return not self._tokens.same_line(index - 1, index) and self._texts[index + 1] not in (".", "->", "=", ";", ",")

    def _begins_block(self, index: int) -> bool:
        """`T name{...} {`: no expression goes on with a `{` behind a `}`."""
        return self._texts[index] == "{" and self._texts[index - 1] == "}"

    def _missing_semicolon(self, index: int) -> None:
        place = self._tokens.after(index - 1)
        self._diagnostics.error(
            Fault.MISSING_SEMICOLON, "a `;` is missing here", place, fixes=inserted(place.start, ";")
        )

    # -----------------------------------------------------------------------------------------------------------

    def opaque(self, first: int, end: int) -> tuple[Plain, int] | None:
        """A statement that ends otherwise than at its first `;`: a label, `MACRO(...) {...}`, an odd `switch`."""
        after = self._opaque_end(first, end)
        if after is None:
            return None
        self._check_opaque(first, after)
        return Plain(self._tokens.span(first, after), ()), after

    def expression(self, first: int, stop: int, after: int) -> Plain:
        """An expression statement or a declaration in `[first, stop)`."""
        self._scanner.copied(first, stop, "inside an expression", BEFORE, first)
        return Plain(self._tokens.span(first, after), locals_of(self._tokens, first, stop))

    def _opaque_end(self, first: int, end: int) -> int | None:
        texts = self._texts
        word, following = texts[first], texts[first + 1]
        if not self._tokens.is_name(first) or word in ("wait", "waitNext"):
            return None
        if following == ":":
            return first + 2
        if following != "(":
            return None
        brace = self._tokens.next(first + 1, end)
        is_block = brace < end and texts[brace] == "{" and brace in self._tokens.partner
        return self._tokens.next(brace, end) if is_block else None

    def _check_opaque(self, first: int, end: int) -> None:
        """Nothing in the statement may leave it, except a `throw` and what belongs to a loop inside it."""
        word = self._texts[first]
        hint = f"if `{word}(...)` is a statement of its own, put a `;` after it"
        if word == "switch":
            hint = "put its labels directly into its block"
        inner_loop, inner_catch = False, False
        for index in self._scanner.outside_lambdas(first, end):
            text = self._texts[index]
            if text == "return":
                message = f"an actor cannot return from inside a `{word}`"
                self._refuse(index, message, hint)
            elif text == "throw" and self._texts[index + 1] == ";" and not inner_catch:
                message = f"`throw;` cannot stand inside a `{word}`, which is copied as it is"
                self._refuse(index, message, "name the error: `throw e;`")
            elif text == "continue" and not inner_loop:
                self.continues.append(self._tokens.tokens[index].span)
            inner_loop = inner_loop or text in _LOOPS
            inner_catch = inner_catch or text == "catch"
        self._scanner.copied(first, end, f"inside a `{word}`", hint)

    def _refuse(self, index: int, message: str, hint: str) -> None:
        self._diagnostics.error(Fault.OPAQUE_CONTROL_FLOW, message, self._tokens.tokens[index].span, hint=hint)
