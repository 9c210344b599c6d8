"""The statements of an actor's body.

Only what the actor language gives a meaning of its own becomes a node; any other C++ statement is one `Plain`. Where
such a statement ends is what C++ says: at the `;` outside its own brackets, so that braces in an expression do not
cut it.

A fault is reported and parsing goes on: with the next statement if this one cannot be understood, so that one run
finds the faults of a whole file.
"""

from __future__ import annotations

from collections.abc import Callable

from actorc.blocks import BlockParser
from actorc.brackets import TokenList
from actorc.declarations import locals_of, skip_attributes
from actorc.diagnostics import Abandoned, Diagnostics, Fault
from actorc.lexer import Kind
from actorc.plain import PlainParser
from actorc.syntax import (
    Block,
    Break,
    Catch,
    CatchKind,
    Choose,
    Code,
    Continue,
    For,
    If,
    Loop,
    RangeFor,
    Return,
    StateDecl,
    Statement,
    Throw,
    Try,
    Wait,
    When,
    While,
    suspends,
)
from actorc.waitforms import WaitForms
from actorc.waits import WaitScanner

_Parsed = tuple[Statement, int]
_USED_AS_A_NAME = frozenset({
    ".", "->", "=", "::", ")", ",", "[", "++", "--", "+=", "-=", "*=", "/=", "==", "!=", "<", "<<", "?", ":", ";",
})  # fmt: skip
_BEFORE = "write `state T value = {wait};` before, and use `value` here"
_IN_LOOP = "write `loop {{ state T value = {wait}; if (...) break; ... }}`"


