"""The head of `TEST_CASE("name") { ... }`: a static actor with the test's parameters, known by its line."""

from __future__ import annotations

from actorc.diagnostics import Abandoned, Diagnostics, Fault, Note
from actorc.parse.brackets import TokenList
from actorc.parse.head import Head
from actorc.repairs import replaced
from actorc.syntax import Code, Parameter, Span


class TestCaseParser:
    __test__ = False  # to pytest this is no test

    def __init__(self, tokens: TokenList, diagnostics: Diagnostics) -> None:
        self._tokens = tokens
        self._diagnostics = diagnostics
        self._last: tuple[int, Span] | None = None  # line and head of the test case before

    def parse(self, word: int, end: int, *, in_class: bool) -> tuple[Head, Code]:
        """The head from the word TEST_CASE up to its `{` at `end`, and its name. Raises Abandoned after a fault."""
        close = self._tokens.partner.get(word + 1)
        if close is None:
            raise Abandoned  # the missing parenthesis has been reported
        span = self._tokens.span(word, close + 1)
        line = self._tokens.source.line(span.start)
        before, self._last = self._last, (line, span)
        if close == word + 2:
            self._fail("a test case needs a name", span, 'write `TEST_CASE("/path/name")`')
        if self._tokens.find(word + 2, close, (",",)) < close:
            self._fail("a test case has a name, and no parameters", span, 'write `TEST_CASE("/path/name")`')
        if close == word + 3 and self._tokens.is_name(word + 2):
            self._check_name(word + 2)
        if self._tokens.texts[end] == ";" and end == close + 1:
            self._fail("a test case has no forward declaration", span, "remove it: the definition registers the test")
        if end != close + 1 or self._tokens.texts[end] != "{":
            self._fail("a test case needs a body after its name", span, "write `{ ... return Void(); }` after it")
        if in_class:
            self._fail("a test case cannot stand in a class", span, "put it at the level of the namespace")
        if before is not None and before[0] == line:
            note = Note("the first test case of this line", before[1])
            message = "two test cases on one line would have the same name `flowTestCase" + str(line) + "`"
            self._fail(message, span, "put each on a line of its own", note)
        return self._head(span, line, end), self._tokens.code(word + 2, close)

    def _check_name(self, index: int) -> None:
        """A name is a string, or a constant that is one."""
        name = self._tokens.texts[index]
        if self._tokens.texts.count(name) == 1 and not name.isupper():
            message = "the name of a test case is a string"
            span = self._tokens.span(index, index + 1)
            fixes = replaced(span, f'"/{name}"')
            self._diagnostics.warning(Fault.TEST_CASE, message, span, fixes=fixes)

    def _head(self, span: Span, line: int, end: int) -> Head:
        source = self._tokens.source
        parameters = Parameter(span, Code(source.implied("flow::UnitTestParameters")), "params", None)
        return Head(
            is_static=True,
            result_type=Code(source.implied("flow::Void")),
            return_text="flow::Future<flow::Void>",
            name=f"flowTestCase{line}",
            name_span=span,
            parameters=(parameters,),
            end=end,
        )

    def _fail(self, message: str, span: Span, hint: str, *notes: Note) -> None:
        self._diagnostics.error(Fault.TEST_CASE, message, span, hint=hint, notes=notes)
        raise Abandoned
