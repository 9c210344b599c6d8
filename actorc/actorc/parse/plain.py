"""C++ statements that are copied as they are: where they end and what must not stand in them."""

from __future__ import annotations

from actorc.diagnostics import Abandoned, Diagnostics, Fault
from actorc.parse.brackets import TokenList
from actorc.parse.declarations import is_type, locals_of
from actorc.parse.lexer import Kind
from actorc.parse.reader import Reader
from actorc.parse.waits import BEFORE, WaitScanner
from actorc.syntax import Plain, Span
from actorc.words import CONTROL

_WORDS = CONTROL - {"throw", "co_await", "co_yield"}  # begin a statement wherever they stand outside brackets
_DIALECT_WORDS = frozenset({"state", "loop", "choose", "when", "wait", "waitNext"})
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
        has_value = False
        while index < end:
            if texts[index] == ";":
                return index, index + 1
            if self._tokens.kind(index) is Kind.BROKEN:
                raise Abandoned
            if index > first and (
                self._begins_statement(index)
                or self._begins_block(index)
                or (has_value and self._begins_wait(index, end))
            ):
                self._missing_semicolon(index)
                return index, index
            has_value = has_value or texts[index] == "="
            index = self._tokens.next(index, end)
        self._missing_semicolon(end)
        return end, end

    def _begins_statement(self, index: int) -> bool:
        """Whether a new statement must begin here, because an expression cannot go on like this."""
        text = self._texts[index]
        if text not in _WORDS and text not in _DIALECT_WORDS:
            return False
        if not self._ends_operand(index - 1):
            return False
        if text in _WORDS:
            return True
        return not self._tokens.same_line(index - 1, index) and self._texts[index + 1] not in (".", "->", "=", ";", ",")

    def _begins_wait(self, index: int, end: int) -> bool:
        """`T x = wait(...)` on a line of its own, behind a value."""
        tokens = self._tokens
        if tokens.same_line(index - 1, index) or not tokens.is_name(index) or not self._ends_operand(index - 1):
            return False
        equals = tokens.find(index, end, ("=", ";"))
        if equals + 1 >= end or self._texts[equals] != "=" or self._texts[equals + 1] not in ("wait", "waitNext"):
            return False
        return equals - 1 > index and tokens.is_name(equals - 1) and is_type(tokens, index, equals - 1)

    def _begins_block(self, index: int) -> bool:
        """`T name{...} {`: no expression goes on with a `{` behind a `}`."""
        return self._texts[index] == "{" and self._texts[index - 1] == "}"

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
        locals_ = () if self._refuse_extern(first, stop) else locals_of(self._tokens, first, stop)
        return Plain(self._tokens.span(first, after), locals_)

    def _refuse_extern(self, first: int, stop: int) -> bool:
        """In a state machine it would declare something in the unnamed namespace that the class stands in."""
        place = self._tokens.find(first, stop, ("extern", "=", "("))
        is_extern = place < stop and self._texts[place] == "extern"
        if is_extern:
            message = "an `extern` declaration cannot stand in an actor"
            hint = "declare it outside of the actor, before it"
            self._error(Fault.UNSUPPORTED_KEYWORD, message, place, place + 1, hint)
        return is_extern

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
        place = f"inside a `{word}` that is copied as it is"
        inner_loop, inner_catch = False, False
        for index in self._scanner.outside_lambdas(first, end):
            text = self._texts[index]
            if text == "return":
                self._refuse(index, f"`return` cannot stand {place}", hint)
            elif text == "throw" and self._texts[index + 1] == ";" and not inner_catch:
                self._refuse(index, f"`throw;` cannot stand {place}", "name the error: `throw e;`")
            elif text == "continue" and not inner_loop:
                self.continues.append(self._tokens.tokens[index].span)
            inner_loop = inner_loop or text in _LOOPS
            inner_catch = inner_catch or text == "catch"
        self._scanner.copied(first, end, place, hint)

    def _refuse(self, index: int, message: str, hint: str) -> None:
        self._diagnostics.error(Fault.OPAQUE_CONTROL_FLOW, message, self._tokens.tokens[index].span, hint=hint)
