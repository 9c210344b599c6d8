"""Lambdas that may wait: `ACTOR [x, y = e, &z](int n) -> Future<T> { ... }`, in actors and in any other function.

The body is that of an actor. Its first parameters are the captures: each call copies them, so that the lambda may be
destroyed while the actor waits.
"""

from __future__ import annotations

from actorc.diagnostics import Abandoned, Diagnostics, Fault
from actorc.parse.brackets import TokenList
from actorc.parse.head import Head
from actorc.parse.parameters import ParameterParser
from actorc.parse.reader import Reader
from actorc.parse.returns import ReturnTypeParser
from actorc.parse.statements import StatementParser
from actorc.parse.waits import WaitScanner
from actorc.syntax import Actor, Block, Capture
from actorc.words import ACTOR_WORDS, KEYWORDS


class LambdaParser(Reader):
    """Parses lambdas after their brackets have been matched."""

    def __init__(self, tokens: TokenList, diagnostics: Diagnostics) -> None:
        super().__init__(tokens, diagnostics)
        self._returns = ReturnTypeParser(tokens, diagnostics)
        self._parameters = ParameterParser(tokens, diagnostics)
        self._scanner = WaitScanner(tokens, diagnostics)
        self._count = 0

    def inside(self, first: int, end: int) -> tuple[Actor, ...]:
        """The outermost lambdas of the range; those inside them are theirs."""
        found = []
        for index in self._tokens.occurrences(first, end, ACTOR_WORDS):
            if index >= first and self._tokens.begins_lambda(index):
                actor, first = self.parse(index, end)
                if actor is not None:
                    found.append(actor)
        return tuple(found)

    def parse(self, index: int, end: int) -> tuple[Actor | None, int]:
        """The lambda at `index`, None if its head is wrong, and the index after it."""
        self._count += 1
        number = self._count
        errors = len(self._diagnostics)
        body = self._tokens.lambda_body(index, end)
        close = self._tokens.partner.get(body, end) if body is not None else end
        if body is None or close >= end:
            message = "an `ACTOR` lambda needs a body"
            self._error(Fault.LAMBDA, message, index, index + 1, "write `ACTOR [...](...) -> Future<T> { ... }`")
            return None, index + 1
        head, captures = self._head(index, body, f"lambda{number}")
        is_sound = len(self._diagnostics) == errors
        block = StatementParser(self._tokens, self._diagnostics).body(body, close)
        lambdas = self.inside(body, close)
        return (self._made(head, captures, block, lambdas, index, close) if is_sound else None), close + 1

    def _made(
        self, head: Head, captures: tuple[Capture, ...], body: Block, lambdas: tuple[Actor, ...], first: int, close: int
    ) -> Actor:
        return Actor(
            self._tokens.span(first, close + 1),
            template=head.template,
            attributes=(),
            is_static=False,
            is_uncancellable=head.is_uncancellable,
            result_type=head.result_type,
            return_text=head.return_text,
            qualifier=(),
            name=head.name,
            name_span=head.name_span,
            parameters=head.parameters,
            body=body,
            enclosing_classes=(),
            in_namespace=True,
            in_unknown=True,
            index=0,
            captures=captures,
            lambdas=lambdas,
            frame_limit=head.frame_limit,
        )

    # -----------------------------------------------------------------------------------------------------------

    def _head(self, first: int, body: int, name: str) -> tuple[Head, tuple[Capture, ...]]:
        tokens, texts = self._tokens, self._texts
        open_ = first + 1
        head = Head(end=body, name=name, name_span=tokens.span(first, first + 1))
        if texts[open_] == "UNCANCELLABLE":
            head.is_uncancellable = True
            open_ += 1
        index = tokens.partner[open_] + 1
        captures = self._captures(open_ + 1, index - 1)
        if texts[index] == "<":
            message = "an `ACTOR` lambda cannot be a template"
            self._error(Fault.LAMBDA, message, index, index + 1, "write an actor, `ACTOR template <class T> ...`")
            index = tokens.find(index, body, ("(",), angles=False)
        if texts[index] == "(" and index not in tokens.partner:
            return head, captures  # the missing parenthesis has been reported
        if texts[index] == "(":
            head.parameters, head.frame_limit = self._parameters.parse(index + 1, tokens.partner[index])
            index = tokens.partner[index] + 1
        if texts[index] == "mutable":
            message = "every call of an `ACTOR` lambda has its own copy of the captures, and may change it"
            self._error(Fault.LAMBDA, message, index, index + 1, "remove `mutable`")
            index += 1
        if texts[index] != "->":
            message = "an `ACTOR` lambda needs a return type"
            self._error(Fault.LAMBDA, message, first, first + 1, "write `-> Future<T>` before its `{`")
        else:
            self._returns.read(head, index + 1, body)
        return head, captures

    def _captures(self, first: int, end: int) -> tuple[Capture, ...]:
        found = []
        for start, stop in self._tokens.split(first, end):
            try:
                found.append(self._capture(start, stop))
            except Abandoned:
                continue
        return tuple(found)

    def _capture(self, first: int, end: int) -> Capture:
        texts = self._texts
        is_reference = texts[first] == "&" and end - first > 1
        name = first + is_reference
        what = texts[first:end]
        hint = None
        if what in (["="], ["&"]):
            message, hint = "an `ACTOR` lambda names everything that it captures", "write `[x, y]`, or `[&x]`"
        elif what in (["this"], ["*", "this"]):
            message = "`this` would not be the object inside an actor"
            hint = f"write `self = {''.join(what)}`, and use `self`"
        elif not self._is_capture(name, end):
            message = "this cannot be captured by an `ACTOR` lambda"
            hint = "write `x`, `&x` or `x = VALUE`"
        else:
            hint = "write `auto value = {wait};` before, and capture `value`"
            self._scanner.copied(name, end, "in a capture", hint)
            init = self._tokens.code(name + 1, end) if end - name > 1 else None
            return Capture(self._tokens.span(first, end), texts[name], init, is_reference)
        self._error(Fault.LAMBDA, message, first, max(end, first + 1), hint)
        raise Abandoned

    def _is_capture(self, name: int, end: int) -> bool:
        """Whether the range is a name, perhaps with an initialiser."""
        if name >= end or not self._tokens.is_name(name) or self._texts[name] in KEYWORDS:
            return False
        return end - name == 1 or self._texts[name + 1] in ("=", "(", "{")
