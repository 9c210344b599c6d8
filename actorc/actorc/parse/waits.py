"""Where `wait` stands, and whether it may stand there.

A wait is a whole statement. The word may also be an ordinary name (`condition.wait(lock)`); only a call of the bare
name is the actor language's wait. Everything that is copied as C++ text passes through `WaitScanner.copied`, which
reports the waits, coroutine keywords and `goto`s in it.
"""

from __future__ import annotations

from collections.abc import Iterator

from actorc.diagnostics import Diagnostics, Edit, Fault, Fix
from actorc.parse.brackets import TokenList
from actorc.parse.declarations import is_type
from actorc.repairs import before, insert, removed, replaced, unused_name
from actorc.syntax import Span, Words
from actorc.words import ACTOR_WORDS, BEFORE_OPERAND, CLASS_KEYS, KEYWORDS, begins_captures

_WAITS = frozenset({"wait", "waitNext"})
_FORBIDDEN = _WAITS | {"co_await", "co_return", "co_yield", "goto", "state"}
_BRANCHES = frozenset({"&&", "||", "?", "and", "or"})
_SOMETIMES = _BRANCHES | {";"}  # what follows may not be evaluated, or only later
_FOR_LAMBDAS = "write `ACTOR [...](...) -> Future<T> { ... }`, or make the lambda's code an actor of its own"
BEFORE = "write `auto value = {wait};` before, and use `value` here"  # with a name that is free
_IN_BRANCH = "write an `if` with `{wait}` in it: where it stands, it is not always evaluated"
_MEMBER_ACCESS = frozenset({".", "->", "::"})
_BEFORE_LAMBDA_BODY = frozenset({"mutable", "noexcept", "constexpr", "consteval", "static", "requires", "->"})
_BEFORE_CAPTURES = ACTOR_WORDS | {"UNCANCELLABLE"}
_LONGEST_SHOWN = 50


