"""Words of C++ and of the actor language that the parser must know."""

from __future__ import annotations

ACTOR_WORDS = frozenset({"ACTOR", "SWIFT_ACTOR"})

CONTROL = frozenset({
    "if", "else", "for", "while", "do", "switch", "case", "default", "break", "continue", "return", "goto", "throw",
    "try", "catch", "co_await", "co_return", "co_yield",
})  # fmt: skip

BUILTIN_TYPES = frozenset({
    "void", "bool", "char", "char8_t", "char16_t", "char32_t", "wchar_t", "short", "int", "long", "signed",
    "unsigned", "float", "double",
})  # fmt: skip

SPECIFIERS = frozenset({
    "const", "volatile", "static", "constexpr", "constinit", "consteval", "thread_local", "inline", "register",
    "mutable", "extern", "typename",
})  # fmt: skip

CLASS_KEYS = frozenset({"class", "struct", "union"})

_OTHER = frozenset({
    "alignas", "alignof", "asm", "auto", "concept", "const_cast", "decltype", "delete", "dynamic_cast", "enum",
    "explicit", "export", "false", "friend", "namespace", "new", "noexcept", "nullptr", "operator", "private",
    "protected", "public", "reinterpret_cast", "requires", "sizeof", "static_assert", "static_cast", "template",
    "this", "true", "typedef", "typeid", "using", "virtual",
})  # fmt: skip

# Words that can never name a variable, a type or an actor.
KEYWORDS = CONTROL | BUILTIN_TYPES | SPECIFIERS | CLASS_KEYS | _OTHER

# Keywords after which an expression begins: `return wait(f)` is a use of wait, `void wait(f)` declares it.
BEFORE_OPERAND = frozenset({
    "return", "throw", "else", "do", "case", "co_return", "co_await", "co_yield", "and", "or", "not", "delete", "new",
    "sizeof", "goto",
})  # fmt: skip

# Types that are known by name to need no destruction.
ARITHMETIC_ALIASES = frozenset({
    "size_t", "ssize_t", "ptrdiff_t", "intptr_t", "uintptr_t", "intmax_t", "uintmax_t", "byte", "nullptr_t",
    *(
        f"{sign}int{speed}{width}_t"
        for sign in ("", "u")
        for speed in ("", "_fast", "_least")
        for width in (8, 16, 32, 64)
    ),
})  # fmt: skip


def spellings_near(word: str) -> frozenset[str]:
    """A word with a capital, with two letters exchanged, with one letter left out, or with one letter twice."""
    found = {word.capitalize()}
    for index in range(len(word)):
        found.add(word[:index] + word[index + 1 :])
        found.add(word[:index] + word[index] + word[index:])
        found.add(word[:index] + word[index + 1 : index + 2] + word[index] + word[index + 2 :])
    return frozenset(found - {word})


def begins_captures(texts: list[str], index: int) -> bool:
    """Whether the `[` at `index` begins a lambda.

    Nothing that can be indexed stands before it, no `auto` that is unpacked and no `delete`; `[[` begins an attribute.
    """
    if texts[index + 1] == "[" or texts[index - 1] == "[":
        return False
    before = index - 1
    if texts[before] in ("&", "&&"):
        before -= 1
    text = texts[before]
    is_name = text[:1].isalpha() or text[:1] == "_"
    return text not in (")", "]", "delete") and (not is_name or text in BEFORE_OPERAND)
