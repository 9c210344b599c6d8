"""What a wait's value goes to: the text between the start of the statement and `= wait(...)`.

T x    T const& x    auto x    auto [a, b]    state T x    or any expression that is assigned to
"""

from __future__ import annotations

from actorc.diagnostics import Abandoned, Diagnostics, Fault
from actorc.parse.brackets import TokenList
from actorc.parse.declarations import is_macro_type, is_type, locals_of
from actorc.parse.reader import Reader
from actorc.parse.waits import BEFORE, WaitScanner
from actorc.repairs import removed
from actorc.syntax import Hold, Result, ResultKind, Span
from actorc.words import KEYWORDS

_AUTO = frozenset({"auto", "const", "&", "&&", "*"})
_STORED_ELSEWHERE = frozenset({
    "static", "thread_local", "extern", "constexpr", "constinit", "consteval", "inline", "register", "mutable",
    "volatile",
})  # fmt: skip


class ResultParser(Reader):
    def __init__(self, tokens: TokenList, diagnostics: Diagnostics, scanner: WaitScanner) -> None:
        super().__init__(tokens, diagnostics)
        self._scanner = scanner

    def result(self, first: int, wait: int) -> Result:
        """What stands in `[first, wait - 1)`, before the `=`. Raises Abandoned if a value can go to nothing there."""
        is_state = self._texts[first] == "state" and wait - first > 2
        start, name = first + is_state, wait - 2
        opener = self._unpacked(start, wait - 1)
        if opener is not None:
            return self._unpacking(start, opener, wait, is_state)
        declares = self._tokens.is_name(name) and self._texts[name] not in KEYWORDS and name > start
        if declares and (is_type(self._tokens, start, name) or is_macro_type(self._tokens, start, name)):
            return self._declaration(start, name, wait, is_state)
        line = self._declaring_line(start, name)
        if line is not None:
            self._missing_semicolon(line)
            raise Abandoned
        if is_state or locals_of(self._tokens, start, wait - 1):
            message = "a wait's result is declared with a type and a name"
            hint = f"write `state TYPE NAME = {self._scanner.shown(wait)};`"
            self._error(Fault.RESULT_DECLARATION, message, start, wait - 1, hint)
            raise Abandoned
        self._scanner.copied(start, wait - 1, "where its result is assigned to", BEFORE)
        return Result(ResultKind.ASSIGN, None, (), self._tokens.code(start, wait - 1))

    # -----------------------------------------------------------------------------------------------------------

    def _declaring_line(self, start: int, name: int) -> int | None:
        """Where `TYPE NAME` begins on a line of its own behind something that a `;` can end; None if it does not."""
        tokens = self._tokens
        if not tokens.is_name(name) or self._texts[name] in KEYWORDS:
            return None
        index = start
        while (index := tokens.next(index, name)) < name:
            if not tokens.same_line(index - 1, index) and self._ends_operand(index - 1):
                return index if is_type(tokens, index, name) else None
        return None

    def _unpacked(self, start: int, end: int) -> int | None:
        """The `[` of `auto [a, b]`; None if this is something else."""
        opener = next((index for index in range(start, end) if self._texts[index] == "["), None)
        if opener is None or self._tokens.partner.get(opener) != end - 1:
            return None
        before = self._texts[start:opener]
        return opener if "auto" in before and all(text in _AUTO | _STORED_ELSEWHERE for text in before) else None

    def _unpacking(self, start: int, opener: int, wait: int, is_state: bool) -> Result:
        names = tuple(self._texts[index] for index in range(opener + 1, wait - 2) if self._tokens.is_name(index))
        if is_state:
            message = "state variables cannot be unpacked from a value"
            hint = f"write `state TYPE value = {self._scanner.shown(wait)};`, then one `state` for each part of it"
            self._error(Fault.STATE_TYPE, message, start, wait - 1, hint)
        self._refuse_specifiers(start, opener)
        return Result(ResultKind.UNPACK, None, names, None, self._hold(start, opener))

    def _declaration(self, start: int, name: int, wait: int, is_state: bool) -> Result:
        texts = self._texts
        self._refuse_specifiers(start, name)
        first, end = self._bare_type(start, name)
        shown = self._scanner.shown(wait)
        kind = ResultKind.STATE if is_state else ResultKind.LOCAL
        what = texts[first:end]
        is_deduced = "auto" in what and all(text in _AUTO for text in what)
        if is_deduced and is_state:
            message = "the type of a state variable must be written out: it is made before there is a value"
            self._error(Fault.STATE_TYPE, message, first, end, f"write `state TYPE {texts[name]} = {shown};`")
        elif "auto" in what and not is_deduced:
            message = "a wait's result is declared with its type, or with `auto`"
            self._error(Fault.RESULT_DECLARATION, message, first, end, f"write `auto {texts[name]} = {shown};`")
        elif what == ["Void"] or what[-2:] == ["::", "Void"]:
            message = "a `Void` has no value, so its result cannot have a name"
            declaration = Span(self._tokens.span(start - is_state, wait).start, self._tokens.span(wait, wait + 1).start)
            fixes = removed(declaration, f"Void {texts[name]} =")
            self._error(Fault.VOID_RESULT, message, first, name + 1, f"write `{shown};`", fixes)
        elif what[-1] in ("&", "&&"):
            message = "a wait's result is a value: it cannot be bound to a reference"
            fixes = removed(self._tokens.span(end - 1, end), what[-1])
            self._error(Fault.RESULT_DECLARATION, message, end - 1, end, "leave the reference out", fixes)
        type_ = None if is_deduced else self._tokens.code(first, end)
        return Result(kind, type_, (texts[name],), None, Hold.VALUE if is_state else self._hold(start, name))

    def _refuse_specifiers(self, start: int, end: int) -> None:
        for index in range(start, end):
            if self._texts[index] in _STORED_ELSEWHERE:
                message = f"a wait's result cannot be `{self._texts[index]}`"
                fixes = removed(self._tokens.to_next(index), self._texts[index])
                self._error(Fault.RESULT_DECLARATION, message, index, index + 1, "leave it out", fixes)
                raise Abandoned

    def _bare_type(self, start: int, end: int) -> tuple[int, int]:
        """The type without what only says how the value is held: outer `const`, `const&`, `&&`."""
        texts = self._texts
        is_auto = "auto" in texts[start:end]
        if "*" in texts[start:end] and not is_auto and texts[end - 1] not in ("&", "&&"):
            return start, end
        was_const = "const" in (texts[start], texts[end - 1], texts[end - 2])
        if texts[end - 1] in ("&", "&&"):
            if not (was_const or is_auto or texts[end - 1] == "&&"):
                return start, end
            end -= 1
        if "*" in texts[start:end]:
            return start, end - (texts[end - 1] == "const")
        while end - start > 1 and texts[end - 1] == "const":
            end -= 1
        while end - start > 1 and texts[start] == "const":
            start += 1
        return start, end

    def _hold(self, start: int, end: int) -> Hold:
        texts = self._texts
        if texts[end - 1] == "&&":
            return Hold.OWN
        if texts[end - 1] in ("&", "const") or (texts[start] == "const" and "*" not in texts[start:end]):
            return Hold.REFERENCE
        return Hold.VALUE
