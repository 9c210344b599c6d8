"""The statements of an actor's body.

Only what the actor language gives a meaning of its own becomes a node; any other C++ statement is one `Plain`. Where
such a statement ends is what C++ says: at the `;` outside its own brackets, so that braces in an expression do not
cut it.

A fault is reported and parsing goes on: with the next statement if this one cannot be understood, so that one run
finds the faults of a whole file.
"""

from __future__ import annotations

from collections.abc import Callable

from actorc.diagnostics import Abandoned, Diagnostics, Fault, Fix, Note
from actorc.parse.brackets import TokenList
from actorc.parse.control import ControlParser, Parsed
from actorc.parse.declarations import skip_attributes
from actorc.parse.lexer import Kind
from actorc.parse.misspelt import meant_keyword
from actorc.parse.waits import BEFORE
from actorc.repairs import insert, removed
from actorc.syntax import Block, Break, Choose, Continue, Plain, Return, Statement, Throw, Wait, When
from actorc.words import CONTROL

_AFTER_NO_STATE = CONTROL | {"choose"}
_USED_AS_A_NAME = frozenset({
    ".", "->", "=", "::", ")", ",", "[", "++", "--", "+=", "-=", "*=", "/=", "==", "!=", "<", "<<", "?", ":", ";",
})  # fmt: skip


