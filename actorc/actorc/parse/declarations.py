"""What a C++ statement declares, found by its tokens alone.

Names cannot be looked up here, so this follows two rules: where a statement may be a declaration it is taken for
one (`a * b;`), and a variable is taken to need destruction unless its tokens prove that it does not.
"""

from __future__ import annotations

from actorc.parse.brackets import TokenList
from actorc.records import dataclass
from actorc.syntax import Local
from actorc.words import ARITHMETIC_ALIASES, BUILTIN_TYPES, CLASS_KEYS, KEYWORDS, SPECIFIERS

_POINTERS = frozenset({"*", "&", "&&"})
_STORED_ELSEWHERE = frozenset({"static", "constexpr", "thread_local", "constinit"})
_CALLS = frozenset({"(", "{"})
_AFTER_NAME = frozenset({"=", "(", "{", "[", ",", ";", ":", ""})


@dataclass(frozen=True, slots=True)
class Base:
    """The part of a declaration that all its declarators share."""

    end: int
    trivial: bool
    is_auto: bool
    is_static: bool = False  # or the like: its objects live as long as the program


def skip_attributes(tokens: TokenList, index: int, end: int) -> int:
    """Past any `[[...]]` and `alignas(...)`."""
    texts = tokens.texts
    while index < end:
        if texts[index] == "[" and texts[index + 1] == "[" and index in tokens.partner:
            index = tokens.partner[index] + 1
        elif texts[index] == "alignas" and index + 1 in tokens.partner:
            index = tokens.partner[index + 1] + 1
        else:
            break
    return index


def read_base(tokens: TokenList, index: int, end: int) -> Base | None:
    """The type that begins at `index`, with its specifiers; None if none can begin there."""
    texts = tokens.texts
    stored_elsewhere = False
    while index < end and texts[index] in SPECIFIERS:
        stored_elsewhere |= texts[index] in _STORED_ELSEWHERE
        index += 1
    found = _read_type_name(tokens, index, end)
    if found is None:
        return None
    index = found.end
    while index < end and texts[index] in SPECIFIERS | BUILTIN_TYPES:
        stored_elsewhere |= texts[index] in _STORED_ELSEWHERE  # `T static x`
        index += 1
    return Base(index, found.trivial or stored_elsewhere, found.is_auto, stored_elsewhere)


def _read_type_name(tokens: TokenList, index: int, end: int) -> Base | None:
    texts = tokens.texts
    if index >= end:
        return None
    if texts[index] in BUILTIN_TYPES:
        return Base(index + 1, True, False)
    if texts[index] == "auto":
        return Base(index + 1, False, True)
    if texts[index] == "decltype" and index + 1 in tokens.partner:
        return Base(tokens.partner[index + 1] + 1, False, False)
    is_enum = texts[index] == "enum"
    if texts[index] in CLASS_KEYS or is_enum:
        index += 1
    found = _read_qualified(tokens, index, end)
    if found is None:
        return None
    stop, last = found
    if texts[stop] == "auto":  # `Concept auto`
        return Base(stop + 1, False, True)
    return Base(stop, is_enum or (stop == last + 1 and texts[last] in ARITHMETIC_ALIASES), False)


def _read_qualified(tokens: TokenList, index: int, end: int) -> tuple[int, int] | None:
    """A possibly qualified name with template arguments: where it ends, and the index of its last name."""
    texts = tokens.texts
    if texts[index] == "::":
        index += 1
    while index < end:
        if texts[index] == "template":
            index += 1
        if not tokens.is_name(index) or texts[index] in KEYWORDS:
            return None
        last = index
        index += 1
        if texts[index] == "<":
            if index not in tokens.angle or tokens.angle[index] >= end:
                return None
            index = tokens.angle[index] + 1
        if texts[index] != "::":
            return index, last
        index += 1
    return None


def is_type(tokens: TokenList, first: int, end: int) -> bool:
    """Whether the whole range reads as a type."""
    base = read_base(tokens, first, end)
    return base is not None and skip_pointers(tokens, base.end, end)[0] == end


def is_macro_type(tokens: TokenList, first: int, end: int) -> bool:
    """Whether it reads as a macro that gives a type, as in `REPLY_TYPE(T) x`: nothing else stands before a name."""
    while first < end and tokens.texts[first] == "const":
        first += 1
    close = tokens.partner.get(first + 1) if tokens.texts[first + 1] == "(" else None
    if close is None or close >= end or not tokens.is_name(first) or tokens.texts[first] in KEYWORDS:
        return False
    return all(text == "const" or text in _POINTERS for text in tokens.texts[close + 1 : end])


