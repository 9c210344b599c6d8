"""The head of `TEST_CASE("name") { ... }`: a static actor with the test's parameters, known by its line. Likewise of
`BENCHMARK_CASE("name", n) { ... }`, perhaps with sizes behind the `n`."""

from __future__ import annotations

from actorc.diagnostics import Abandoned, Diagnostics, Fault, Note
from actorc.parse.brackets import BENCHMARK_WORDS, TokenList
from actorc.parse.head import Head
from actorc.repairs import replaced
from actorc.syntax import BENCHMARK_NAME, Code, Parameter, Span

TYPE_CHECKING = False  # see records.py
if TYPE_CHECKING:
    from typing import NoReturn


class TestCaseParser:
    __test__ = False  # to pytest this is no test

    def __init__(self, tokens: TokenList, diagnostics: Diagnostics) -> None:
        self._tokens = tokens
        self._diagnostics = diagnostics
        self._last: tuple[int, Span] | None = None  # line and head of the test case before

    def parse(self, word: int, end: int, *, in_class: bool) -> tuple[Head, Code]:
        """The head from the word TEST_CASE up to its `{` at `end`, and what stands in its parentheses. Raises Abandoned
        after a fault."""
        close = self._tokens.partner.get(word + 1)
        if close is None:
            raise Abandoned  # the missing parenthesis has been reported
        span = self._tokens.span(word, close + 1)
        line = self._tokens.source.line(span.start)
        before, self._last = self._last, (line, span)
        is_benchmark = self._tokens.texts[word] in BENCHMARK_WORDS
        what = "benchmark" if is_benchmark else "test case"
        parts = self._tokens.split(word + 2, close)
        parameter = self._benchmark_parameter(span, parts) if is_benchmark else self._test_parameter(span, parts)
        first, stop = parts[0]
        if stop == first + 1 and self._tokens.is_name(first):
            self._check_name(first, what)
        if self._tokens.texts[end] == ";" and end == close + 1:
            self._fail(f"a {what} has no forward declaration", span, "remove it: the definition registers it")
        if end != close + 1 or self._tokens.texts[end] != "{":
            self._fail(f"a {what} needs a body after its name", span, "write `{ ... return Void(); }` after it")
        if in_class:
            self._fail(f"a {what} cannot stand in a class", span, "put it at the level of the namespace")
        name = f"{BENCHMARK_NAME if is_benchmark else 'flowTestCase'}{line}"
        if before is not None and before[0] == line:
            note = Note("the first one of this line", before[1])
            message = f"two of them on one line would have the same name `{name}`"
            self._fail(message, span, "put each on a line of its own", note)
        return self._head(span, name, parameter, end), self._tokens.code(word + 2, close)

    def _test_parameter(self, span: Span, parts: list[tuple[int, int]]) -> Parameter:
        hint = 'write `TEST_CASE("/path/name")`'
        if not parts:
            self._fail("a test case needs a name", span, hint)
        if len(parts) > 1:
            self._fail("a test case has a name, and no parameters", span, hint)
        return Parameter(span, Code(self._tokens.source.implied("flow::UnitTestParameters")), "params", None)

    def _benchmark_parameter(self, span: Span, parts: list[tuple[int, int]]) -> Parameter:
        hint = 'write `BENCHMARK_CASE("/path/name", n)`'
        if len(parts) < 2:
            self._fail("a benchmark needs a name, and a name for the number of items", span, hint)
        first, stop = parts[1]
        if stop != first + 1 or not self._tokens.is_name(first):
            self._fail("the number of items of a benchmark needs a name", self._tokens.span(first, stop), hint)
        type_ = Code(self._tokens.source.implied("std::int64_t"))
        return Parameter(self._tokens.span(first, stop), type_, self._tokens.texts[first], None)

    def _check_name(self, index: int, what: str) -> None:
        """A name is a string, or a constant that is one."""
        name = self._tokens.texts[index]
        if self._tokens.texts.count(name) == 1 and not name.isupper():
            message = f"the name of a {what} is a string"
            span = self._tokens.span(index, index + 1)
            fixes = replaced(span, f'"/{name}"')
            self._diagnostics.warning(Fault.TEST_CASE, message, span, fixes=fixes)

    def _head(self, span: Span, name: str, parameter: Parameter, end: int) -> Head:
        return Head(
            is_static=True,
            result_type=Code(self._tokens.source.implied("flow::Void")),
            return_text="flow::Future<flow::Void>",
            name=name,
            name_span=span,
            parameters=(parameter,),
            end=end,
        )

    def _fail(self, message: str, span: Span, hint: str, *notes: Note) -> NoReturn:
        self._diagnostics.error(Fault.TEST_CASE, message, span, hint=hint, notes=notes)
        raise Abandoned
