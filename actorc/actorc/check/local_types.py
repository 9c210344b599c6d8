"""State variables with a type that is declared in the actor: a state outlives the block of that type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from actorc.check.kept import Kept
from actorc.diagnostics import Diagnostics, Fault, Note
from actorc.syntax import Plain, Span, Statement, Words
from actorc.words import CLASS_KEYS

_BEGIN = CLASS_KEYS | {"using", "typedef", "enum"}


def report_local_types(
    kept: Sequence[Kept], statements: Sequence[Statement], words: Words, diagnostics: Diagnostics
) -> None:
    known = dict(_declared(statements, words))
    if not known:
        return
    for variable in kept:
        if variable.type is None or variable.kind != "state variable":
            continue
        first, end = words.between(variable.type.span)
        for index in range(first, end):
            name = words.texts[index]
            if name in known and words.texts[index - 1] != "::":
                message = f"`{name}` is not known where the state variable `{variable.name}` is kept"
                hint = "declare it before the actor, or write the type itself"
                notes = (Note("since it is declared in the actor", known[name]),)
                diagnostics.error(Fault.STATE_TYPE, message, words.span(index), hint=hint, notes=notes)
                break


def _declared(statements: Sequence[Statement], words: Words) -> Iterator[tuple[str, Span]]:
    """The names of the types that are declared in these statements."""
    for statement in statements:
        if not isinstance(statement, Plain):
            continue
        first, end = words.between(statement.span)
        if words.texts[first] not in _BEGIN:
            continue
        index = _name(words.texts, first, end)
        if index is not None:
            yield words.texts[index], words.span(index)


def _name(texts: list[str], first: int, end: int) -> int | None:
    """Where the name stands in a declaration of a type that begins at `first`."""
    match texts[first]:
        case "using":
            return first + 1 if texts[first + 2] == "=" else None
        case "typedef":
            return end - 2
        case _:
            index = first + 1 + (texts[first + 1] in CLASS_KEYS)  # `enum class`
            return index if texts[index + 1] in ("{", ":", "final") else None
