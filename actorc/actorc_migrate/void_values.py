"""Values of an actor that may be a Void.

A coroutine of Future<Void> ends by `co_return;`, and its co_await of a Future<Void> gives nothing. A template with a T
that may be Void uses such values: it needs a parameter `ExplicitVoid = {}`, and ends by `co_return Void();`.
"""

from __future__ import annotations

import re

from actorc import syntax
from actorc.source import Source
from actorc.spelling import is_void, one_line
from actorc.syntax import Actor, Block, Code, Result, ResultKind

_TEMPLATE_PARAMETER = r"\b(?:class|typename)\s+{}\b"
_ALIAS_OF_VOID = r"\busing\s+{0}\s*=\s*(?:\w+::)*Void\s*;|\btypedef\s+(?:\w+::)*Void\s+{0}\s*;"
_IS_A_CLASS = re.compile(r"[>*&]$")  # at the end of a type: it is none of the names in it


class VoidValues:
    def __init__(self, actor: Actor, body: Block, source: Source) -> None:
        self._actor = actor
        self._source = source
        self.ends: list[int] = []  # the offsets behind a `co_return` that gives nothing
        result = self._text(actor.result_type)
        inner = list(syntax.walk(body))
        results = [wait.result for each in inner for wait in syntax.waits_of(each) if wait.result is not None]
        # `co_return co_await f;` compiles where co_await gives nothing, too.
        kept = [each for each in results if each.kind is not ResultKind.RETURN]
        returns = any(isinstance(each, syntax.Return) and each.value is not None for each in inner)
        self.returns_one = self._may_be_void(result) and (returns or bool(kept))
        self.takes_one = is_void(result) and any(map(self._may_take, kept))

    @property
    def need_parameter(self) -> bool:
        """Whether an instantiation for Void compiles only with the parameter ExplicitVoid."""
        return self.returns_one or self.takes_one

    def _text(self, code: Code | None) -> str:
        return "" if code is None else one_line(self._source[code.span])

    def _may_take(self, result: Result) -> bool:
        return self._may_be_void(self._text(result.type)) if result.type else self._actor.template is not None

    def _may_be_void(self, type_: str) -> bool:
        """Whether a type is a template parameter, or comes from one, or is a Void under another name."""
        if not type_ or is_void(type_) or _IS_A_CLASS.search(type_):
            return False
        names = re.findall(r"\w+", type_)
        if re.search(_ALIAS_OF_VOID.format(names[-1]), self._source.text):
            return True
        if any(each.name in names for each in self._actor.template or ()):
            return True
        is_member = bool(self._actor.enclosing_classes or self._actor.qualifier)
        return is_member and any(re.search(_TEMPLATE_PARAMETER.format(name), self._source.text) for name in names)
