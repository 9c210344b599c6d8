"""The classes and enums of a file with a destruction that cannot be observed, as far as its text shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from actorc.records import dataclass
from actorc.spelling import one_line
from actorc_migrate.spelling import is_harmless

_STRING = re.compile(r"\"(?:\\.|[^\"\\])*\"|(?<!\w)'(?:\\.|[^'\\])*'")
_CLASS = re.compile(
    r"(?P<template>\btemplate\s*<[^;{}]*>\s*)?\b(?P<key>enum(?: class| struct)?|struct|class|union) "
    r"(?P<name>\w+) ?(?:final ?)?(?P<base>:[^;{}()]*)?\{"
)
_ALIAS = re.compile(r"\busing (\w+) ?=|\btypedef [^;]*?\b(\w+) ?;")
_BRACES = re.compile(r"\{[^{}]*\}")
_ANGLES = re.compile(r"<[^<>]*>")
_ACCESS = re.compile(r"\b(?:public|private|protected) ?:(?!:)|\[\[.*?\]\]")
_NO_MEMBER = re.compile(
    r"(?:(?:using|typedef|friend|static|enum|struct|class|template|inline static|static_assert)\b|.*\boperator\b)"
)
_MEMBER = re.compile(r"(?:mutable )?(.+?[>\s*&]) ?(\w+(?: ?, ?\w+)*)(?: ?\[[^\]]*\])*(?: ?: ?\d+)?")


@dataclass(frozen=True, slots=True)
class PlainClasses:
    harmless: frozenset[str]  # a destruction of such an object cannot be observed
    assignable: frozenset[str]  # neither can its default construction, nor an assignment to it


@lru_cache(maxsize=1)  # cached, since all actors of a file call it one after the other
def plain_classes(text: str) -> PlainClasses:
    members: dict[str, list[str] | None] = {}  # of a name: the types of what it is made of; None: there is more
    constructed: set[str] = set()
    for name, types, is_constructed in _declared(_STRING.sub('""', one_line(text))):
        members[name] = None if name in members else types
        if is_constructed:
            constructed.add(name)
    harmless: set[str] = set()
    found = True
    while found:
        own = frozenset(harmless)
        found = False
        for name, types in members.items():
            if name not in own and types is not None and all(is_harmless(type_, own) for type_ in types):
                harmless.add(name)
                found = True
    return PlainClasses(frozenset(harmless), frozenset(harmless - constructed))


def _declared(text: str) -> Iterator[tuple[str, list[str] | None, bool]]:
    """Each with whether there is something to see when one is made or assigned to."""
    for match in _ALIAS.finditer(text):
        yield match[1] or match[2], None, True  # which spelling.py knows if it is a reference
    for match in _CLASS.finditer(text):
        name = match["name"]
        if match["key"].startswith("enum"):
            yield name, [], False
        elif match["template"] or match["base"] or match["key"] == "union":
            yield name, None, True
        else:
            body = text[match.end() : _close(text, match.end())]
            types = _member_types(body)
            is_constructed = re.search(rf"\b{name} ?\(|=[^;]*\(|\bdelete\b", body) is not None
            is_fixed = any(type_.endswith("&") or "const" in type_.split() for type_ in types or ())
            yield name, types, is_constructed or is_fixed


def _close(text: str, start: int) -> int:
    """The offset of the `}` for a `{` in front of an offset."""
    depth = 1
    for match in re.compile(r"[{}]").finditer(text, start):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.start()
    return len(text)


def _member_types(body: str) -> list[str] | None:
    if re.search(r"[~#]|\bvirtual\b", body):
        return None
    before = ""
    while before != body:
        before, body = body, _BRACES.sub(";", body)
    types = []
    for each in body.split(";"):
        piece = _ACCESS.sub("", each).strip()
        if not piece or _NO_MEMBER.match(piece):
            continue
        piece = piece.partition("=")[0].strip()
        bare, before = piece, ""
        while before != bare:
            before, bare = bare, _ANGLES.sub("", bare)
        if "(" in bare:
            continue  # a function
        member = _MEMBER.fullmatch(piece)
        if member is None:
            return None
        types.append(member[1].strip())
    return types
