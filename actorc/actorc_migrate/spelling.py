"""Facts that a migration needs and that the text of types and operands shows."""

from __future__ import annotations

import re
from functools import lru_cache

from actorc.spelling import is_assignable, is_trivial, one_line
from actorc.syntax import Span, Words
from actorc_migrate.settings import Settings

# Classes with a destruction that cannot be observed: they hold numbers and bytes.
_BYTES = (
    r"std::(?:string|string_view|basic_string<char>|monostate|byte|error_code|chrono::\w+)"
    r"|StringRef|(?:Key|Value|KeyRange|KeyValue|KeySelector|RangeResult)(?:Ref)?|MutationRef|Version|UID|Void|Error"
    r"|NetworkAddress|IPAddress|GetRangeLimits|TaskPriority"
)
_BYTES_OF = re.compile(
    r"(?:std::(?:vector|deque|list|set|map|multimap|multiset|unordered_\w+|optional|pair|array|tuple|variant)"
    r"|Optional|ErrorOr|VectorRef|Standalone)\s*<(.*)>"
)
_ITERATOR = re.compile(r"(?:typename )?[\w:<>, *]+::(?:const_)?(?:reverse_)?iterator")
_HARMLESS = re.compile(rf"(?:const\s+)?(?:flow::)?(?:{_BYTES})(?:\s+const)?")
_PLAIN = re.compile(r"(?:flow::)?(?:Void|Error)|std::string_view|(?:Optional|VectorRef)\s*<.*>|\w*(?:Ref|Key|Value)")
_NUMBER = re.compile(r"\d+")
_KNOWN_ASSIGNABLE = re.compile(
    r"(?:Reference|Optional|Standalone|VectorRef|AsyncVar|Deque)\s*<.*>|\w*(?:Ref|Key|Value)"
)
_LITERAL = re.compile(r"-?(?:\d[\w.']*|\.\d+f?)|true|false|nullptr|'.'|\"(?:\\.|[^\"\\])*\"")
_INNERMOST = re.compile(r"\([^(){}]*\)|\{[^(){}]*\}")
_PLAIN_CALL = re.compile(
    r"(?:[\w.:]|->)*\b(?:c?r?begin|c?r?end|lower_bound|upper_bound|size|length|count|empty|now|timer|code|c_str)#"
)
_CAST = re.compile(r"\w+_cast<([\w:<>, *]+)>#|([\w:<>, *]+)#")
_MADE = re.compile(r"(?:flow :: )?Future <[\w:<>, *]*>")
_OPEN = frozenset({"(", "[", "{"})
_CLOSE = frozenset({")", "]", "}"})
_OPERATORS = frozenset(
    {"||", "&&", "|", "&", "+", "-", "/", "%", "<", ">", "==", "!=", "<=", ">=", "<<", ">>", "^", "="}
)
_DECLARED_TYPE = re.compile(
    r"\busing\s+(\w+)\s*=([^;]*);|\btypedef\b([^;]*?)(\w+)\s*;|\b(?:class|struct|union|enum|typename)\s+(\w+)"
)
_LAST_NAME = re.compile(r"(\w+)(?:\s*<.*>)?(?:\s+const)?$")
_SEES_FLOW = re.compile(r"\busing\s+namespace\s+(?:::\s*)?flow\s*;")
_NAMED = r"(?:Future|FutureStream|Promise|PromiseStream|Void|Never|Error|delay|yield)\b"
_QUALIFIED = re.compile(rf"\bflow\s*::\s*{_NAMED}")
_BARE = re.compile(rf"(?<!::)\b(?<!:: ){_NAMED}")


def detached(library: str, settings: Settings) -> str:
    """What a void actor returns as a coroutine; `library` is the prefix of names."""
    return f"{library}Future<{library}Void>" if settings.is_foundationdb else "flow::coro::Detached"


