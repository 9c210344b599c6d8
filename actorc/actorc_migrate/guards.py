"""Reduces the two include guards of an actor header to the one that a plain header needs.

#if defined(NO_INTELLISENSE) && !defined(X_ACTOR_G_H)      #ifndef X_H
#define X_ACTOR_G_H                                        #define X_H
#include "x.actor.g.h"
#elif !defined(X_ACTOR_H)
#define X_ACTOR_H
...                                                        ...
#endif                                                     #endif
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from actorc.records import dataclass
from actorc_migrate.directives import Directive

_BUILD = r"defined ?\(? ?NO_INTELLISENSE ?\)?"
_NOT_GENERATED = r"! ?defined ?\(? ?(\w+) ?\)?"
_FIRST = (
    re.compile(rf"if {_BUILD} ?&& ?{_NOT_GENERATED}"),
    re.compile(rf"if {_NOT_GENERATED} ?&& ?{_BUILD}"),
)
_SECOND = re.compile(rf"elif {_NOT_GENERATED}")
_ACTOR = re.compile(r"_?ACTOR(?=_|$)|^ACTOR_")


@dataclass(frozen=True, slots=True)
class Guards:
    """The directives, and the macro that keeps the source from being read twice."""

    first: Directive  # the #if
    last: Directive  # the #define of the macro
    end: Directive  # the #endif
    macro: str
    has_pragma: bool  # `#pragma once` stands above: then no macro is needed

    def new_macro(self, taken: Collection[str]) -> str | None:
        """The author's without ACTOR; None if that is in use."""
        name = _ACTOR.sub("", self.macro)
        return name if name == self.macro or name not in taken else None


def mentions_build(directives: Sequence[Directive]) -> bool:
    return any("NO_INTELLISENSE" in each.text for each in directives)


def find_guards(directives: Sequence[Directive]) -> Guards | None:
    """None where there are none, or others than these."""
    codes = [each.code for each in directives]
    for index, code in enumerate(codes):
        match = next(filter(None, (pattern.fullmatch(code) for pattern in _FIRST)), None)
        if match is None:
            continue
        if index + 4 >= len(codes) or codes[index + 1] != f"define {match[1]}":
            return None
        second = _SECOND.fullmatch(codes[index + 3])
        is_sent = codes[index + 2].startswith("include") and ".actor.g." in codes[index + 2]
        if second is None or not is_sent or codes[index + 4] != f"define {second[1]}":
            return None
        end = _end(codes, index)
        if end is None:
            return None
        has_pragma = "pragma once" in codes[:index]
        return Guards(directives[index], directives[index + 4], directives[end], second[1], has_pragma)
    return None


def _end(codes: Sequence[str], start: int) -> int | None:
    """The #endif, if no other branch stands before it."""
    depth = 0
    for index in range(start, len(codes)):
        code = codes[index]
        depth += code.startswith("if") - code.startswith("endif")
        if depth == 0:
            return index
        if depth == 1 and code.startswith("el") and index > start + 3:
            return None
    return None
