"""Errors of clang that need other words, or a hint: what a beginner writes in a coroutine or an actor."""

from __future__ import annotations

import re

from actorc.diagnostics import Edit, Fix
from actorc.records import dataclass
from actorc.syntax import Span

_VALUE_IN_VOID = re.compile(r"no member named 'return_value' in '.*\bCoroPromise<flow::Void\b.*'")
_NO_VALUE = re.compile(r"no member named 'return_void' in '.*\bCoroPromise<.*'")
_PLAIN_RETURN = re.compile(r"return statement not allowed in coroutine\b.*")
_FUTURE = "of a promise, it is `getFuture()`"
_WAITS = {
    "no matching function for call to 'wait'": "`wait` takes a future; the next value of a stream is `waitNext(...)`; "
    + _FUTURE,
    "no matching function for call to 'waitNext'": "`waitNext` takes a FutureStream; a future is for `wait(...)`; "
    + _FUTURE,
}
_NO_TYPE = "a type specifier is required for all declarations"
_TEST_CASES = {"TESTCASE", "TEST_CASES", "TEST_CSAE", "TEST_CAES", "TEST_CAS", "TestCase", "test_case"}
_SHORT = re.compile(r"use of undeclared identifier '(?:ASSERT|ASSERT_\w+|CODE_PROBE|UNREACHABLE)'")
_INCLUDE = '`#include "flow/test.h"`, which has this name; with the prefix `FLOW_` it comes with flow/flow.h'
_WORD = re.compile(r"\w+")
_VOID = re.compile(r"(?:(?:::)?flow::)?Void\s*(?:\(\s*\)|\{\s*\})")
_RETURN = re.compile(r"(?:co_)?return\b\s*(?P<value>[^;]*?)\s*;")


@dataclass(frozen=True, slots=True)
class Explained:
    message: str
    hint: str | None = None
    fixes: tuple[Fix, ...] = ()


def explained(message: str, text: str, start: int) -> Explained:
    """What to say for clang's `message` about the place `start` of `text`."""
    if message in _WAITS:
        return Explained(message, _WAITS[message])
    if message == _NO_TYPE and (word := _WORD.match(text, start)) and word[0] in _TEST_CASES:
        place = Span(word.start(), word.end())
        fix = Fix("write `TEST_CASE`", (Edit(place, "TEST_CASE"),))
        return Explained(f"unknown word `{word[0]}`; did you mean `TEST_CASE`?", None, (fix,))
    if _SHORT.fullmatch(message) or (message == _NO_TYPE and text.startswith("TEST_CASE(", start)):
        return Explained(message, _INCLUDE)
    if _NO_VALUE.fullmatch(message):
        return Explained("`co_return` without a value, in a coroutine that gives one", "write `co_return VALUE;`")
    found = _RETURN.match(text, start)
    is_void = found is not None and _VOID.fullmatch(found["value"]) is not None
    if _VALUE_IN_VOID.fullmatch(message):
        hint = "write `co_return;`, or leave it out at the end"
        if not is_void:
            value = found["value"] if found is not None else "..."
            hint = f"if `{value}` is a future, write `co_return co_await {value};`"
        return Explained("a coroutine that gives a `Future<Void>` returns no value", hint, _fixes(found, is_void, ""))
    if _PLAIN_RETURN.fullmatch(message):
        hint = "write `co_return;`, or leave it out at the end" if is_void else "write `co_return`"
        value = found["value"] if found is not None else ""
        message = "a coroutine returns with `co_return`: `return` belongs to actors and ordinary functions"
        return Explained(message, hint, _fixes(found, True, "" if is_void else value))
    return Explained(message)


def _fixes(found: re.Match[str] | None, is_sure: bool, value: str) -> tuple[Fix, ...]:
    if found is None or not is_sure:
        return ()
    statement = f"co_return {value};" if value else "co_return;"
    return (Fix(f"write `{statement}`", (Edit(Span(found.start(), found.end()), statement),)),)