class WaitScanner:
    def __init__(self, tokens: TokenList, diagnostics: Diagnostics) -> None:
        self._tokens = tokens
        self._diagnostics = diagnostics

    def is_wait(self, index: int, *, is_first: bool = False) -> bool:
        """Whether this token is the keyword `wait` or `waitNext` at the head of its operand.

        `is_first`: a statement begins here, so that the token before it says nothing.
        """
        texts = self._tokens.texts
        if texts[index] not in _WAITS or texts[index + 1] != "(" or not self._tokens.is_name(index):
            return False
        if is_first:
            return True
        before = texts[index - 1] if index else ""
        if before in _MEMBER_ACCESS:
            return False
        declares = self._tokens.is_name(index - 1) and before not in BEFORE_OPERAND
        return not declares or not self._tokens.same_line(index - 1, index)

    def first_wait(self, first: int, end: int) -> int | None:
        """The first wait of the range that stands in no brackets."""
        for index in self._tokens.occurrences(first, end, _WAITS):
            outer = first
            while outer < index:
                outer = self._tokens.next(outer, end)
            if outer == index and self.is_wait(index, is_first=index == first):
                return index
        return None

    def shown(self, index: int) -> str:
        """The text of the wait at `index`, shortened for a hint."""
        close = self._tokens.partner.get(index + 1)
        text = self._tokens.text(index, close + 1) if close is not None else ""
        fits = text and len(text) <= _LONGEST_SHOWN and "\n" not in text
        return text if fits else f"{self._tokens.texts[index]}(...)"

    def copied(self, first: int, end: int, place: str, hint: str, statement: int | None = None) -> None:
        """Report what must not stand in C++ text that is copied.

        `place` says where the text stands ("in a condition"); `{wait}` in `hint` stands for the wait as written.
        `statement` is where the statement begins, if a wait could as well stand before it.
        """
        waits = []
        for index in self._tokens.occurrences(first, end, _FORBIDDEN):
            if self._in_actor(first, index, end):
                continue
            in_lambda = self._inside_lambda(first, index, end)
            word = self._tokens.texts[index]
            span = self._tokens.tokens[index].span
            if word in _WAITS:
                if in_lambda and self.is_wait(index):
                    self._misplaced(index, "in a lambda, which is no actor", _FOR_LAMBDAS, ())
                elif self.is_wait(index):
                    waits.append(index)
            elif word == "state":
                self._stateless(index, first if statement == first else index, in_lambda)
            elif not in_lambda:
                self._unsupported(word, span, self._respelt(index, first, end, statement))
        for index in waits:
            is_branch = hint is BEFORE and not _BRANCHES.isdisjoint(self._tokens.texts[first:index])
            if hint is not BEFORE or is_branch:
                self._misplaced(index, place, _IN_BRANCH if is_branch else hint, ())
            else:
                self._hoist(index, place, statement, waits)

    def _in_actor(self, first: int, index: int, end: int) -> bool:
        """Whether the token stands in the body of an `ACTOR` lambda of the range, which is an actor by itself."""
        tokens = self._tokens
        for actor in tokens.occurrences(first, index, ACTOR_WORDS):
            body = tokens.lambda_body(actor, end) if tokens.begins_lambda(actor) else None
            if body is not None and body < index < tokens.partner[body]:
                return True
        return False

    def _misplaced(self, index: int, place: str, hint: str, fixes: tuple[Fix, ...]) -> None:
        word = self._tokens.texts[index]
        self._diagnostics.error(
            Fault.MISPLACED_WAIT,
            f"`{word}` cannot stand {place}",
            self._tokens.span(index, self._tokens.partner.get(index + 1, index) + 1),
            hint=hint.replace("{wait}", self.shown(index)),  # the hint may quote braces of the source
            fixes=fixes,
        )

    def _hoist(self, index: int, place: str, statement: int | None, waits: list[int]) -> None:
        """Report one of the waits that could be carried out before a statement, if that always evaluates it.

        Of several, each but the last needs a state, since a local would end in the next; its type is not known here.
        """
        is_only = len(waits) == 1
        words = Words(self._tokens.texts, self._tokens.tokens.starts)
        name = unused_name("value", Span(0, len(self._tokens.source.text)), words, self._tokens.given)
        kind = "auto" if index == waits[-1] else "state T"
        hint = f"write `{kind} {name} = {{wait}};` before, and use `{name}` here"
        fixes = self._hoisted(index, name, statement) if is_only else ()
        if fixes or not is_only:
            self._tokens.given.add(name)
        self._misplaced(index, place, hint, fixes)

    def _hoisted(self, index: int, name: str, statement: int | None) -> tuple[Fix, ...]:
        texts = self._tokens.texts
        close = self._tokens.partner.get(index + 1)
        if statement is None or close is None or texts[statement - 1] not in (";", "{", "}"):
            return ()
        if not _SOMETIMES.isdisjoint(texts[statement:index]) or texts[statement] == "state":
            return ()
        start = self._tokens.span(statement, statement + 1).start
        wait = self._tokens.span(index, close + 1)
        first_edit = before(start, f"auto {name} = {self._tokens.source[wait]};", self._tokens.source)
        return (Fix("wait before", (first_edit, Edit(wait, name))),)

    def _respelt(self, index: int, first: int, end: int, statement: int | None) -> tuple[Fix, ...]:
        """Offers `wait(f);` for `co_await f;` that is a statement, or the value of one."""
        tokens = self._tokens
        word = tokens.texts[index]
        if word == "co_return" and index == first:
            return replaced(tokens.span(index, index + 1), "return")
        is_whole = statement is not None and (index == first or tokens.texts[index - 1] == "=")
        if word != "co_await" or not is_whole or index + 1 >= end:
            return ()
        operand = tokens.span(index + 1, end)
        edits = (Edit(Span(tokens.span(index, end).start, operand.start), "wait("), insert(operand.end, ")"))
        return (Fix("write `wait(...)`", edits),)

    def _stateless(self, index: int, first: int, in_lambda: bool) -> None:
        """`state` where variables are those of a lambda, or of a statement that is copied; or behind the type with
        which the statement begins at `first`."""
        tokens = self._tokens
        texts = tokens.texts
        if tokens.is_name(index + 1) and texts[index + 1] not in KEYWORDS and is_type(tokens, first, index):
            start = tokens.span(first, index).start
            edits = (insert(start, "state "), Edit(tokens.to_next(index), ""))
            message = "`state` stands before the type"
            fixes = (Fix("write it first", edits),)
            self._diagnostics.error(Fault.STATE_DECLARATION, message, tokens.span(index, index + 1), fixes=fixes)
            return
        declares = tokens.is_name(index + 1) and (tokens.is_name(index + 2) or texts[index + 2] in ("<", "::", "*"))
        if texts[index - 1] not in (";", "{", "}") or not declares:
            return
        where = "in a lambda, which is no actor" if in_lambda else "in a statement that is copied as it is"
        self._diagnostics.error(
            Fault.STATE_WITHOUT_EFFECT,
            f"`state` means nothing {where}",
            tokens.span(index, index + 1),
            hint="leave it out, or declare the variable before",
            fixes=removed(tokens.to_next(index), "state"),
        )

    def _unsupported(self, word: str, span: Span, fixes: tuple[Fix, ...]) -> None:
        hints = {
            "goto": "use `loop`, `break` and `continue`",
            "co_await": "write `wait(...)`, or make this a plain coroutine without `ACTOR`",
            "co_return": "write `return ...;`",
        }
        message = f"`{word}` cannot be used in an actor"
        self._diagnostics.error(Fault.UNSUPPORTED_KEYWORD, message, span, hint=hints.get(word), fixes=fixes)

    def _inside_lambda(self, first: int, index: int, end: int) -> bool:
        return index not in set(self.outside_lambdas(first, end))

    def outside_lambdas(self, first: int, end: int) -> Iterator[int]:
        """The tokens of the range but for the bodies of lambdas and of local classes."""
        index = first
        while index < end:
            yield index
            body = self._own_body(index, end)
            if body is not None:
                yield from range(index + 1, body)
                index = self._tokens.partner[body]
            index += 1

    def _own_body(self, index: int, end: int) -> int | None:
        """The `{` of the lambda or class that begins at `index`."""
        text = self._tokens.texts[index]
        if text == "[":
            body = self._lambda_body(index, end)
        elif text in CLASS_KEYS:
            body = self._tokens.find(index, end, ("{", ";", "(", ")", "=", ">", ","))
        else:
            return None
        is_body = body is not None and self._tokens.texts[body] == "{" and self._tokens.partner.get(body, end) < end
        return body if is_body else None

    def _lambda_body(self, index: int, end: int) -> int | None:
        tokens = self._tokens
        is_actor = tokens.texts[index - 1] in _BEFORE_CAPTURES
        if not (is_actor or begins_captures(tokens.texts, index)) or index not in tokens.partner:
            return None
        index = tokens.partner[index] + 1
        if tokens.texts[index] == "<" and index in tokens.angle:
            index = tokens.angle[index] + 1
        if tokens.texts[index] == "(":
            index = tokens.next(index, end)
        if tokens.texts[index] in _BEFORE_LAMBDA_BODY:
            return tokens.find(index, end, ("{", ";", ","))
        return index if index < end else None
