"""The statements that introduce state: `state T x...;`, and every form of a wait.

wait(E)    T x = wait(E)    state T x = wait(E)    x = wait(E)    return wait(E)    and the same with waitNext
"""

from __future__ import annotations

from actorc.diagnostics import Abandoned, Diagnostics, Fault
from actorc.parse.brackets import TokenList
from actorc.parse.declarations import skip_attributes
from actorc.parse.reader import Reader
from actorc.parse.results import ResultParser
from actorc.parse.waits import BEFORE, WaitScanner
from actorc.spelling import is_constant, is_trivial, one_line
from actorc.syntax import Code, Result, ResultKind, StateDecl, StateForm, WaitExpr
from actorc.words import CLASS_KEYS, KEYWORDS

_STORAGE = frozenset({
    "static", "constexpr", "constinit", "thread_local", "extern", "inline", "mutable", "register",
})  # fmt: skip
_OPERANDS = "to let others run, wait for `yield()`; to wait forever, for `Never()`"
_SEVERAL = "for all of them write a wait each, or `a && b`; for the first of them, `choose` with a `when` each"
_FORMS = {"": StateForm.NONE, "=": StateForm.ASSIGN, "(": StateForm.PAREN, "{": StateForm.BRACE}


class WaitForms(Reader):
    def __init__(self, tokens: TokenList, diagnostics: Diagnostics, scanner: WaitScanner) -> None:
        super().__init__(tokens, diagnostics)
        self._scanner = scanner
        self._results = ResultParser(tokens, diagnostics, scanner)

    # -----------------------------------------------------------------------------------------------------------
    # Waits

    def is_wait_form(self, first: int, wait: int) -> bool:
        """Whether a wait at `wait` is, or is meant to be, the value of the statement that begins at `first`."""
        return wait == first or (self._texts[wait - 1] == "=" and self._tokens.find(first, wait, ("=",)) == wait - 1)

    def wait(self, first: int, wait: int, end: int) -> WaitExpr:
        """The wait form in `[first, end)`, which has its keyword at `wait`. Raises Abandoned if it is none."""
        close = self._tokens.partner.get(wait + 1)
        if close is None or close >= end:
            raise Abandoned
        word = self._texts[wait]
        if close + 1 < end:
            if self._texts[close + 1] in (")", "]"):
                raise Abandoned  # a bracket that closes nothing has been reported
            message = f"a {word} is a statement of its own: nothing can follow its `)`"
            hint = f"write `auto value = {self._scanner.shown(wait)};`, then use `value`"
            self._error(Fault.AFTER_WAIT, message, close + 1, end, hint)
            raise Abandoned
        if close == wait + 2:
            self._error(Fault.WAIT_OPERAND, f"`{word}` needs something to wait for", wait, close + 1, _OPERANDS)
            raise Abandoned
        comma = self._tokens.find(wait + 2, close, (",",))
        if comma < close:
            message = f"`{word}` takes one {'stream' if word == 'waitNext' else 'future'}"
            self._error(Fault.WAIT_OPERAND, message, comma, close, _SEVERAL)
            raise Abandoned
        self._scanner.copied(wait + 2, close, "inside another wait", BEFORE)
        result = self._result(first, wait)
        operand = self._tokens.code(wait + 2, close)
        tokens = self._tokens
        return WaitExpr(tokens.span(first, close + 1), tokens.span(wait, wait + 1), word == "waitNext", operand, result)

    def is_returned(self, index: int, stop: int) -> bool:
        """Whether `index`, after a `return`, is a wait that reaches to `stop`, where the statement ends."""
        if not self._scanner.is_wait(index, is_first=True):
            return False
        return self._tokens.partner.get(index + 1) == stop - 1

    def _result(self, first: int, wait: int) -> Result | None:
        if wait == first:
            return None
        if self._texts[first] == "return":
            return Result(ResultKind.RETURN, None, (), None)
        return self._results.result(first, wait)

    # -----------------------------------------------------------------------------------------------------------
    # State variables

    def states(self, first: int, end: int, leading: bool) -> list[StateDecl]:
        """`state T x..., y...` in `[first, end)`, without its `;`. Raises Abandoned if it declares nothing."""
        tokens = self._tokens
        start = skip_attributes(tokens, first + 1, end)
        comma = tokens.find(start, end, (",",))
        found = [self._first(first, comma, leading)]
        base = found[0].type
        if comma < end and self._texts[tokens.find(start, comma, ("=", "(", "{", "[")) - 2] in ("*", "&", "&&"):
            self._refuse_kind(first, start, ",", end)  # `T *x, y`: another type for each
        while comma < end:
            place = tokens.find(comma + 1, end, (",",))
            name = comma + 1
            if name >= place or not tokens.is_name(name) or self._texts[name] in KEYWORDS:
                self._refuse_kind(first, start, ",", end)
            found.append(self._variable(comma, base, name, name, place, leading and found[-1].leading))
            comma = place
        return found

    def _first(self, first: int, end: int, leading: bool) -> StateDecl:
        tokens = self._tokens
        self._refuse_alignment(first, end)
        start = skip_attributes(tokens, first + 1, end)
        stop = self._initialiser(start, end)
        self._require_variable(first, start, stop - 1, stop, end)
        return self._variable(first, tokens.code(start, stop - 1), start, stop - 1, end, leading)

    def _variable(self, first: int, type_: Code, start: int, name: int, end: int, leading: bool) -> StateDecl:
        """The variable `name` of a declaration, up to `end`; `first` is its `state`, or the comma in front of it."""
        tokens = self._tokens
        bounds = stop = name + 1
        while self._texts[stop] == "[" and stop < end:
            stop = tokens.next(stop, end)
        self._require_storage(start, name, bounds < stop, leading)
        opener = self._texts[stop] if stop < end else ""
        self._require_value(type_, name, stop, opener)
        chain = self._chain(stop, end, opener)
        init = self._init(stop, chain, opener)
        hint = f"write `state {tokens.text(start, stop)} = {{wait}};`"
        self._scanner.copied(start, end, "inside an initialiser", hint)
        is_first = self._texts[first] != ","
        after = end + 1 if self._texts[end] == ";" else end
        return StateDecl(
            tokens.span(first if is_first else name, after),
            type_,
            self._texts[name],
            _FORMS[opener],
            init,
            leading and chain == end,
            tokens.code(bounds, stop) if bounds < stop else None,
            None if is_first else tokens.span(first, first + 1),
            tokens.code(chain, end) if chain < end else None,
        )

    def _chain(self, stop: int, end: int, opener: str) -> int:
        """Where `.member(...)` begins behind `T x(e)`; `end` if it is not there."""
        close = self._tokens.partner.get(stop, end) if opener in ("(", "{") else end
        return close + 1 if close + 2 < end and self._texts[close + 1] == "." else end

    def _initialiser(self, start: int, end: int) -> int:
        """Where the declared name ends: at the initialiser, or at what cannot stand in a state declaration."""
        index = start
        while True:
            index = self._tokens.find(index, end, ("=", "(", "{", "[", ",", ":"))
            if index < end and self._texts[index] == "(":
                behind = self._tokens.next(index, end)
                is_macro = index == start + 1 and behind < end and self._tokens.is_name(behind)  # `REPLY_TYPE(T) x`
                if is_macro or self._texts[index - 1] == "decltype":
                    index = behind
                    continue
            return index

    def _require_variable(self, first: int, start: int, name: int, stop: int, end: int) -> None:
        texts = self._texts
        following = texts[stop] if stop < end else ""
        is_unbounded = following == "[" and texts[stop + 1] == "]"
        is_listed = following == ":" or self._is_pointer_declarator(stop, end)
        if is_listed or is_unbounded or self._tokens.find(start, stop, ("auto",)) < stop:
            self._refuse_kind(first, start, following, end)
        named = self._tokens.is_name(name) and texts[name] not in KEYWORDS
        if not named or name <= start or texts[name - 1] in ("::", ".", "->"):
            message = "`state` must be followed by a type and a name"
            self._error(Fault.STATE_DECLARATION, message, first, max(stop, start), "write `state TYPE NAME = VALUE;`")
            raise Abandoned

    def _require_storage(self, start: int, name: int, is_array: bool, leading: bool) -> None:
        """Report what cannot be made when the actor is made, or cannot be part of it."""
        texts = self._texts
        for index in range(start, name):
            if texts[index] in _STORAGE:
                message = f"a state variable belongs to one run of the actor, so it cannot be `{texts[index]}`"
                hint = f"leave out `{texts[index]}`, or `state`"
                self._error(Fault.STATE_TYPE, message, index, index + 1, hint)
        shown = texts[name]
        if texts[name - 1] in ("&", "&&") and not leading:
            message = "a reference is bound when the actor starts, so it must be among the first states of its body"
            hint = f"write `state T* {shown} = &...;`, or move this to the start of the actor"
            self._error(Fault.STATE_TYPE, message, start, name + 1, hint)
        elif is_array and "const" in (texts[start], texts[name - 1]) and not leading:
            message = "a constant array must be among the first states of the actor's body"
            self._error(Fault.STATE_TYPE, message, start, name + 1, "leave out `const`")

    def _require_value(self, type_: Code, name: int, stop: int, opener: str) -> None:
        """Of a constant that C++ would not initialise."""
        spelled = one_line(self._tokens.source[type_.span])
        if opener or not is_constant(spelled) or not is_trivial(spelled.removesuffix("const").rstrip()):
            return
        message = "a constant state variable needs a value"
        hint = f"write `state {spelled} {self._tokens.text(name, stop)} = VALUE;`, or leave out `const`"
        self._error(Fault.STATE_DECLARATION, message, name, stop, hint)

    def _refuse_alignment(self, first: int, end: int) -> None:
        """Of a variable in a frame. In an actor that becomes a coroutine gcc 12 would ignore it."""
        tokens = self._tokens
        found = tokens.find(first, end, ("alignas", "=", "{"))
        if found < end and self._texts[found] == "alignas" and self._texts[found - 1] not in CLASS_KEYS:
            close = tokens.next(found + 1, end)
            message = "a state variable is aligned as its type is"
            hint = "align the type instead, to 16 bytes at most: `struct alignas(16) Name`; for more, keep a pointer"
            self._error(Fault.STATE_TYPE, message, found, close, hint)

    def _is_pointer_declarator(self, index: int, end: int) -> bool:
        """`(*name)(...)` or `(*name)[...]`, where `(*value)` alone initialises a name before it."""
        if index >= end or self._texts[index] != "(" or self._texts[index + 1] != "*":
            return False
        after = self._tokens.next(index, end)
        return after < end and self._texts[after] in ("(", "[")

    def _refuse_kind(self, first: int, start: int, following: str, end: int) -> None:
        if "auto" in self._texts[start:end] and following == "[":
            message, hint = "state variables cannot be unpacked from a value", "declare each with its own `state`"
        elif following == "[":
            message, hint = "the size of a state variable must be written out", "write the number of elements"
        elif following == ",":
            message = "the variables of one `state` have the same plain type"
            hint = "repeat `state` for each variable"
            if self._texts[first - 1] == "(":
                hint = "declare each before the loop, with a `state` of its own"
        elif following == ":":
            message, hint = "a state variable cannot be a bit-field", "leave the width out"
        elif following == "(":
            message, hint = "a state variable's type must stand before its name", "name the type with `using`"
        else:
            message, hint = "the type of a state variable must be written out", "write the type instead of `auto`"
        self._error(Fault.STATE_TYPE, message, first, end, hint)
        raise Abandoned

    def _init(self, stop: int, end: int, opener: str) -> Code | None:
        if not opener:
            return None
        tokens = self._tokens
        if opener == "=":
            if stop + 1 >= end:
                message = "the initial value is missing after `=`"
                self._error(Fault.STATE_DECLARATION, message, stop, stop + 1)
            return tokens.code(stop + 1, end)
        close = tokens.partner.get(stop, end)
        if close >= end:
            raise Abandoned
        if close + 1 < end:
            message = "unexpected text after the initial value of a state variable"
            self._error(Fault.STATE_DECLARATION, message, close + 1, end)
        return tokens.code(stop + 1, close) if close > stop + 1 else None