def locals_of(tokens: TokenList, first: int, end: int) -> tuple[Local, ...]:
    """The names that the statement in `[first, end)`, without its `;`, declares."""
    texts = tokens.texts
    first = skip_attributes(tokens, first, end)
    if first >= end:
        return ()
    if texts[first] in ("using", "typedef", "namespace"):
        return _alias(tokens, first, end)
    if texts[first] in CLASS_KEYS or texts[first] == "enum":
        brace = tokens.find(first, end, ("{",))
        if brace < end and tokens.find(first, brace, ("=", "(")) == brace:
            return _local_class(tokens, first, brace, end)
        if end - first == 2:
            return (Local(texts[end - 1], True, is_object=False),)
    base = read_base(tokens, first, end)
    return () if base is None else _declarators(tokens, base, base.end, end)


def _alias(tokens: TokenList, first: int, end: int) -> tuple[Local, ...]:
    if tokens.texts[first] == "using" and tokens.texts[first + 1] == "namespace":
        return ()
    stop = tokens.find(first, end, ("=",))
    if tokens.texts[first] == "typedef":
        pointer = tokens.find(first, end, ("(",))
        if pointer < end and pointer in tokens.partner:
            stop = tokens.partner[pointer]
        else:
            stop = tokens.find(first, end, ("[",))
    return (Local(tokens.texts[stop - 1], True, is_object=False),) if tokens.is_name(stop - 1) else ()


def _local_class(tokens: TokenList, first: int, brace: int, end: int) -> tuple[Local, ...]:
    """`struct Q {...} a, b;` declares Q and then variables."""
    is_enum = tokens.texts[first] == "enum"
    stop = tokens.find(first, brace, (":",))
    name = stop - 1
    if tokens.texts[name] == "final":
        name -= 1
    names: tuple[Local, ...] = ()
    if name > first and tokens.is_name(name) and tokens.texts[name] not in KEYWORDS:
        names = (Local(tokens.texts[name], True, is_object=False),)
    after = tokens.next(brace, end)
    return names + _declarators(tokens, Base(after, is_enum, False), after, end)


def _declarators(tokens: TokenList, base: Base, index: int, end: int) -> tuple[Local, ...]:
    found: list[Local] = []
    while index < end:
        after_pointers, pointers = skip_pointers(tokens, index, end)
        stop = tokens.find(after_pointers, end, (",",))
        names = _declared_names(tokens, base, after_pointers, end)
        if names is None:
            break
        trivial = base.trivial or _needs_nothing(tokens, pointers, after_pointers, stop)
        is_part = tokens.texts[after_pointers] == "["
        found += [Local(name, trivial, is_part, is_object=not base.is_static) for name in names]
        index = stop + 1
    return tuple(found)


def skip_pointers(tokens: TokenList, index: int, end: int) -> tuple[int, str]:
    """Past `*`, `&`, `&&`, `C::*` and the `const` among them; also the last of these operators."""
    texts = tokens.texts
    last = ""
    while index < end:
        if texts[index] in _POINTERS:
            last = texts[index]
        elif tokens.is_name(index) and texts[index + 1] == "::" and texts[index + 2] == "*":
            index += 2
            last = "*"
        elif not last or texts[index] not in ("const", "volatile"):
            break
        index += 1
    return index, last


def _declared_names(tokens: TokenList, base: Base, index: int, end: int) -> tuple[str, ...] | None:
    """What the declarator at `index` names; None if no declarator can stand there."""
    texts = tokens.texts
    if index >= end:
        return None
    if texts[index] == "[" and base.is_auto and index in tokens.partner:
        inner = range(index + 1, tokens.partner[index])
        return tuple(texts[place] for place in inner if tokens.is_name(place))
    if _is_function_pointer(tokens, index):
        place = tokens.find(index + 2, tokens.partner[index], ("[", "("))
        return (texts[place - 1],) if tokens.is_name(place - 1) else None
    follows = texts[index + 1] if index + 1 < end else ""
    if texts[index - 1] == "&&" and follows in ("(", "") and not base.is_auto:
        return None  # `ready && act();`
    if tokens.is_name(index) and texts[index] not in KEYWORDS and follows in _AFTER_NAME:
        return (texts[index],)
    return None


def _is_function_pointer(tokens: TokenList, index: int) -> bool:
    """`(*name)(...)` or `(&name)[...]`; a call `f(*p)` is not."""
    if tokens.texts[index] != "(" or tokens.texts[index + 1] not in _POINTERS or index not in tokens.partner:
        return False
    return tokens.texts[tokens.partner[index] + 1] in ("(", "[")


def _needs_nothing(tokens: TokenList, pointers: str, first: int, end: int) -> bool:
    """Whether a declarator is a pointer or reference, and needs no destruction.

    A reference bound to a call's result may extend the life of a temporary.
    """
    if pointers in ("", "*"):
        return pointers == "*" or _is_function_pointer(tokens, first)
    start = tokens.find(first, end, ("=", "(", "{"))
    return not tokens.occurrences(start + 1, end, _CALLS)
