"""Facts that the text of a type or a condition shows, and how to write it elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator

from actorc.words import ARITHMETIC_ALIASES, BEFORE_OPERAND, BUILTIN_TYPES

_STRING = r"R\"(?P<mark>[^(]*)\(.*?\)(?P=mark)\"|\"(?:\\.|[^\"\\])*\"|(?<!\w)'(?:\\.|[^'\\])*'"
_LITERAL = re.compile(_STRING, re.DOTALL)
_BLANK = re.compile(rf"(?P<literal>{_STRING})|(?://[^\n]*|/\*.*?\*/|\s+)+", re.DOTALL)
_SIMPLE_TYPE = re.compile(r"(?:::)?\w+(?:::\w+)*")
_ASSIGNABLE = re.compile(
    r"std::(?:string|string_view|exception_ptr|(?:vector|deque|list|map|multimap|set|multiset|unordered_\w+|basic_string"
    r"|optional|shared_ptr|weak_ptr|unique_ptr|function)\s*<.*>)"
    r"|(?:flow::)?(?:Error|Void|(?:Future|Promise|FutureStream|PromiseStream)\s*<.*>)"
)
_PLAIN = (
    r"(?:(?:flow::)?(?:Void|Error|UnitTestParameters)|std::string|bool|char|int|unsigned|long|float|double"
    r"|u?int(?:8|16|32|64)_t)"
)
_KNOWN = re.compile(rf"{_PLAIN}|(?:flow::)?(?:Future|Promise|FutureStream|PromiseStream)<{_PLAIN}>")
_NAME_USED = re.compile(r"(?:(?<!\.)\.\s*|->\s*|::\s*)?\b([^\W\d]\w*)")
_DECLARED = re.compile(r"([\w:<>,\s*&]*[\w>*&])\s+[*&]*\s*(\w+)\s*(?:=(?!=)|\{)")
_INNERMOST = re.compile(r"\([^(){}\[\]]*\)|\{[^(){}\[\]]*\}|\[[^(){}\[\]]*\]|<[^(){}\[\]<>;]*>")
_DECLARATOR = re.compile(r"(?:\$ ?)*((?:[\w:$#]+ )*[\w:$#]+)( ?[*&][*& ]*(?:const )?| )(\w+) ?(=(?!=)|#|@)")
_NEXT_DECLARATOR = re.compile(r", ?[*&]* ?(\w+) ?(?==(?!=)|#|@|,|$)")
_NO_TYPES = BEFORE_OPERAND | {"xor", "bitand", "bitor", "compl", "static", "thread_local", "extern"}
_LAMBDA = re.compile(r"(?:^|[^\w\])\s])\s*\[|\b(?:SWIFT_)?ACTOR\b")
_PARAMETERS = re.compile(r"\]\s*\(([^()]*)\)\s*(?:mutable\s*)?(?:->\s*[\w:<>]+\s*)?\{")  # of a lambda
_PARAMETER = re.compile(r"(\w+)\s*(?:,|$)")
_VOID = re.compile(r"(?:(?:::\s*)?flow\s*::\s*)?Void")


def one_line(text: str) -> str:
    """The same C++ on one line, without comments."""
    return _BLANK.sub(lambda match: match["literal"] or " ", text).strip()


def is_trivial(type_: str) -> bool:
    """Whether the text proves that destroying such an object does nothing."""
    if type_.endswith("*"):
        return True
    words = [word for word in type_.replace("::", " ").split() if word not in ("const", "std")]
    return bool(words) and all(word in BUILTIN_TYPES or word in ARITHMETIC_ALIASES for word in words)


def is_known(type_: str) -> bool:
    """Whether the text proves that C++ knows the type: it is built in, or of Flow."""
    return is_trivial(type_) or _KNOWN.fullmatch(type_) is not None


def is_constant(type_: str) -> bool:
    """Whether the text says that such an object cannot be assigned to: `const T`, `T const`, `T* const`."""
    if type_.endswith("const"):
        return True
    return type_.startswith("const ") and not type_.endswith("*")


def by_reference(type_: str) -> str:
    """What follows the type of a handler that is to catch the same by reference: pointers convert to one to const."""
    if type_.endswith("&"):
        return ""
    is_const = is_constant(" ".join(one_line(type_).replace("volatile", " ").split()))
    return "&" if is_const else " const&"


def is_assignable(type_: str) -> bool:
    """Whether the text proves that such an object has a default constructor and can be assigned to."""
    return is_trivial(type_) or _ASSIGNABLE.fullmatch(type_) is not None


def fits_frame(type_: str) -> bool:
    """Whether the text proves that such an object is aligned to 16 bytes at most."""
    return is_known(type_) or (is_assignable(type_) and not type_.startswith("std::optional"))


def is_void(type_: str) -> bool:
    """Whether a type is spelt as flow::Void."""
    return _VOID.fullmatch(type_.strip()) is not None


def is_void_value(expression: str) -> bool:
    """`Void()`"""
    text = "".join(expression.split())
    return text.endswith(("()", "{}")) and is_void(text[:-2])


def callable_type(type_: str) -> str:
    """A spelling of the type that can stand before `(...)` or `{...}` in an expression."""
    is_simple = _SIMPLE_TYPE.fullmatch(_without_arguments(type_)) is not None
    return type_ if is_simple else f"std::type_identity_t<{type_}>"


def _without_arguments(type_: str) -> str:
    first, last = type_.find("<"), type_.rfind(">")
    return type_ if first < 0 else type_[:first] + type_[last + 1 :]


def declares(condition: str) -> bool:
    """Whether a condition declares a variable: `if (T x = f())`, `if (T x = f(); x > 0)`."""
    text = _LITERAL.sub('""', one_line(condition))
    return _find_outside(text, ";") or _DECLARED.match(text) is not None


def declared_names(head: str) -> Iterator[str]:
    """What the head of a statement declares, unless destroying it does nothing or it outlives the head."""
    for part in _without_insides(_LITERAL.sub('""', one_line(head))).split(";"):
        found = _DECLARATOR.match(part.strip())
        if found is None:
            continue
        type_, operators, name, opener = found.groups()
        is_expression = (opener == "#" and operators.strip()) or not _NO_TYPES.isdisjoint(type_.split())
        if not is_expression and not is_trivial(f"{type_}{operators}".strip()):
            yield name
            yield from _NEXT_DECLARATOR.findall(part.strip(), found.end())


def _without_insides(text: str) -> str:
    """With `#` for each `(...)`, `@` for each `{...}` and `$` for other brackets."""
    before = ""
    while text != before:
        before = text
        text = _INNERMOST.sub(lambda match: {"(": "#", "{": "@"}.get(match[0][0], "$"), text)
    return text


def names_in(expression: str) -> frozenset[str]:
    """The names that an expression looks up where it stands, and some that only seem to be looked up."""
    text = _LITERAL.sub('""', one_line(expression))
    own = {name for found in _PARAMETERS.finditer(text) for name in _PARAMETER.findall(found[1])}
    used = (match for match in _NAME_USED.finditer(text) if not match[0].startswith((".", "->", "::")))
    return frozenset(match[1] for match in used) - own


def has_lambda(expression: str) -> bool:
    """Whether a lambda stands in an expression."""
    return _LAMBDA.search(_LITERAL.sub('""', one_line(expression))) is not None


def may_read_as_parameters(arguments: str, *, is_one: bool) -> bool:
    """Whether C++ might take `T x(arguments);` for the declaration of a function, which parentheses can prevent.

    They cannot be put around several arguments; but then each would have to look like a parameter. `is_one`: there is
    one argument, so that commas stand inside it.
    """
    return "(" in arguments and (is_one or not _find_outside(arguments, ","))


def _find_outside(text: str, wanted: str) -> bool:
    """Whether a character stands outside all brackets."""
    depth = 0
    for character in text:
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == wanted and not depth:
            return True
    return False