class StatementParser(ControlParser):
    """Parses one body after the other; brackets must have been matched before."""

    def __init__(self, tokens: TokenList, diagnostics: Diagnostics) -> None:
        super().__init__(tokens, diagnostics)
        self._leading = False
        self._keywords: dict[str, Callable[[int, int], tuple[Statement | None, int]]] = {
            "if": self._if,
            "loop": self._loop,
            "while": self._while,
            "do": self._do,
            "for": self._for,
            "switch": self._switch,
            "try": self._try,
            "choose": self._choose,
            "return": self._return,
            "throw": self._throw,
            "break": self._jump,
            "continue": self._jump,
            "state": self._state,
            "when": self._stray_when,
            "else": self._stray_else,
            "catch": self._stray_catch,
            "case": self._stray_label,
            "default": self._stray_label,
        }

    def body(self, open_: int, close: int) -> Block:
        """An actor's body from its `{`; `close` is its `}`, or where parsing must stop if that is missing."""
        self._leading = True
        self._tokens.given.clear()
        end = close + 1 if self._tokens.partner.get(open_) == close else close
        block = Block(self._tokens.span(open_, end), self._sequence(open_ + 1, close))
        self._report_continues(0, "`continue` cannot stand in a copied statement")
        return block

    def _statement(self, index: int, end: int) -> tuple[Statement | None, int]:
        self._respell(index, end)
        text = self._texts[index]
        if text == ";" or self._tokens.kind(index) is Kind.DIRECTIVE:
            return None, index + 1
        if self._tokens.begins_actor(index):  # which has been reported
            return None, self._tokens.next(self._tokens.find(index, end, ("{", ";")), end)
        if text == "[":
            start = skip_attributes(self._tokens, index, end)
            if index < start < end and self._texts[start] == ";":  # `[[fallthrough]];`
                return Plain(self._tokens.span(index, start + 1), ()), start + 1
            if index < start < end and (self._texts[start] in self._keywords or self._texts[start] == "{"):
                return self._statement(start, end)
        if text != "state":
            self._leading = False
        if text == "{":
            return self._block(index, end)
        keyword = self._keywords.get(text)
        if keyword is not None and not self._is_ordinary_name(index):
            return keyword(index, end)
        return self._simple(index, end)

    def _respell(self, index: int, end: int) -> None:
        meant = meant_keyword(self._tokens, index, end)
        if meant is not None:
            self._respell_as(index, meant)

    def _is_ordinary_name(self, index: int) -> bool:
        """Whether `loop`, `choose` or `when` is a name of the program here, as in `loop().stop()`."""
        text, following = self._texts[index], self._texts[index + 1]
        if text == "loop" and following == "(":
            close = self._tokens.partner.get(index + 1)
            return close is None or self._texts[close + 1] != "{"
        return text in ("loop", "choose", "when") and following in _USED_AS_A_NAME - {";"}

    # -----------------------------------------------------------------------------------------------------------
    # Simple statements

    def _simple(self, index: int, end: int) -> Parsed:
        opaque = self._plain.opaque(index, end)
        if opaque is not None:
            return opaque
        stop, after = self._plain.end(index, end)
        return self._wait_form(index, stop, after) or self._plain.expression(index, stop, after), after

    def _wait_form(self, index: int, stop: int, after: int) -> Wait | None:
        if self._texts[index] in ("wait", "waitNext") and self._tokens.is_name(index + 1) and index + 1 < stop:
            self._parentheses(index + 1, stop, self._texts[index])
        wait = self._scanner.first_wait(index, stop)
        if wait is None or not self._forms.is_wait_form(index, wait):
            return None
        return Wait(self._tokens.span(index, after), self._forms.wait(index, wait, stop))

    def _state(self, index: int, end: int) -> tuple[Statement | None, int]:
        following = self._texts[index + 1]
        has_attribute = following == "[" and self._texts[index + 2] == "["
        if not (self._tokens.is_name(index + 1) or following == "::" or has_attribute):
            message = "`state` is a keyword in an actor, and cannot be used as a name"
            self._fail(Fault.STATE_AS_NAME, message, index, index + 1, "give the variable another name")
        if following in _AFTER_NO_STATE:
            message = f"`state` declares a variable, and `{following}` begins a statement"
            fixes = removed(self._tokens.to_next(index), "state")
            self._error(Fault.STATE_DECLARATION, message, index, index + 1, fixes=fixes)
            return self._statement(index + 1, end)
        stop, after = self._plain.end(index + 1, end)
        leading, self._leading = self._leading, False
        wait = self._wait_form(index, stop, after)
        if wait is not None:
            return wait, after
        declarations = self._forms.states(index, stop, leading)
        self._more += declarations[1:]
        self._leading = leading and declarations[-1].leading
        return declarations[0], after

    def _return(self, index: int, end: int) -> Parsed:
        stop, after = self._plain.end(index + 1, end)
        span = self._tokens.span(index, after)
        if self._forms.is_returned(index + 1, stop):
            return Wait(span, self._forms.wait(index, index + 1, stop)), after
        self._scanner.copied(index + 1, stop, "inside a returned expression", BEFORE, index)
        words = [text for text in self._texts[index + 1 : stop] if text != "::"]
        if words[:1] == ["flow"]:
            words.pop(0)
        is_never = words in (["Never", "(", ")"], ["Never", "{", "}"])
        is_sequence = self._tokens.find(index + 1, stop, (",",)) < stop
        return Return(span, self._code(index + 1, stop), is_never, is_sequence), after

    def _throw(self, index: int, end: int) -> Parsed:
        stop, after = self._plain.end(index + 1, end)
        hint = "write `state Error error = {wait};`, then `throw error;`"
        self._scanner.copied(index + 1, stop, "in a `throw`", hint)
        return Throw(self._tokens.span(index, after), self._code(index + 1, stop)), after

    def _jump(self, index: int, end: int) -> Parsed:
        after = self._semicolon(index + 1, end, self._texts[index])
        span = self._tokens.span(index, after)
        return Break(span) if self._texts[index] == "break" else Continue(span), after

    # -----------------------------------------------------------------------------------------------------------
    # choose

    def _choose(self, index: int, end: int) -> Parsed:
        open_ = index + 1
        if open_ >= end or self._texts[open_] != "{":
            message = "`choose` must be followed by `{ when (...) ... }`"
            self._fail(Fault.CHOOSE_BLOCK, message, index, index + 1, "put the `when`s in braces")
        close = self._tokens.partner.get(open_)
        if close is None or close >= end:
            raise Abandoned
        self._enter(index)
        whens, sound = self._whens(index, close)
        self._depth -= 1
        if not whens and sound:
            message = "a `choose` without a `when` never continues"
            self._error(Fault.CHOOSE_BLOCK, message, index, close + 1, "to wait forever, write `wait(Never());`")
        return Choose(self._tokens.span(index, close + 1), whens), close + 1

    def _whens(self, choose: int, end: int) -> tuple[tuple[When, ...], bool]:
        """The branches of a choose, and whether nothing was wrong with them."""
        index = choose + 2
        found = []
        sound = True
        while index < end:
            if self._texts[index] == ";" or self._tokens.kind(index) is Kind.DIRECTIVE:
                index += 1
                continue
            self._respell(index, end)
            try:
                when, index = self._when(index, end, choose)
                found.append(when)
            except Abandoned:
                sound = False
                index = self._resume(index, end)
        return tuple(found), sound

    def _when(self, index: int, end: int, choose: int) -> tuple[When, int]:
        if self._texts[index] != "when":
            hint = "put it before the `choose`, or into the body of a `when`"
            self._diagnostics.error(
                Fault.NOT_A_WHEN,
                "only `when (...)` can stand in a `choose`",
                self._tokens.span(index, index + 1),
                hint=hint,
                notes=(Note("this is the `choose`", self._tokens.span(choose, choose + 1)),),
            )
            raise Abandoned
        open_, close = self._parentheses(index + 1, end, "when")
        try:
            wait = self._scanner.first_wait(open_ + 1, close)
            if wait is None or not self._forms.is_wait_form(open_ + 1, wait):
                message = "a `when` must hold a `wait` or a `waitNext`"
                what = self._tokens.text(open_ + 1, close)
                inner = self._tokens.span(open_ + 1, close)
                edits = (insert(inner.start, "wait("), insert(inner.end, ")"))
                is_future = not {"wait", "waitNext", "return", "="} & set(self._texts[open_ + 1 : close])
                fixes = (Fix("wait for it", edits),) if is_future else ()
                self._fail(Fault.WHEN_HEAD, message, open_, close + 1, f"write `when (wait({what}))`", fixes)
            expression = self._forms.wait(open_ + 1, wait, close)
        except Abandoned:
            self._sub_statement(close + 1, end, "when (...)")  # for what is wrong in its body
            raise
        body, after = self._sub_statement(close + 1, end, "when (...)")
        return When(self._tokens.span(index, after), expression, body), after

    # -----------------------------------------------------------------------------------------------------------
    # What stands in the wrong place

    def _stray_when(self, index: int, end: int) -> Parsed:
        message, hint = "`when` can stand only in a `choose`", "write `choose { when (...) ... }`"
        try:
            when, after = self._when(index, end, index)
        except Abandoned:
            self._error(Fault.WHEN_OUTSIDE_CHOOSE, message, index, index + 1, hint)
            raise
        bodies = [when.body]
        while after < end and self._texts[after] == "when":
            when, after = self._when(after, end, index)
            bodies.append(when.body)
        span = self._tokens.span(index, after)
        what = "it" if len(bodies) == 1 else "them"
        fix = Fix(f"put {what} in a `choose`", (insert(span.start, "choose { "), insert(span.end, " }")))
        self._error(Fault.WHEN_OUTSIDE_CHOOSE, message, index, index + 1, hint, (fix,))
        return Block(span, tuple(bodies)), after

    def _stray_else(self, index: int, end: int) -> Parsed:
        self._error(
            Fault.ELSE_WITHOUT_IF,
            "this `else` belongs to no `if`",
            index,
            index + 1,
            "put the statements of the `if` in braces, without a `;` behind them",
        )
        return self._sub_statement(index + 1, end, "else")

    def _stray_catch(self, index: int, end: int) -> Parsed:
        hint = "put what may raise the error in `try { ... }`, right before it"
        self._error(Fault.CATCH_WITHOUT_TRY, "this `catch` belongs to no `try`", index, index + 1, hint)
        _, after = self._catch(index, end)
        return Block(self._tokens.span(index, after), ()), after

    def _stray_label(self, index: int, end: int) -> Parsed:
        word = self._texts[index]
        self._error(Fault.UNSUPPORTED_KEYWORD, f"this `{word}` belongs to no `switch`", index, index + 1)
        colon = self._tokens.find(index, end, (":", ";"))
        return Block(self._tokens.span(index, colon + 1), ()), min(colon + 1, end)