class StatementParser(BlockParser):
    """Parses one body after the other; brackets must have been matched before."""

    def __init__(self, tokens: TokenList, diagnostics: Diagnostics) -> None:
        super().__init__(tokens, diagnostics)
        self._scanner = WaitScanner(tokens, diagnostics)
        self._forms = WaitForms(tokens, diagnostics, self._scanner)
        self._plain = PlainParser(tokens, diagnostics, self._scanner)
        self._leading = False
        self._keywords: dict[str, Callable[[int, int], _Parsed]] = {
            "if": self._if,
            "loop": self._loop,
            "while": self._while,
            "for": self._for,
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
        end = close + 1 if self._tokens.partner.get(open_) == close else close
        block = Block(self._tokens.span(open_, end), self._sequence(open_ + 1, close))
        self._report_continues(0, "`continue` outside a loop")
        return block

    def _statement(self, index: int, end: int) -> tuple[Statement | None, int]:
        text = self._texts[index]
        if text == ";" or self._tokens.kind(index) is Kind.DIRECTIVE:
            return None, index + 1
        if text == "[":
            start = skip_attributes(self._tokens, index, end)
            if index < start < end and (self._texts[start] in self._keywords or self._texts[start] in "{;"):
                return self._statement(start, end)
        if text != "state":
            self._leading = False
        if text == "{":
            return self._block(index, end)
        keyword = self._keywords.get(text)
        if keyword is not None and not self._is_ordinary_name(index):
            return keyword(index, end)
        return self._simple(index, end)

    def _is_ordinary_name(self, index: int) -> bool:
        """Whether `loop`, `choose` or `when` is a name of the program here, as in `loop().stop()`."""
        text, following = self._texts[index], self._texts[index + 1]
        if text == "loop" and following == "(":
            return True
        return text in ("loop", "choose", "when") and following in _USED_AS_A_NAME - {";"}

    # -----------------------------------------------------------------------------------------------------------
    # Simple statements

    def _simple(self, index: int, end: int) -> _Parsed:
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

    def _state(self, index: int, end: int) -> _Parsed:
        following = self._texts[index + 1]
        has_attribute = following == "[" and self._texts[index + 2] == "["
        if not (self._tokens.is_name(index + 1) or following == "::" or has_attribute):
            message = "`state` is a keyword in an actor, and cannot be used as a name"
            self._fail(Fault.STATE_AS_NAME, message, index, index + 1, "give the variable another name")
        stop, after = self._plain.end(index + 1, end)
        leading, self._leading = self._leading, False
        wait = self._wait_form(index, stop, after)
        if wait is not None:
            return wait, after
        declaration = self._forms.state(index, stop, leading)
        self._leading = leading
        return declaration, after

    def _return(self, index: int, end: int) -> _Parsed:
        stop, after = self._plain.end(index + 1, end)
        span = self._tokens.span(index, after)
        if self._forms.is_returned(index + 1, stop):
            return Wait(span, self._forms.wait(index, index + 1, stop)), after
        self._scanner.copied(index + 1, stop, "inside a returned expression", _BEFORE)
        words = [text for text in self._texts[index + 1 : stop] if text != "::"]
        if words[:1] == ["flow"]:
            words.pop(0)
        is_never = words in (["Never", "(", ")"], ["Never", "{", "}"])
        return Return(span, self._code(index + 1, stop), is_never), after

    def _throw(self, index: int, end: int) -> _Parsed:
        stop, after = self._plain.end(index + 1, end)
        hint = "write `state Error error = {wait};`, then `throw error;`"
        self._scanner.copied(index + 1, stop, "in a `throw`", hint)
        return Throw(self._tokens.span(index, after), self._code(index + 1, stop)), after

    def _jump(self, index: int, end: int) -> _Parsed:
        after = index + 1
        if after < end and self._texts[after] == ";":
            after += 1
        else:
            message = f"a `;` is missing after `{self._texts[index]}`"
            self._diagnostics.error(Fault.MISSING_SEMICOLON, message, self._tokens.after(index))
        span = self._tokens.span(index, after)
        return Break(span) if self._texts[index] == "break" else Continue(span), after

    def _code(self, first: int, end: int) -> Code | None:
        return self._tokens.code(first, end) if first < end else None

    # -----------------------------------------------------------------------------------------------------------
    # if, loops

    def _condition(self, index: int, end: int, keyword: str) -> tuple[Code, int]:
        open_, close = self._parentheses(index, end, keyword)
        hint = _IN_LOOP if keyword == "while" else _BEFORE
        self._scanner.copied(open_ + 1, close, "in a condition", hint)
        return self._tokens.code(open_ + 1, close), close + 1

    def _if(self, index: int, end: int) -> _Parsed:
        is_constexpr = self._texts[index + 1] == "constexpr"
        condition, after = self._condition(index + 1 + is_constexpr, end, "if")
        then, after = self._sub_statement(after, end, "if (...)")
        orelse = None
        if after < end and self._texts[after] == "else":
            orelse, after = self._sub_statement(after + 1, end, "else")
        return If(self._tokens.span(index, after), condition, is_constexpr, then, orelse), after

    def _loop_body(self, index: int, end: int, after: str) -> tuple[Block, int]:
        mark = len(self._plain.continues)
        block, stop = self._sub_statement(index, end, after)
        if len(self._plain.continues) > mark:
            if suspends(block):
                self._report_continues(mark, "`continue` cannot leave a copied statement in a loop that waits")
            del self._plain.continues[mark:]
        return block, stop

    def _report_continues(self, mark: int, message: str) -> None:
        for span in self._plain.continues[mark:]:
            hint = "write the enclosing `switch` with `if` and `else`"
            self._diagnostics.error(Fault.OPAQUE_CONTROL_FLOW, message, span, hint=hint)
        del self._plain.continues[mark:]

    def _loop(self, index: int, end: int) -> _Parsed:
        body, after = self._loop_body(index + 1, end, "loop")
        return Loop(self._tokens.span(index, after), body), after

    def _while(self, index: int, end: int) -> _Parsed:
        condition, after = self._condition(index + 1, end, "while")
        body, after = self._loop_body(after, end, "while (...)")
        return While(self._tokens.span(index, after), condition, body), after

    def _for(self, index: int, end: int) -> _Parsed:
        open_, close = self._parentheses(index + 1, end, "for")
        first = self._tokens.find(open_ + 1, close, (";",), angles=False)
        second = self._tokens.find(first + 1, close, (";",), angles=False)
        if first == close:
            return self._range_for(index, open_, close, end)
        if second >= close or self._tokens.find(second + 1, close, (";",), angles=False) < close:
            message = "a `for` needs `(INIT; CONDITION; STEP)` or `(DECLARATION : RANGE)`"
            self._error(Fault.FOR_HEADER, message, open_, close + 1)
        init: Code | StateDecl | None = self._code(open_ + 1, first)
        if self._texts[open_ + 1] == "state" and first > open_ + 1:
            init = self._forms.state(open_ + 1, first, False)
        self._scanner.copied(open_ + 1, close, "in a `for` header", "write the loop as `loop` with a `break`")
        body, after = self._loop_body(close + 1, end, "for (...)")
        if isinstance(init, Code) and suspends(body):
            self._refuse_for_local(open_ + 1, first)
        condition, step = self._code(first + 1, second), self._code(second + 1, close)
        return For(self._tokens.span(index, after), init, condition, step, body), after

    def _refuse_for_local(self, first: int, end: int) -> None:
        for local in locals_of(self._tokens, first, end):
            message = f"`{local.name}` does not live across the waits of this loop"
            hint = f"write `for (state {self._tokens.text(first, end)}; ...)`"
            self._error(Fault.FOR_LOCAL, message, first, end, hint)

    def _range_for(self, index: int, open_: int, close: int, end: int) -> _Parsed:
        colon = self._tokens.find(open_ + 1, close, (":",))
        names = locals_of(self._tokens, open_ + 1, colon)
        if colon + 1 >= close or not names or self._texts[open_ + 1] == "state":
            message = "a `for` needs `(INIT; CONDITION; STEP)` or `(DECLARATION : RANGE)`"
            self._error(Fault.FOR_HEADER, message, open_, close + 1)
            _, after = self._loop_body(close + 1, end, "for (...)")
            raise Abandoned
        self._scanner.copied(open_ + 1, close, "in a `for` header", _BEFORE)
        body, after = self._loop_body(close + 1, end, "for (...)")
        decl, range_ = self._tokens.code(open_ + 1, colon), self._tokens.code(colon + 1, close)
        return RangeFor(self._tokens.span(index, after), None, decl, names, range_, body), after

    # -----------------------------------------------------------------------------------------------------------
    # try, choose

    def _try(self, index: int, end: int) -> _Parsed:
        body, after = self._sub_statement(index + 1, end, "try")
        if after >= end or self._texts[after] != "catch":
            self._error(Fault.TRY_WITHOUT_CATCH, "this `try` has no `catch`", index, index + 1,
                        "write `catch (Error& e) { ... }` after it")  # fmt: skip
            return body, after
        catch = after
        open_, close = self._parentheses(catch + 1, end, "catch")
        kind, type_, name = self._caught(open_ + 1, close)
        handler, after = self._sub_statement(close + 1, end, "catch (...)")
        while after < end and self._texts[after] == "catch":
            hint = "use one `catch (Error& e)` and compare `e.code()`"
            self._error(Fault.SEVERAL_CATCHES, "a `try` can have only one `catch`", after, after + 1, hint)
            after = self._skip_catch(after, end)
        catch_span = self._tokens.span(catch, close + 1)
        clause = Catch(self._tokens.span(catch, after), kind, catch_span, type_, name, handler)
        return Try(self._tokens.span(index, after), body, (clause,)), after

    def _skip_catch(self, index: int, end: int) -> int:
        """Past a `catch` that belongs to nothing; what stands in it is still looked through."""
        _, close = self._parentheses(index + 1, end, "catch")
        return self._sub_statement(close + 1, end, "catch (...)")[1]

    def _caught(self, first: int, end: int) -> tuple[CatchKind, Code | None, str | None]:
        """What a clause takes: its kind, the type, and the variable if it has one."""
        words = [text for text in self._texts[first:end] if text not in ("const", "::")]
        if words == ["..."]:
            return CatchKind.ALL, None, None
        if words[:1] == ["flow"]:
            words.pop(0)
        if words[:2] == ["Error", "&"] and (len(words) == 2 or (len(words) == 3 and self._tokens.is_name(end - 1))):
            name = words[2] if len(words) == 3 else None
            return CatchKind.ERROR, self._tokens.code(first, end - (name is not None)), name
        shown = self._texts[end - 1] if end - first > 1 and self._tokens.is_name(end - 1) else "e"
        message = "an actor can catch only `Error&` and `...`"
        self._error(Fault.CATCH_TYPE, message, first, end, f"write `catch (Error& {shown})`")
        return CatchKind.ALL, None, None

    def _choose(self, index: int, end: int) -> _Parsed:
        open_ = index + 1
        if open_ >= end or self._texts[open_] != "{":
            message = "`choose` must be followed by `{ when (...) ... }`"
            self._fail(Fault.CHOOSE_BLOCK, message, index, index + 1, "put the `when`s in braces")
        close = self._tokens.partner.get(open_)
        if close is None or close >= end:
            raise Abandoned
        self._enter(index)
        whens, sound = self._whens(open_ + 1, close)
        self._depth -= 1
        if not whens and sound:
            message = "a `choose` without a `when` never continues"
            self._error(Fault.CHOOSE_BLOCK, message, index, close + 1, "to wait for ever, write `wait(Never());`")
        return Choose(self._tokens.span(index, close + 1), whens), close + 1

    def _whens(self, index: int, end: int) -> tuple[tuple[When, ...], bool]:
        """The branches of a choose, and whether nothing was wrong with them."""
        found = []
        sound = True
        while index < end:
            if self._texts[index] == ";" or self._tokens.kind(index) is Kind.DIRECTIVE:
                index += 1
                continue
            try:
                when, index = self._when(index, end)
                found.append(when)
            except Abandoned:
                sound = False
                index = self._resume(index, end)
        return tuple(found), sound

    def _when(self, index: int, end: int) -> tuple[When, int]:
        if self._texts[index] != "when":
            hint = "put it before the `choose`, or into the body of a `when`"
            self._fail(Fault.NOT_A_WHEN, "only `when (...)` can stand in a `choose`", index, index + 1, hint)
        open_, close = self._parentheses(index + 1, end, "when")
        try:
            wait = self._scanner.first_wait(open_ + 1, close)
            if wait is None or not self._forms.is_wait_form(open_ + 1, wait):
                message = "a `when` must hold a `wait` or a `waitNext`"
                what = self._tokens.text(open_ + 1, close)
                self._fail(Fault.WHEN_HEAD, message, open_, close + 1, f"write `when (wait({what}))`")
            expression = self._forms.wait(open_ + 1, wait, close)
        except Abandoned:
            self._sub_statement(close + 1, end, "when (...)")  # for what is wrong in its body
            raise
        body, after = self._sub_statement(close + 1, end, "when (...)")
        return When(self._tokens.span(index, after), expression, body), after

    # -----------------------------------------------------------------------------------------------------------
    # What stands in the wrong place

    def _stray_when(self, index: int, end: int) -> _Parsed:
        self._error(Fault.WHEN_OUTSIDE_CHOOSE, "`when` can stand only in a `choose`", index, index + 1,
                    "write `choose { when (...) ... }`")  # fmt: skip
        when, after = self._when(index, end)
        return when.body, after

    def _stray_else(self, index: int, end: int) -> _Parsed:
        self._error(Fault.ELSE_WITHOUT_IF, "this `else` belongs to no `if`", index, index + 1)
        return self._sub_statement(index + 1, end, "else")

    def _stray_catch(self, index: int, end: int) -> _Parsed:
        self._error(Fault.CATCH_WITHOUT_TRY, "this `catch` belongs to no `try`", index, index + 1)
        after = self._skip_catch(index, end)
        return Block(self._tokens.span(index, after), ()), after

    def _stray_label(self, index: int, end: int) -> _Parsed:
        word = self._texts[index]
        self._error(Fault.UNSUPPORTED_KEYWORD, f"this `{word}` belongs to no `switch`", index, index + 1)
        colon = self._tokens.find(index, end, (":", ";"))
        return Block(self._tokens.span(index, colon + 1), ()), min(colon + 1, end)