@lru_cache(maxsize=1)  # cached, since all actors of a file call it one after the other
def sees_flow(text: str) -> bool:
    """Whether names of the library need no `flow::` in front."""
    return _SEES_FLOW.search(text) is not None


def qualifies(text: str) -> bool:
    """Whether a file writes `flow::` in front of names of the library."""
    return _QUALIFIED.search(text) is not None


def library_in(text: str, settings: Settings) -> str:
    """What a file must write in front of names of the library: `flow::` or nothing. Another library than ours may have
    no such namespace; then the file, or other files, show how its names are written."""
    if sees_flow(text):
        return ""
    if not settings.is_foundationdb or qualifies(text):
        return "flow::"
    return "flow::" if settings.qualifies and not _BARE.search(text) else ""


def is_harmless(type_: str, own: frozenset[str] = frozenset()) -> bool:
    """Whether the text proves that the destruction of such an object cannot be observed. `own`: classes of the file
    for which it does."""
    type_ = one_line(type_)
    if type_.endswith("&") or is_trivial(type_) or _HARMLESS.fullmatch(type_) is not None:
        return True
    type_ = type_.removeprefix("const ").removesuffix(" const")
    if type_ in own or _ITERATOR.fullmatch(type_) is not None:
        return True
    made_of = _BYTES_OF.fullmatch(type_)
    if made_of is None:
        return False
    return all(is_harmless(part, own) or _NUMBER.fullmatch(part) is not None for part in arguments(made_of[1]))


def is_plain_value(value: str, own: frozenset[str]) -> bool:
    """Whether an expression surely is a number, a pointer, an iterator, or of a type that is harmless."""
    if _LITERAL.fullmatch(value) or (value.startswith("&") and value[1:].replace("->", ".").replace(".", "").isalnum()):
        return True
    flat, before = value, ""
    while before != flat:
        before, flat = flat, _INNERMOST.sub("#", flat)
    if _PLAIN_CALL.fullmatch(flat):
        return True
    cast = _CAST.fullmatch(flat)
    return cast is not None and is_harmless(cast[1] or cast[2], own)


def is_alias_of_reference(type_: str, text: str) -> bool:
    """Whether the file `text` declares a type as a reference."""
    last = _LAST_NAME.search(type_)
    return last is not None and last[1] in _references_in(text)


@lru_cache(maxsize=1)  # cached, since all actors of a file call it one after the other
def _references_in(text: str) -> frozenset[str]:
    """The names that a file declares as references and as nothing else: `using Ref = int&;`, `typedef int& Ref;`."""
    found: dict[str, bool] = {}
    for alias, meant, before, defined, other in _DECLARED_TYPE.findall(one_line(text)):
        name, type_ = alias or defined or other, (meant or before).strip()
        last = _LAST_NAME.search(type_)
        is_one = type_.endswith("&") or (last is not None and found.get(last[1], False))
        found[name] = is_one and found.get(name, True)
    return frozenset(name for name, is_one in found.items() if is_one)


def arguments(text: str) -> list[str]:
    """What commas outside of brackets separate."""
    found, depth, start = [], 0, 0
    for index, character in enumerate(text):
        if character in "<([{":
            depth += 1
        elif character in ">)]}":
            depth -= 1
        elif character == "," and not depth:
            found.append(text[start:index].strip())
            start = index + 1
    found.append(text[start:].strip())
    return found


def is_surely_assignable(type_: str) -> bool:
    """Whether such an object can be default-constructed and assigned to, as far as its name shows."""
    if type_.startswith("ErrorOr") or _ITERATOR.fullmatch(type_) is not None:
        return False
    return is_assignable(type_) or is_harmless(type_) or _KNOWN_ASSIGNABLE.fullmatch(type_) is not None


def is_surely_empty(type_: str) -> bool:
    """Whether `T x;` surely gives it a value: its class is known to have a default constructor."""
    return not is_trivial(type_) and not type_.startswith("std::array") and is_assignable(type_)


