"""`choose` as `race`: the branches become an if-chain over the index of the winner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from actorc.spelling import one_line
from actorc.syntax import Block, Choose, ResultKind, Span, When
from actorc_migrate.common import Common, Place
from actorc_migrate.edits import Part
from actorc_migrate.locals import Locals
from actorc_migrate.notes import Hazard
from actorc_migrate.operands import Operands
from actorc_migrate.spelling import Operand
from actorc_migrate.states import Plan
from actorc_migrate.waits import Waits


class Chooses:
    def __init__(self, common: Common, locals_: Locals, waits: Waits, plans: Mapping[str, Plan]) -> None:
        self._common = common
        self._layout = common.layout
        self._words = common.words
        self._source = common.source
        self._settings = common.settings
        self._edits = common.edits
        self._found = common.found
        self._library = common.library
        self._reach = common.reach
        self._locals = locals_
        self._waits = waits
        self._plans = plans
        self._operands = Operands(common, waits)
        self.holders: dict[Block, str] = {}  # the holder of a branch's result that a wait in the branch destroys

    def choose(self, statement: Choose, place: Place) -> None:
        self._found.count("choose")
        chosen = self._common.free("chosen")
        indexed = len(statement.whens) > 1
        resets = [f"{holder}.reset();" for holder in reversed(place.dying)]
        is_in_front = self._is_in_front(statement, resets)
        lends_braces = indexed and not place.in_switch and not self._layout.has_braces(place.block)
        lends_braces = lends_braces or (is_in_front and not self._ends_block(statement, place))
        if not lends_braces:
            self._common.make_room(statement, place)
        indent = self._layout.indent(statement.span.start) if not lends_braces else self._branch_indent(statement)
        front, given = self._operands.in_front(statement, resets, indent) if is_in_front else ([], None)
        race = self._race(statement, resets, given)
        first, end = self._words.between(statement.span)
        open_ = next(i for i in range(first, end) if self._words.texts[i] == "{")
        gap = Span(self._words.span(open_).end, statement.whens[0].span.start)
        above: list[Part] = []
        kept = list(range(len(statement.whens))) if is_in_front else self._kept(statement)
        if not lends_braces:
            self._remove_line(self._words.span(end - 1))
            self._dedent(statement)
            if self._source[gap].strip():
                between = self._layout.newline + self._layout.written_indent(statement.whens[0].span.start)
                outer = self._layout.newline + self._layout.indent(statement.span.start)
                above = [self._source[gap].strip().replace(between, outer), outer]
        if not indexed and not resets:
            self._single(statement.whens[0], statement)
            return
        if not kept:
            self._edits.replace(statement.span, "co_await ", *race, ";")
            return
        before: When | None = None
        for number in kept:
            when = statement.whens[number]
            if before is None:
                test = f"{chosen}.index() == {number}" if indexed else "true"
                head: list[Part] = ["{", gap] if lends_braces else above
                if lends_braces and front and "\n" not in self._source[gap]:
                    head.append(self._layout.newline + indent)
                head += [*front, f"if (auto {chosen} = co_await ", *race, f"; {test})"]
                self._edits.replace(Span(statement.span.start, self._head_end(when)), *head)
            else:
                is_rest = number + 1 == len(statement.whens) == len(kept)
                self._join(before, when, "else" if is_rest else f"else if ({chosen}.index() == {number})")
            self._winner(when, f"std::get<{number}>(std::move({chosen}))")
            before = when
        if before is not None and before is not statement.whens[-1]:
            self._edits.replace(Span(before.body.span.end, statement.whens[-1].body.span.end))

    def _kept(self, statement: Choose) -> list[int]:
        """The branches that say something. Without comments around them the others go."""
        whens = statement.whens
        every = list(range(len(whens)))
        first, end = self._words.between(statement.span)
        open_ = next(i for i in range(first, end) if self._words.texts[i] == "{")
        starts = [self._words.span(open_).end, *(when.body.span.end for when in whens)]
        ends = [*(when.span.start for when in whens), self._words.starts[end - 1]]
        if any(self._source[Span(*gap)].strip() for gap in zip(starts, ends, strict=True)):
            return every
        return [number for number in every if not self._is_empty(whens[number])]

    def _is_empty(self, when: When) -> bool:
        is_bare = self._source[when.body.span].strip("{} \t\r\n") == "" and self._layout.has_braces(when.body)
        return is_bare and (when.wait.result is None or self._is_unneeded(when))

    def _single(self, when: When, statement: Choose) -> None:
        """A choose with one branch is a wait."""
        self._edits.replace(Span(statement.span.start, when.body.span.start))
        if not self._layout.has_braces(when.body):
            self._layout.wrap(when.body.span, has_head=False)
        awaited = self._waits.awaited(when.wait, ())
        result = when.wait.result
        if result is None or self._is_unneeded(when):
            self._layout.first_in(when.body, "co_await ", *awaited, ";")
        else:
            self._winner(when, "co_await ", *awaited)

    def _is_in_front(self, statement: Choose, resets: Sequence[str]) -> bool:
        """Whether the operands are evaluated before the race, which takes no lambda."""
        if not self._settings.is_foundationdb or not self._settings.is_exact:
            return False
        is_race = len(statement.whens) > 1
        is_lazy = is_race and any(self._is_lazy(when, number) for number, when in enumerate(statement.whens))
        return is_lazy or bool(resets)

    def _ends_block(self, statement: Choose, place: Place) -> bool:
        """Whether what is declared in front of it is in scope of nothing else."""
        is_last = self._layout.has_braces(place.block) and place.block.statements[-1] is statement
        return is_last and not place.in_switch and self._layout.is_first_in_line(statement.span.start)

    def _branch_indent(self, statement: Choose) -> str:
        first = statement.whens[0].span.start
        if self._layout.is_first_in_line(first):
            return self._layout.indent(first)
        return self._layout.indent(statement.span.start) + self._layout.unit

    def _race(self, statement: Choose, resets: Sequence[str], given: list[Part] | None) -> list[Part]:
        """What is awaited. `resets`: what happens once the operands are evaluated; `given`: the operands, if that has
        happened."""
        for when in statement.whens:
            self._found.count("when with waitNext" if when.wait.is_stream else "when")
        if given is not None:
            return [f"{self._library}race(", *given, ")"]
        # A class may have a function of that name, which hides the library's function.
        library = self._library or (
            "flow::" if "race" in self._words.texts and not self._settings.is_foundationdb else ""
        )
        race: list[Part] = [f"{library}race("]
        for number, when in enumerate(statement.whens):
            race += [", "] if number else []
            race += self._raced(when, number)
        return [*race, f").evaluated([&] {{ {' '.join(resets)} }})" if resets else ")"]

    def _is_lazy(self, when: When, number: int) -> bool:
        """Whether the operand must be a lambda: the moment of its evaluation, or of its temporaries' destruction, can
        be observed. After the first operand this holds for every operand that makes something."""
        operand = Operand(self._words, when.wait.operand.span)
        if self._waits.is_never(when.wait) or operand.is_name:
            return False
        if number == 0:
            return not self._common.temporaries.surely_none(when.wait.operand.span) or "?" in operand.texts
        return self._settings.is_exact or not operand.is_plain

    def _raced(self, when: When, number: int) -> list[Part]:
        """One operand of the race. Each operand after the first is a lambda if it makes anything."""
        operand = Operand(self._words, when.wait.operand.span)
        parts = self._waits.operand(when.wait)
        if self._waits.is_never(when.wait):
            return [self._waits.typed_never(when.wait)]
        if self._is_lazy(when, number) and not self._settings.is_foundationdb:
            return ["[&] { return ", *parts, "; }"]
        if number and not operand.is_name:
            lazily = f"[&] {{ return {one_line(self._common.text(when.wait.operand))}; }}"
            if self._settings.is_foundationdb:
                lazily = "a variable in front of it, set if no operand before it is ready: see --style exact"
            message = "race() makes this even if an operand in front of it is ready"
            self._common.note(Hazard.LAZY_WHEN, when.wait.operand.span, message, lazily)
        return ["[&] { return ", *parts, "; }()"] if operand.is_wrapped else parts

    def _head_end(self, when: When) -> int:
        """Behind the `)` of `when(...)`."""
        close = self._waits.parts_of(when.wait).close
        index = self._words.first(close) + 1
        assert self._words.texts[index] == ")"
        return self._words.span(index).end

    def _join(self, before: When, when: When, text: str) -> None:
        """`} else` on one line, if that is how braces stand here. Comments above a branch go into it."""
        gap = Span(before.body.span.end, when.span.start)
        index = self._words.first(gap)
        comments = self._source[Span(gap.start, self._words.starts[index])]  # in front of branches that go
        above = comments.strip() and not self._layout.is_last_in_line(gap.start)
        above = above or (comments.strip() and not self._layout.rest_of_line(gap.start).strip())
        if above and self._layout.has_room(when.body) and self._layout.has_braces(before.body):
            told = self._layout.without_blanks(gap)
            between = self._layout.newline + self._layout.written_indent(when.span.start)
            inner = self._layout.inner_indent(when.body)
            self._layout.first_in(when.body, self._source[told].replace(between, self._layout.newline + inner))
            comments = ""
            self._edits.keep(told)
        if self._layout.has_braces(before.body) and not comments.strip():
            indent = self._layout.indent(before.body.span.end - 1)
            blank = self._layout.newline + indent if self._layout.braces_stand_alone else " "
            self._edits.replace(Span(gap.start, self._head_end(when)), f"{blank}{text}")
        else:
            self._edits.replace(Span(when.span.start, self._head_end(when)), text)

    def _winner(self, when: When, *value: Part) -> None:
        """What a branch begins with: its result."""
        result = when.wait.result
        if result is None:
            return
        head = self._source.text[when.wait.span.start : self._waits.parts_of(when.wait).keyword.start].rstrip()
        left = one_line(head).removesuffix("=").rstrip()
        if result.kind is ResultKind.STATE:
            plan = self._plans[result.name]
            if not plan.is_hoisted:
                mark = self._common.unused_mark(plan.type, result.name, declared=when.wait.span)
                self._layout.first_in(when.body, f"{mark}{plan.type} {result.name} = ", *value, ";")
            elif plan.holder:
                self._layout.first_in(when.body, f"{plan.type}& {result.name} = {plan.holder}.emplace(", *value, ");")
            else:
                self._layout.first_in(when.body, f"{result.name} = ", *value, ";")
            self._found.count("state")
            return
        if result.kind is ResultKind.ASSIGN:
            self._layout.first_in(when.body, f"{left} = ", *value, ";")
            return
        is_ended = self._reach.suspends(when.body) and self._locals.is_risky(result)
        if is_ended and not self._settings.is_exact:
            self._locals.note_local(result.names[0], when.wait.span)
        if self._is_unneeded(when):
            return
        if is_ended and self._settings.is_exact:
            holder = self.holders.setdefault(when.body, self._common.unused(f"{result.names[0]}Local"))
            made: list[Part] = [f"auto {holder} = std::make_optional(", *value, ")"]
            if result.type is not None and "auto" not in left:
                made = [f"std::optional<{one_line(self._common.text(result.type))}> {holder}(", *value, ")"]
            self._layout.first_in(
                when.body, *made, *self._locals.alias(left, result.names, holder, when.body.span), ";"
            )
            return
        if left.startswith("auto&") and not left.startswith("auto&&"):
            left = f"const {left}"
        type_ = "auto" if result.type is None else one_line(self._common.text(result.type))
        mark = self._common.unused_mark(type_, *result.names, declared=when.wait.span)
        self._layout.first_in(when.body, f"{mark}{left} = ", *value, ";")

    def _is_unneeded(self, when: When) -> bool:
        """Whether a branch has a result that it does not name, and the moment of its destruction cannot be observed."""
        result = when.wait.result
        if result is None or result.kind not in (ResultKind.LOCAL, ResultKind.UNPACK):
            return False
        if self._locals.is_risky(result):
            return False
        return not any(self._common.uses(name, when.body.span) for name in result.names)

    # -----------------------------------------------------------------------------------------------------------

    def _remove_line(self, close: Span) -> None:
        """The `}` of the choose, with its line if nothing else stands there."""
        line = self._source.line(close.start)
        start = self._source.line_start(line)
        text = self._source.line_text(line)
        before = self._source.text[start : close.start]
        if before.strip() or text[close.end - start :].strip():
            blanks = len(before) - len(before.rstrip())
            self._edits.replace(Span(close.start - (blanks if before.strip() else 0), close.end))
            return
        break_ = start - 1
        if self._source.text[break_ - 1 : break_] == "\r":
            break_ -= 1
        self._edits.replace(Span(break_, close.end))

    def _dedent(self, statement: Choose) -> None:
        """Moves the lines of the branches, and comments between them, to where the choose stands."""
        outer = self._layout.written_indent(statement.span.start)
        head = self._layout.written_indent(statement.whens[0].span.start)
        self._layout.dedent(Span(statement.whens[0].span.start, statement.span.end), outer, head)
