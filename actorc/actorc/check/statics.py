"""Plain `static` locals. A statement may be printed twice, and such a variable must exist once."""

from __future__ import annotations

import re

from actorc import syntax
from actorc.records import dataclass
from actorc.source import Pieces, Source, Text
from actorc.spelling import callable_type, is_constant, one_line
from actorc.syntax import Span

_STATIC = re.compile(r"static\b(?!_)")
_NOT_SHARED = re.compile(r"\b(?:thread_local|struct|class|union|enum)\b")
_DEDUCED = re.compile(r"\bauto\b")


@dataclass(frozen=True, slots=True)
class StaticVariable:
    type: str
    name: str
    value: Pieces  # what makes it: an expression or a list in braces

    @property
    def is_deduced(self) -> bool:
        """Whether the type is that of the value: `auto`, `auto*`, `auto const&`."""
        return _DEDUCED.search(self.type) is not None

    @property
    def reference(self) -> str:
        """What each place declares as its name for the one variable."""
        is_object = self.is_deduced and "&" not in self.type
        return "auto const&" if is_object and is_constant(self.type) else "auto&"

    @property
    def made(self) -> str:
        """What the lambda that makes it returns."""
        return self.type.removeprefix("const ").removesuffix(" const") if self.reference != "auto&" else self.type

    def storage(self, name: str) -> str:
        """The type of the object of that name that holds it, in one function."""
        return f"flow::DeducedStatic<struct {name}tag>" if self.is_deduced else f"flow::StaticLocal<{self.type}>"


def is_static(item: syntax.Statement, source: Source) -> bool:
    """Whether the statement declares static variables. A `constexpr` one may exist twice."""
    if not isinstance(item, syntax.Plain) or not item.locals:
        return False
    text = source[item.span]
    return _STATIC.match(text) is not None and "constexpr" not in text.split()


def static_variable(item: syntax.Plain, source: Source) -> StaticVariable | None:
    """The parts of `static T x...;`; None if it is more than one variable, or its type is unknown."""
    [local, *others] = item.locals
    text = source[item.span]
    found = re.compile(rf"\b{re.escape(local.name)}\s*(?=[=({{;])").search(text)
    if others or found is None:
        return None
    type_ = one_line(text[len("static") : found.start()])
    if _NOT_SHARED.search(type_) or not type_ or "," in _outside(type_):
        return None
    start = item.span.start + found.end()
    rest = Span(start, item.span.end - 1)
    if _DEDUCED.search(type_) and not _is_deducible(type_, text[found.end() :]):
        return None
    value: Pieces = (f"{callable_type(type_)}()",)
    if text[found.end()] == "=":
        value = (Text(source[Span(start + 1, rest.end)].strip(), source.line(start)),)
    elif rest.start < rest.end:
        value = (callable_type(type_), Text(source[rest], source.line(start)))
    return StaticVariable(type_, local.name, value)


def _is_deducible(type_: str, rest: str) -> bool:
    """Whether a lambda that returns what stands behind the `=` has a result of the deduced type."""
    has_value = rest.startswith("=") and not rest[1:].lstrip().startswith("{")
    return has_value and "<" not in type_ and "(" not in type_ and not type_.endswith("&&")


def _outside(type_: str) -> str:
    """The type without its template arguments."""
    return re.sub(r"<.*>", "", type_)
