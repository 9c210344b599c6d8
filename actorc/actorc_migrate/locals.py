"""Plain locals that the next wait destroys: in a coroutine they would live to the end of their block.

If the difference can be observed, a std::optional holds the local, and the wait resets it after its operand is
evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from actorc import syntax
from actorc.records import dataclass
from actorc.spelling import declares, one_line
from actorc.syntax import Code, Local, Result, ResultKind, Span, Statement
from actorc_migrate.common import Common, Place, UnconvertibleError
from actorc_migrate.edits import Part
from actorc_migrate.notes import Hazard
from actorc_migrate.spelling import is_alias_of_reference, is_harmless, is_plain_value

_OPEN = frozenset({"(", "[", "{"})
_CLOSE = frozenset({")", "]", "}"})
_ELSEWHERE = frozenset({"static", "constexpr", "thread_local", "extern", "using", "typedef"})


@dataclass(frozen=True, slots=True)
class Declarator:
    """`T x = e`, or what else declares one variable."""

    type: str  # with `const`, without reference
    name: str  # or `[a, b]`
    form: str  # "", "=", "(" or "{"
    init: Span | None  # within the brackets, or behind the `=`


class Locals:
    def __init__(self, common: Common) -> None:
        self._common = common
        self._layout = common.layout
        self._words = common.words
        self._source = common.source
        self._settings = common.settings
        self._edits = common.edits
        self._found = common.found
        self._reach = common.reach

    def is_waited_past(self, statements: Sequence[Statement], index: int) -> bool:
        """Whether something behind a statement of a list waits."""
        return any(self._reach.suspends(each) for each in statements[index + 1 :])

    def may_tell_end(self, result: Result) -> bool:
        """Whether it is a local with a destruction that can be observed."""
        return result.kind in (ResultKind.LOCAL, ResultKind.UNPACK) and self.is_risky(result)

    def is_risky(self, result: Result) -> bool:
        """Whether the destruction of the result can be observed."""
        if result.type is None:
            return True
        return not self._is_harmless(self._common.text(result.type))

    def _is_harmless(self, type_: str) -> bool:
        """Whether the destruction of a local cannot be observed; that of a reference under another name is none."""
        is_known = is_harmless(type_, self._common.classes.harmless)
        return is_known or is_alias_of_reference(type_, self._source.text)

    def _is_plain(self, each: Declarator) -> bool:
        """Whether the value of an `auto` shows that its destruction cannot be observed."""
        if each.type.split() not in (["auto"], ["const", "auto"], ["auto", "const"]) or each.form != "=":
            return False
        value = one_line(self._source[each.init]) if each.init is not None else ""
        if is_plain_value(value, self._common.classes.harmless):
            return True
        is_iterator = rf"\b{re.escape(each.name)} ?[!=]= ?[\w.:>-]*\bc?end ?\( ?\)"  # as a comparison shows
        return re.search(is_iterator, self._source[self._common.body.span]) is not None

    def declares_risky(self, statement: Statement) -> bool:
        if isinstance(statement, syntax.Wait):
            return statement.wait.result is not None and self.may_tell_end(statement.wait.result)
        return bool(self._ends_at_wait(statement))

    def _ends_at_wait(self, statement: Statement) -> tuple[Local, ...]:
        """The locals that a statement declares with a destruction that can be observed."""
        if not isinstance(statement, syntax.Plain) or all(local.trivial for local in statement.locals):
            return ()
        first, end = self._words.between(statement.span)
        texts = self._words.texts[first:end]
        if texts[0] in _ELSEWHERE or (texts[0] in ("const", "inline") and texts[1] in _ELSEWHERE):
            return ()
        declared = self._declarators(statement.span)
        if declared is None:
            return ()
        risky = {each.name: not self._is_harmless(each.type) and not self._is_plain(each) for each in declared}
        return tuple(local for local in statement.locals if not local.trivial and risky.get(local.name, True))

    def _declarators(self, span: Span) -> list[Declarator] | None:
        """What a declaration with or without its `;` declares; None if it is none that can be taken apart."""
        first, end = self._words.between(span)
        texts = self._words.texts
        if texts[end - 1] == ";":
            end -= 1
        index = self._type_end(first, end)
        if index is None:
            return None
        type_ = one_line(self._source.text[self._words.starts[first] : self._words.starts[index]])
        found: list[Declarator] = []
        while index < end:
            marks = ""
            while texts[index] in ("*", "&", "&&", "const"):
                marks += texts[index]
                index += 1
            stop = self._comma(index, end)
            if texts[index] == "[":
                close = self._close(index)
                name = self._source.text[self._words.starts[index] : self._words.span(close).end]
                after = close + 1
            else:
                name, after = texts[index], index + 1
            found.append(self._declarator(type_ + marks, name, after, stop))
            index = stop + 1
        return found

    def _declarator(self, type_: str, name: str, after: int, stop: int) -> Declarator:
        texts = self._words.texts
        if after >= stop:
            return Declarator(type_, name, "", None)
        if texts[after] == "[":
            return Declarator(type_, name, "[", None)
        start = self._words.span(after).end
        if texts[after] == "=":
            return Declarator(type_, name, "=", Span(self._words.starts[after + 1], self._words.span(stop - 1).end))
        return Declarator(
            type_, name, texts[after], self._layout.without_blanks(Span(start, self._words.starts[stop - 1]))
        )

    def _type_end(self, first: int, end: int) -> int | None:
        """The index behind the type that begins at `first`."""
        texts = self._words.texts
        index = first
        seen = False
        while index < end:
            text = texts[index]
            if text in ("const", "volatile", "typename", "unsigned", "signed", "long", "struct", "class"):
                seen = seen or text in ("unsigned", "signed", "long")
                index += 1
            elif text == "[" and texts[index + 1] == "[":
                index = self._close(index) + 1
            elif text == "::" or (text.isidentifier() and not seen):
                index += 1
                seen = text != "::" and texts[index] != "::"
                if texts[index] == "<" and text != "::":
                    behind = self._angle(index, end)
                    if behind is None:
                        return None
                    index = behind
                    seen = texts[index] != "::"
            elif text == "decltype" or not seen:
                return None
            else:
                return index if text.isidentifier() or text in ("*", "&", "&&", "[") else None
        return None

    def _angle(self, index: int, end: int) -> int | None:
        """Behind the `>` of the `<` at `index`."""
        depth = 0
        texts = self._words.texts
        while index < end:
            depth += (texts[index] == "<") - (texts[index] == ">") - 2 * (texts[index] == ">>")
            index += 1
            if depth <= 0:
                return index
        return None

    def _close(self, index: int) -> int:
        """The bracket that closes the one at `index`."""
        depth = 0
        texts = self._words.texts
        while True:
            depth += (texts[index] in _OPEN) - (texts[index] in _CLOSE)
            if depth == 0:
                return index
            index += 1

    def _comma(self, index: int, end: int) -> int:
        texts = self._words.texts
        while index < end and texts[index] != ",":
            if texts[index] in ("(", "[", "{"):
                index = self._close(index)
            elif texts[index] == "<" and self._looks_like_arguments(index, end):
                index = (self._angle(index, end) or end) - 1
            index += 1
        return index

    def _looks_like_arguments(self, index: int, end: int) -> bool:
        """Whether a `<` opens template arguments: it is closed again before anything but names stands there."""
        texts, depth = self._words.texts, 0
        for place in range(index, end):
            text = texts[place]
            depth += (text == "<") - (text == ">") - 2 * (text == ">>")
            if depth <= 0:
                return True
            if not (text.isidentifier() or text in ("<", ">", ">>", ",", "::", "*", "&") or text.isdigit()):
                return False
        return False

    # -----------------------------------------------------------------------------------------------------------

    def dying_locals(self, statement: syntax.Plain, place: Place) -> tuple[str, ...]:
        """Rewrites a declaration; returns the holders."""
        locals_ = self._ends_at_wait(statement)
        if not locals_:
            return ()
        declared = self._declarators(statement.span)
        assert declared is not None
        if not self._settings.is_exact:
            for local in locals_:
                self.note_local(local.name, statement.span)
            return ()
        self._found.count("local that a wait ends")
        holders: list[str] = []
        parts: list[Part] = []
        for each in declared:
            made, holder = self._held(each, Span(statement.span.end, place.block.span.end))
            parts += [" " if parts else "", *made]
            holders.append(holder)
        self._edits.replace(statement.span, *parts)
        return tuple(holders)

    def _held(self, each: Declarator, scope: Span) -> tuple[list[Part], str]:
        """`std::optional<T> xLocal(e); T& x = *xLocal;`, without the second if nothing in the scope names it."""
        if each.form == "[":
            raise UnconvertibleError(f"the array `{each.name}` is destroyed at a wait; a coroutine cannot do that")
        if each.type.endswith("&"):
            raise UnconvertibleError(f"what `{each.name}` refers to may be a temporary, which is destroyed at a wait")
        is_unpacked = each.name.startswith("[")
        holder = self._common.unused("unpackedLocal" if is_unpacked else f"{each.name}Local")
        value: list[Part] = [] if each.init is None else [each.init]
        is_list = each.form == "=" and each.init is not None and self._source.text[each.init.start] == "{"
        if "auto" in each.type.split():
            made: list[Part] = [f"auto {holder} = std::make_optional(", *value, ");"]
        elif is_list or each.form == "{":
            listed: list[Part] = value if is_list else ["{", *value, "}"]
            bare = each.type.removeprefix("const ").strip()
            made = [f"std::optional<{each.type}> {holder}({bare}", *listed, ");"]
        elif each.form == "=":
            made = [f"std::optional<{each.type}> {holder}(", *value, ");"]
        else:
            made = [f"std::optional<{each.type}> {holder}(std::in_place", *([", ", *value] if value else []), ");"]
        names = [name.strip() for name in each.name.strip("[]").split(",")]
        if any(self._common.uses(name, scope) for name in names):
            made.append(f" {each.type}& {each.name} = *{holder};")
        return made, holder

    def alias(self, left: str, names: tuple[str, ...], holder: str, scope: Span) -> list[Part]:
        """`; T& x = *holder`, unless nothing names it. `left`: the declaration in front of its `=`."""
        if not any(self._common.uses(name, scope) for name in names):
            return []
        left = one_line(left)
        if left.startswith(("auto [", "auto[")):
            left = left.replace("auto", "auto&", 1)
        elif "&" not in left:
            left = f"{left.removesuffix(names[0]).rstrip()}& {names[0]}"
        else:
            left = left.replace("&&", "&")
        return [f"; {left} = *{holder}"]

    def note_local(self, name: str, span: Span) -> None:
        self._common.note(
            Hazard.LOCAL_ACROSS_WAIT,
            span,
            f"`{name}` still exists after the next co_await; an actor's local is destroyed there",
            f"put `{name}` and what uses it into a block that ends before the co_await",
        )

    # -----------------------------------------------------------------------------------------------------------
    # Variables in conditions and headers

    def _condition_dies(self, condition: Code, is_endless: bool = False) -> tuple[Declarator, Span] | None:
        """What an `if`, `switch` or `while` declares in its condition, if a wait inside ends it; and what is tested."""
        text = self._common.text(condition)
        if not declares(text):
            return None
        semicolon = self._outside(text, ";")
        head = Span(condition.span.start, condition.span.start + semicolon) if semicolon >= 0 else condition.span
        declared = self._declarators(head)
        if declared is None or len(declared) != 1:
            return None
        (each,) = declared
        if not each.form or each.type.endswith(("&", "*")) or self._is_harmless(each.type):
            return None
        tested = Span(head.end + 1, condition.span.end) if semicolon >= 0 else Span(head.start, head.start)
        return each, tested

    def _outside(self, text: str, wanted: str) -> int:
        depth = 0
        for index, character in enumerate(text):
            depth += (character in "([{") - (character in ")]}")
            if character == wanted and not depth:
                return index
        return -1

    def open_condition(self, statement: Statement, condition: Code, place: Place) -> tuple[str, ...]:
        """`if (T x(e); c)` as `{ holder; if (c) ... }`; returns the holders."""
        found = self._condition_dies(condition)
        if found is None or not self._reach.suspends(statement):
            return ()
        each, tested = found
        if not self._settings.is_exact:
            self.note_local(each.name, condition.span)
            return ()
        self._found.count("local that a wait ends")
        scope = Span(tested.start if tested.end > tested.start else condition.span.start, statement.span.end)
        made, holder = self._held(each, scope)
        self._edits.insert(statement.span.start, "{ ", *made, " ")
        self._edits.insert(statement.span.end, " }", rank=-1)
        test: Part = tested if tested.end > tested.start else each.name
        self._edits.replace(condition.span, test)
        return (holder,)

    def open_loop_condition(self, condition: Code, body: syntax.Block) -> tuple[list[Part], str] | None:
        """`while (T x = f()) body`: what each pass begins with; the condition itself goes."""
        found = self._condition_dies(condition)
        if found is None or not self._reach.suspends(body):
            return None
        each, _ = found
        if not self._settings.is_exact:
            self.note_local(each.name, condition.span)
            return None
        made, holder = self._held(each, Span(condition.span.start, body.span.end))
        return [*made, f" if (!{each.name}) break;"], holder

    def open_element(self, loop: syntax.RangeFor) -> tuple[list[Part], str] | None:
        """`for (T x : range)`: what each pass begins with."""
        if not self._reach.suspends(loop.body) or all(local.trivial for local in loop.decl_locals):
            return None
        declared = self._declarators(loop.decl.span)
        if declared is None or len(declared) != 1 or self._is_harmless(declared[0].type):
            return None
        (each,) = declared
        if not self._settings.is_exact:
            self.note_local(each.name, loop.decl.span)
            return None
        item = self._common.unused("element")
        names = [name.strip() for name in each.name.strip("[]").split(",")]
        holder = self._common.unused(f"{names[0]}Local")
        optional = f"auto {holder} = std::make_optional({item});"
        if "auto" not in each.type.split():
            optional = f"std::optional<{each.type}> {holder}({item});"
        self._edits.replace(loop.decl.span, f"auto&& {item}")
        if any(self._common.uses(name, loop.body.span) for name in names):
            optional += f" {each.type}& {each.name} = *{holder};"
        return [optional], holder
