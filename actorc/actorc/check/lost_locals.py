"""Reports locals that are used after a wait, and locals that hide longer-lived variables. The fix offers `state`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from actorc import syntax
from actorc.check.kept import Kept
from actorc.check.lifetimes import Local, Use, plain_locals
from actorc.check.outside import Outside
from actorc.check.reach import Reach
from actorc.check.statics import is_static
from actorc.check.uses import uses
from actorc.diagnostics import Diagnostics, Edit, Fault, Fix, Note
from actorc.repairs import first_in, insert, unused_name
from actorc.source import Source
from actorc.syntax import Actor, Block, File, Span

_NOT_STATE = frozenset({
    "auto", "decltype", "static", "constexpr", "thread_local", "using", "typedef", "struct", "class", "union",
    "enum", "&", "&&", "[",
})  # fmt: skip
_TYPE_KEYS = frozenset({"struct", "class", "union", "enum"})
_ELSEWHERE = _TYPE_KEYS | {"static", "constexpr", "thread_local", "using", "typedef"}
_CALLABLE = frozenset({"auto", "function", "std::function", "(", "decltype"})


def report_locals(
    actor: Actor,
    body: Block,
    kept: Sequence[Kept],
    file: File,
    source: Source,
    outside: Outside,
    reach: Reach,
    diagnostics: Diagnostics,
) -> list[tuple[str, Span]]:
    """Returns the names of all plain locals, and their places."""
    found = plain_locals(body, file.words, reach)
    report = _Report(actor, body, [local.name for local in found], file, outside, source, diagnostics)
    by_name = {variable.name: variable for variable in kept}
    for local in found:
        if local.name in by_name:
            report.hidden(local, by_name[local.name])
        elif local.lost:
            report.lost(local)
    return [(local.name, local.span) for local in found]


class _Report:
    def __init__(
        self,
        actor: Actor,
        body: Block,
        names: list[str],
        file: File,
        outside: Outside,
        source: Source,
        diagnostics: Diagnostics,
    ) -> None:
        self._actor = actor
        self._body = body
        self._names = names  # of all plain locals
        self._outside = outside
        self._words = file.words
        self._source = source
        self._diagnostics = diagnostics

    # -----------------------------------------------------------------------------------------------------------
    # Used after a wait

    def lost(self, local: Local) -> None:
        after = [use for use in local.lost if not self._is_other(local, use)]
        if not after or local.name in self._outside.macros:
            return
        use = after[0]
        is_unscoped = isinstance(local.origin, syntax.Plain) and is_static(local.origin, self._source)
        does = "ends its scope" if is_unscoped else "destroys it"
        which = f"this wait {does}" if use.wait.start < use.span.start else f"this wait, in an earlier pass, {does}"
        notes = (Note(which, use.wait), Note(f"`{local.name}` is declared here", local.span))
        if self._outside.sees(self._actor, local.name):
            message = f"after the wait, `{local.name}` means the one outside the actor, not the local"
            hint = "give the local another name, or declare it with `state`"
            self._diagnostics.warning(Fault.LOST_LOCAL, message, use.span, hint=hint, notes=notes)
            return
        message = f"`{local.name}` is used after a wait, which {does}: a plain local lives up to the next wait"
        hint, fix = self._repair(local, after)
        fixes = () if fix is None else (fix,)
        self._diagnostics.error(Fault.LOST_LOCAL, message, use.span, hint=hint, notes=notes, fixes=fixes)

    def _is_other(self, local: Local, use: Use) -> bool:
        """`x(...)` where the local cannot be called: then a function of the same name is meant."""
        _, end = self._words.between(use.span)
        if self._words.texts[end] != "(":
            return False
        first, stop = self._words.between(Span(local.origin.span.start, local.span.end))
        return not _CALLABLE & set(self._words.texts[first:stop])

    def _repair(self, local: Local, after: list[Use]) -> tuple[str, Fix | None]:
        match local.origin:
            case syntax.Plain():
                return self._repair_declaration(local, local.origin)
            case syntax.Wait(wait=wait) | syntax.When(wait=wait):
                return self._repair_result(local, wait)
            case syntax.Catch(body=body, type=type_):
                caught = _copied_type(self._source[type_.span]) if type_ is not None else ""
                name = "error" if caught.endswith("Error") else f"caught{_capital(local.name)}"
                return self._repair_copy(local, caught, name, body, after)
            case syntax.RangeFor(body=body, decl=decl):
                type_text = self._source[Span(decl.span.start, local.span.start)]
                return self._repair_copy(local, _copied_type(type_text), f"this{_capital(local.name)}", body, after)
            case syntax.Code():
                return f"declare it before with `state`: `state TYPE {local.name} = ...;`", None
            case _:
                raise syntax.unknown(local.origin)

    def _repair_declaration(self, local: Local, origin: syntax.Plain) -> tuple[str, Fix | None]:
        first, name = self._words.between(Span(origin.span.start, local.span.start))
        declared = self._words.texts[first:name]
        if not declared:
            return "declare it with `state`", None
        following = self._words.texts[name + 1]
        elsewhere = _ELSEWHERE & set(declared)
        if declared[-1] in _TYPE_KEYS or (elsewhere and not _TYPE_KEYS & elsewhere):
            return f"declare `{local.name}` outside of the actor, before it", None
        if "{" in declared:
            return "define its type before the actor, and declare it with `state`", None
        if "alignas" in declared:
            return "align its type instead of the variable, and declare it with `state`", None
        if "&" in declared or "&&" in declared:
            return f"keep a copy or a pointer: `state TYPE {local.name} = ...;`", None
        if "auto" in declared:
            return f"declare it with `state` and its type: `state TYPE {local.name} = ...;`", None
        if len(origin.locals) > 1:
            return f"declare it by itself: `state {self._alone(origin, first, name)};`", None
        what = " ".join(self._source[Span(origin.span.start, local.span.start)].split())
        hint = f"declare it with `state`: `state {what} {local.name}`"
        if _NOT_STATE & set(declared) or following == "[" or not self._is_only(local.name):
            return "declare it with `state`", None
        return hint, Fix(f"declare `{local.name}` with `state`", (insert(origin.span.start, "state "),))

    def _alone(self, origin: syntax.Plain, first: int, name: int) -> str:
        """One of several declarators with the type that they share."""
        texts = self._words.texts
        names = {found.name for found in origin.locals}
        base = next(index for index in range(first, name + 1) if texts[index] in names)
        while texts[base - 1] == "*":
            base -= 1
        start = name
        while texts[start - 1] in ("*", "const") and start > base:
            start -= 1
        pointers = "".join(text if text == "*" else f" {text} " for text in texts[start:name]).strip()
        type_ = self._source[Span(self._words.starts[first], self._words.span(base - 1).end)]
        rest = self._source[Span(self._words.starts[name], self._words.span(self._declarator_end(name) - 1).end)]
        return " ".join(f"{type_}{pointers} {rest}".split())

    def _declarator_end(self, name: int) -> int:
        """The `,` or `;` behind the initialiser of the name."""
        texts = self._words.texts
        depth = 0
        index = name + 1
        while texts[index] and (depth or texts[index] not in (",", ";")):
            depth += (texts[index] in ("(", "[", "{")) - (texts[index] in (")", "]", "}"))
            index += 1
        return index

    def _repair_result(self, local: Local, wait: syntax.WaitExpr) -> tuple[str, Fix | None]:
        hint = "put `state` before the declaration of the wait's result"
        first, name = self._words.between(Span(wait.span.start, local.span.start))
        declared = self._words.texts[first:name]
        if "[" in declared:
            return f"keep the part that is needed: `state TYPE kept = {local.name};`", None
        if "auto" in declared:
            return f"declare it with its type and `state`: `state TYPE {local.name} = ...`", None
        if _NOT_STATE & set(declared) or not self._is_only(local.name):
            return hint, None
        return hint, Fix(f"declare `{local.name}` with `state`", (insert(wait.span.start, "state "),))

    def _repair_copy(
        self, local: Local, type_: str, name: str, body: Block, after: list[Use]
    ) -> tuple[str, Fix | None]:
        """Keep a copy under another name, and use that after the wait."""
        name = unused_name(name, self._actor.span, self._words)
        statement = f"state {type_ or 'TYPE'} {name} = {local.name};"
        hint = f"keep a copy, `{statement}`, and use `{name}` after the wait"
        edit = first_in(body, statement, self._source)
        if edit is None or not type_:
            return hint, None
        edits = (edit, *(Edit(use.span, name) for use in after))
        return hint, Fix("keep a copy in a state variable", edits)

    def _is_only(self, name: str) -> bool:
        """Whether no local has the name, so that a state variable could have it."""
        return self._names.count(name) == 1

    # -----------------------------------------------------------------------------------------------------------
    # Hiding

    def hidden(self, local: Local, kept: Kept) -> None:
        if kept.span.start > local.span.start:
            return
        used = [use.span for use in local.lost] or self._used_later(local)
        if not used:
            return
        message = f"`{local.name}` hides a {kept.kind} of the same name, which is used later"
        notes = [Note(f"the {kept.kind} is declared here", kept.span)]
        if local.lost:
            notes.append(Note("this wait destroys the local", local.lost[0].wait))
        notes.append(Note(f"so here `{local.name}` means the {kept.kind}", used[0]))
        hint = "give one of them another name"
        self._diagnostics.warning(Fault.HIDDEN_STATE, message, local.span, hint=hint, notes=tuple(notes))

    def _used_later(self, local: Local) -> list[Span]:
        rest = Span(local.scope.end, self._body.span.end)
        return [self._words.span(index) for index in uses(self._words, rest, {local.name})][:1]


def _copied_type(text: str) -> str:
    """The type of a copy of a range's element; empty if it is not written out."""
    words = [word for word in re.findall(r"\w+|::|[<>,*&]|\S", text) if word != "&"]
    if words[:1] == ["const"] and "*" not in words:
        words = words[1:]
    return "" if "auto" in words else re.sub(r"\s+", " ", re.sub(r"^const\b|&", "", text)).strip()


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]
