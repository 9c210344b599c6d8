"""Parameters and state variables with the same name, which cannot be members of one class."""

from __future__ import annotations

from collections.abc import Sequence

from actorc.check.kept import Kept
from actorc.diagnostics import Diagnostics, Edit, Fault, Fix, Note
from actorc.source import Source
from actorc.syntax import Span, StateDecl, StateForm, WaitExpr, Words


def report_duplicates(kept: Sequence[Kept], words: Words, source: Source, diagnostics: Diagnostics) -> None:
    seen: dict[str, Kept] = {}
    for variable in kept:
        first = seen.setdefault(variable.name, variable)
        if first is variable:
            continue
        notes = (Note("it is first declared here", first.span),)
        message = f"{variable.kind} `{variable.name}` is declared twice: such names are known in the whole actor"
        hint = "give it another name, or assign to the one that exists"
        diagnostics.error(
            Fault.DUPLICATE_NAME,
            message,
            variable.span,
            hint=hint,
            notes=notes,
            fixes=_assignment(variable, first, words, source),
        )


def _assignment(variable: Kept, first: Kept, words: Words, source: Source) -> tuple[Fix, ...]:
    """Assign to the first one, if both have the same type, instead of declaring another."""
    if variable.type is None or first.type is None or source[variable.type.span] != source[first.type.span]:
        return ()
    origin = variable.origin
    if isinstance(origin, StateDecl):
        fits = origin.form is StateForm.ASSIGN and origin.extents is None and first.span.start < origin.span.start
    else:
        is_whole = words.texts[words.between(origin.span)[1]] == ";"  # and no `when`
        fits = isinstance(origin, WaitExpr) and is_whole
    if not fits:
        return ()
    edit = Edit(Span(origin.span.start, variable.span.start), "")
    return (Fix(f"assign to the `{variable.name}` that exists", (edit,)),)
