"""Declarations of actors without `ACTOR`, as plain headers have them: what they say.

    static Future<Job> take(Queue* const& self, int const& n = 1);

They have the types that the actor's callers see. A coroutine is declared as it is defined, by value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from actorc.diagnostics import Diagnostics
from actorc.emit.signature import arguments_of
from actorc.parse.brackets import TokenList
from actorc.parse.parameters import ParameterParser
from actorc.records import dataclass
from actorc.source import Source
from actorc.syntax import Actor, Parameter, Span, Words
from actorc_migrate.enclosing import Scopes

_REFERENCE = ("&", "&&", "const")
_NO_PART = frozenset({"typename", "struct", "class"})
_ENDS_STATEMENT = frozenset({";", "{", "}", ":"})
_UNCLEAR = frozenset({"template", "virtual", "operator"})  # before a prototype
_BY_PATTERN = {"{} const&": ("&",), "{}&&": ("&&",)}


@dataclass(frozen=True, slots=True)
class Signature:
    """What tells a function from others of its name."""

    scope: tuple[str, ...]  # the namespaces and classes
    is_qualified: bool  # some of them stand before the name, so that others may be understood
    types: tuple[tuple[str, ...], ...]  # the tokens of each, without what makes it a reference
    kinds: tuple[tuple[str, ...], ...]  # the references that each may be: `&` for `const&`, `&&`; empty for a value
    is_void: bool


@dataclass(frozen=True, slots=True)
class Prototype:
    signature: Signature
    edits: tuple[tuple[Span, str], ...]  # which make all parameters values
    inside: int  # the offset behind the `(`
    void: Span | None  # the result type, if it is that
    fewest: int  # arguments

    @property
    def is_by_value(self) -> bool:
        return bool(self.signature.types) and not any(self.signature.kinds)


def by_value(parameter: Parameter, words: Words) -> list[tuple[Span, str]]:
    """The edits that make a parameter a value: none if it is one."""
    first, after_type = words.between(parameter.type.span)
    texts, end = words.texts, after_type
    while texts[end] in _REFERENCE:
        end += 1
    if end == after_type:
        return []
    behind = " " if texts[end] not in (",", ")", "...") else ""
    found = [(Span(parameter.type.span.end, words.starts[end]), behind)]
    if texts[first - 1] == "const":
        found.insert(0, (Span(words.starts[first - 1], parameter.type.span.start), ""))
    return found


def signature_of(actor: Actor, words: Words, source: Source, scopes: Scopes) -> Signature | None:
    """Of an actor; None if its declarations cannot be told from those of others."""
    scope = scopes.at(words.first(actor.name_span))
    if actor.template is not None or scope is None:
        return None
    kinds = tuple(_BY_PATTERN.get(each.pattern, ("&", "&&")) for each in arguments_of(actor, source))
    types = tuple(_tokens(parameter, words) for parameter in actor.parameters)
    return Signature((*scope, *actor.qualifier), bool(actor.qualifier), types, kinds, actor.result_type is None)


def prototype_at(name: int, tokens: TokenList, words: Words, scopes: Scopes) -> Prototype | None:
    """Of the declared function with its name at that token; None if it is not clear what it says."""
    texts, open_ = tokens.texts, name + 1
    tokens.pair_head(name)
    close = tokens.partner.get(open_)
    start = name
    while start > 0 and texts[start - 1] not in _ENDS_STATEMENT and texts[start - 1][:1] != "#":
        start -= 1
    before = texts[start:name]
    scope = scopes.at(name, only_namespaces="friend" in before)
    qualifier: tuple[str, ...] = ()
    while texts[name - 1] == "::":
        qualifier = (texts[name - 2], *qualifier)
        name -= 2
    if close is None or scope is None or not _UNCLEAR.isdisjoint(before) or texts[close + 1] != ";":
        return None

    def kind(parameter: Parameter) -> tuple[str, ...]:
        behind = words.texts[words.between(parameter.type.span)[1] :][:2]
        return ("&&",) if parameter.is_rvalue else ("&",) if "&" in behind else ()

    problems = Diagnostics()
    parameters = ParameterParser(tokens, problems).parse(open_ + 1, close)[0]
    if problems.errors:
        return None
    changes = [by_value(parameter, words) for parameter in parameters]
    if any("/" in tokens.source[span] for edits in changes for span, _ in edits):
        return None  # a comment
    types = tuple(_tokens(parameter, words) for parameter in parameters)
    void = words.span(name - 1) if texts[name - 1] == "void" else None
    return Prototype(
        Signature((*scope, *qualifier), bool(qualifier), types, tuple(map(kind, parameters)), void is not None),
        tuple(edit for edits in changes for edit in edits),
        words.span(open_).end,
        void,
        sum(parameter.default is None for parameter in parameters),
    )


def _tokens(parameter: Parameter, words: Words) -> tuple[str, ...]:
    first, end = words.between(parameter.type.span)
    return tuple(words.texts[first:end])


# ---------------------------------------------------------------------------------------------------------------------


def likeness(one: Signature, other: Signature) -> int:
    """2 if both are the same function as they are written, 1 if they can be with a `using`, else 0."""
    if one.is_void != other.is_void or len(one.types) != len(other.types):
        return 0
    found = 2
    if one.scope != other.scope:
        longer, shorter = sorted((one, other), key=lambda each: -len(each.scope))
        if not shorter.is_qualified or longer.scope[-len(shorter.scope) :] != shorter.scope:
            return 0
        found = 1
    for mine, its in zip(one.types, other.types, strict=True):
        if mine != its:
            if not _are_alike(_names(mine), _names(its)):
                return 0
            found = 1
    return found


def _names(type_: Iterable[str]) -> list[tuple[str, ...]]:
    """The tokens, with all of `a::b::c` in one."""
    found: list[tuple[str, ...]] = []
    joins = False
    for text in type_:
        if text == "::":
            joins = True
        elif text not in _NO_PART:
            is_inner = joins and found and found[-1][-1].isidentifier() and found[-1] != ("const",)
            found.append((*found.pop(), text) if is_inner else (text,))
            joins = False
    return found


def _are_alike(one: Sequence[tuple[str, ...]], other: Sequence[tuple[str, ...]]) -> bool:
    """Whether they differ only in the namespaces before names."""
    return len(one) == len(other) and all(
        mine[-len(its) :] == its or its[-len(mine) :] == mine for mine, its in zip(one, other, strict=True)
    )