def may_go_unused(type_: str) -> bool:
    """Whether a C++ compiler may warn that nothing reads a variable of this type. It does not for classes with a
    destructor that does something; these types are known to have one."""
    has_destructor = is_surely_empty(type_) or _KNOWN_ASSIGNABLE.fullmatch(type_) is not None
    return not has_destructor or _PLAIN.fullmatch(type_) is not None


def converts(type_: str, value: str) -> bool:
    """Whether `T x = value;` surely does what `T x(value);` does."""
    if is_surely_assignable(type_) or "auto" in type_.split() or type_.endswith(("&", "*")):
        return True
    return value.startswith((f"{type_}(", f"{type_}{{"))


class Operand:
    """How an operand of a wait can stand behind `co_await`."""

    def __init__(self, words: Words, span: Span) -> None:
        first, end = words.between(span)
        self.texts = words.texts[first:end]
        self._first, self._words = first, words

    @property
    def is_name(self) -> bool:
        """A variable, or a member of one: to evaluate it makes nothing."""
        texts = self.texts
        if len(texts) % 2 == 0:
            return False
        return all(_is_word(text) if place % 2 == 0 else text in (".", "->", "::") for place, text in enumerate(texts))

    @property
    def is_plain(self) -> bool:
        """A name, or the call of a function with arguments that make no object: no temporary but the future."""
        return self.is_name or self._is_call(0, len(self.texts)) or self._is_sum()

    @property
    def needs_parentheses(self) -> bool:
        """Whether there is an operator that binds less than co_await, outside of all brackets."""
        depth = 0
        if self._is_made:
            return False
        for place, text in enumerate(self.texts):
            depth += (text in _OPEN) - (text in _CLOSE)
            if depth == 0 and place and (text in _OPERATORS or text in ("*", "?", ",", "|=", "and", "or")):
                return not self._is_call(0, len(self.texts))
        return False

    @property
    def is_wrapped(self) -> bool:
        """Whether it stands in a lambda, in any style: gcc 12 fails at these within a co_await."""
        return "?" in self.texts or "{" in self.texts

    @property
    def _is_made(self) -> bool:
        """`Future<T>(x)`"""
        open_ = self.texts.index("(") if "(" in self.texts else 0
        depth = 0
        for place, text in enumerate(self.texts):
            depth += (text == "(") - (text == ")")
            if place >= open_ and depth == 0 and place + 1 < len(self.texts):
                return False
        return _MADE.fullmatch(" ".join(self.texts[:open_])) is not None

    def mentions(self, name: str) -> bool:
        return any(
            text == name and (not place or self.texts[place - 1] not in (".", "->", "::"))
            for place, text in enumerate(self.texts)
        )

    def _is_sum(self) -> bool:
        """`a && b` of names."""
        places = [place for place, text in enumerate(self.texts) if text in ("&&", "||")]
        pieces = zip([-1, *places], [*places, len(self.texts)], strict=True)
        return bool(places) and all(_is_chain(self.texts[start + 1 : end]) for start, end in pieces)

    def _is_call(self, start: int, end: int) -> bool:
        """`a->b.f<T>(x, y.z, 3)`"""
        texts = self.texts[start:end]
        if not texts or texts[-1] != ")":
            return False
        depth, open_ = 0, -1
        for place in range(len(texts) - 1, -1, -1):
            depth += (texts[place] == ")") - (texts[place] == "(")
            if depth == 0:
                open_ = place
                break
        callee = texts[:open_]
        if callee[-1:] == [">"] and "<" in callee:
            callee = callee[: callee.index("<")]
        inner = texts[open_ + 1 : -1]
        return _is_chain(callee) and not {"(", "{", "[", "?"} & set(inner)


def _is_chain(texts: list[str]) -> bool:
    if len(texts) % 2 == 0:
        return False
    return all(_is_word(text) if place % 2 == 0 else text in (".", "->", "::") for place, text in enumerate(texts))


def _is_word(text: str) -> bool:
    return text.isidentifier()
