"""Finds the actors of a file and parses them. It reads other text only to find the classes around actors."""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections import Counter

from actorc.diagnostics import Abandoned, Diagnostics, Fault
from actorc.parse.brackets import TEST_WORDS, TokenList
from actorc.parse.descriptions import DESCRIBED, DescriptionParser
from actorc.parse.head import Head
from actorc.parse.header import HeaderParser
from actorc.parse.lambdas import LambdaParser
from actorc.parse.lexer import OPEN_TO_THE_END, Kind, lex
from actorc.parse.scopes import SCOPE_WORDS, Scopes
from actorc.parse.statements import StatementParser
from actorc.parse.strays import STRAY_WORDS, find_stray
from actorc.parse.testcases import TestCaseParser
from actorc.records import replace
from actorc.source import Source
from actorc.syntax import Actor, Block, Code, Description, File, Span, Words
from actorc.words import ACTOR_WORDS

_RECURSION = 20_000  # for the deepest nesting that the parser accepts, also in the stages that walk over its tree
_LOOKED_AT = ACTOR_WORDS | SCOPE_WORDS | STRAY_WORDS | TEST_WORDS | {"DESCR"}  # outside actors
_NOT_FIRST = ("#else", "#elif", "#endif")


def parse(source: Source, diagnostics: Diagnostics) -> File:
    """The tree of a file. Faults are reported, never raised; an actor with a malformed head is left out of the tree."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _RECURSION))
    stray = source.undecodable()
    if stray is not None:
        byte = ord(source.text[stray.start]) - 0xDC00
        diagnostics.error(
            Fault.UNDECODABLE, f"the byte 0x{byte:02X} is not UTF-8", stray, hint="save the file as UTF-8"
        )
    tokens = TokenList(source, lex(source, diagnostics), diagnostics)
    parser = _FileParser(tokens, diagnostics)
    parser.run()
    words = Words(tokens.texts, tokens.tokens.starts)
    return File(_numbered(parser.actors), words, tuple(parser.descriptions))


class _FileParser:
    def __init__(self, tokens: TokenList, diagnostics: Diagnostics) -> None:
        self._tokens = tokens
        self._diagnostics = diagnostics
        self._header = HeaderParser(tokens, diagnostics)
        self._statements = StatementParser(tokens, diagnostics)
        self._tests = TestCaseParser(tokens, diagnostics)
        self._descriptions = DescriptionParser(tokens, diagnostics)
        self._lambdas = LambdaParser(tokens, diagnostics)
        self._scopes = Scopes(tokens)
        self.actors: list[Actor] = []
        self.descriptions: list[Description] = []

    def run(self) -> None:
        places = self._tokens.places(_LOOKED_AT)
        index = place = 0
        while (place := bisect_left(places, index, place)) < len(places):
            index = places[place]
            text = self._tokens.texts[index]
            if self._tokens.begins_actor(index):
                actor, index = self._actor(index)
                if actor is not None:
                    self.actors.append(actor)
            elif text in ACTOR_WORDS:
                actor, index = self._lambda(index)
                if actor is not None:
                    self.actors.append(actor)
            elif text == "DESCR" and self._tokens.texts[index + 1] in DESCRIBED:
                description, index = self._descriptions.parse(index, in_class=bool(self._scopes.classes))
                if description is not None:
                    self.descriptions.append(description)
            else:
                find_stray(self._tokens, index, self._diagnostics)
                index = self._scopes.step(index)

    def _actor(self, first: int) -> tuple[Actor | None, int]:
        """The actor at `first`, None if its head is wrong; and the index from which the file is to be read on."""
        errors = len(self._diagnostics)
        head_end = self._tokens.pair_head(first + 1)
        head, test_name = self._head(first, head_end)
        if len(self._diagnostics) > errors:
            head = None
        if self._tokens.texts[head_end] != "{":
            end = min(head_end + 1, len(self._tokens)) if self._tokens.texts[head_end] == ";" else head_end
            return (self._make(first, end, head, None, None) if head else None), end
        close = self._tokens.pair_body(head_end)
        self._check_tokens(head_end, close)
        body = self._statements.body(head_end, close)
        lambdas = self._lambdas.inside(head_end, close)
        end = close + 1 if self._tokens.partner.get(head_end) == close else close
        return (self._make(first, end, head, body, test_name, lambdas) if head else None), end

    def _lambda(self, first: int) -> tuple[Actor | None, int]:
        """The lambda at `first`, which stands in no actor."""
        body = self._tokens.pair_head(first + 1)
        if self._tokens.texts[body] != "{":
            return self._lambdas.parse(first, body)
        close = self._tokens.pair_body(body)
        self._check_tokens(first, close)
        return self._lambdas.parse(first, min(close + 1, len(self._tokens)))

    def _head(self, first: int, end: int) -> tuple[Head | None, Code | None]:
        """The head as far as it can be read, and the name of a test case. Reports the faults of the head."""
        errors = len(self._diagnostics)
        self._check_tokens(first, end)
        if len(self._diagnostics) > errors:
            return None, None
        try:
            if self._tokens.texts[first] in TEST_WORDS:
                return self._tests.parse(first, end, in_class=bool(self._scopes.classes))
            return self._header.parse(first, end, self._scopes.classes), None
        except Abandoned:
            return None, None

    def _make(
        self,
        first: int,
        end: int,
        head: Head,
        body: Block | None,
        test_name: Code | None,
        lambdas: tuple[Actor, ...] = (),
    ) -> Actor:
        return Actor(
            self._tokens.span(first, end),
            template=head.template,
            attributes=tuple(head.attributes),
            is_static=head.is_static,
            is_uncancellable=head.is_uncancellable,
            result_type=head.result_type,
            return_text=head.return_text,
            qualifier=head.qualifier,
            name=head.name,
            name_span=head.name_span,
            parameters=head.parameters,
            body=body,
            enclosing_classes=self._scopes.classes,
            in_namespace=self._scopes.inside_braces,
            in_unknown=self._scopes.inside_unknown,
            index=0,
            test_name=test_name,
            lambdas=lambdas,
            frame_limit=head.frame_limit,
        )

    def _check_tokens(self, first: int, end: int) -> None:
        """Tokens that are wrong wherever they stand in an actor."""
        for index in self._tokens.of_kinds(first, end, (Kind.DIRECTIVE, Kind.BROKEN)):
            token = self._tokens.tokens[index]
            if token.kind is Kind.DIRECTIVE:
                self._refuse_directive(token.text, token.span)
            elif token.kind is Kind.BROKEN and token.text != OPEN_TO_THE_END:
                hint = "write the quote that is missing, or a raw string for several lines"
                message = "this literal has no end on its line"
                self._diagnostics.error(Fault.UNTERMINATED_LITERAL, message, token.span, hint=hint)

    def _refuse_directive(self, text: str, span: Span) -> None:
        directive = "#" + text[1:].lstrip()
        if directive.startswith(_NOT_FIRST):
            return  # its `#if` has been reported
        word = directive.split(maxsplit=1)[0]
        message = f"`{word}` cannot stand inside an actor"
        hint = "put it around the whole actor, or around a function that the actor calls"
        self._diagnostics.error(Fault.DIRECTIVE_IN_ACTOR, message, span, hint=hint)


def _numbered(actors: list[Actor]) -> tuple[Actor, ...]:
    """Number the definitions of one name, and give each declaration the number of the definition that it precedes."""
    definitions: Counter[str] = Counter()
    declarations: Counter[str] = Counter()
    numbered = []
    for actor in actors:
        counter = declarations if actor.body is None else definitions
        key = "".join(part + "_" for part in actor.enclosing_classes) + actor.class_stem
        numbered.append(replace(actor, index=counter[key]))
        counter[key] += 1
    return tuple(numbered)
