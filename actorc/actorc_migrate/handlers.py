"""Converts `try`: a handler that waits moves after the catch block, which stores what it caught.

An actor's `catch (Error&)` takes every exception, as unknown_error if it is no Error and no other clause takes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from actorc import syntax
from actorc.records import replace
from actorc.spelling import by_reference, is_trivial, one_line
from actorc.syntax import Block, Catch, CatchKind, Span, Try
from actorc_migrate.common import Common, Place, UnconvertibleError
from actorc_migrate.edits import Part
from actorc_migrate.notes import Hazard

_DECLARING = frozenset({"using", "typedef", "struct", "class", "union", "enum", "static", "extern", "namespace"})
_CONSTANT = re.compile(r"^(?:(?:const|volatile) )+(?=[^*]*$)|(?:\s*\b(?:const|volatile))+$")


class Handlers:
    def __init__(self, common: Common, convert_block: Callable[[Block, Place], None]) -> None:
        self._common = common
        self._layout = common.layout
        self._words = common.words
        self._source = common.source
        self._settings = common.settings
        self._edits = common.edits
        self._found = common.found
        self._library = common.library
        self._reach = common.reach
        self._convert_block = convert_block
        self._holders: dict[Catch, str] = {}
        self._has_other_clauses = any(
            catch.kind is CatchKind.OTHER
            for inner in syntax.walk(common.body)
            if isinstance(inner, syntax.Try)
            for catch in inner.catches
        )

    def convert_try(self, statement: Try, place: Place) -> None:
        self._found.count("try")
        clauses = statement.catches
        foreign = self._taker_of_foreign(clauses)
        moved = [self._must_move(clause, clause is foreign, clause is clauses[-1]) for clause in clauses]
        if any(moved):
            self._common.make_room(statement, place)
        self._convert_block(statement.body, place)
        native = [clause.body for clause, is_moved in zip(clauses, moved, strict=True) if not is_moved]
        may_pass = any(self._reach.flow(block).normal for block in (statement.body, *native))
        heads: list[Part] = []
        bodies: list[Part] = []
        apart = self._apart(statement)
        before_else = apart if self._layout.braces_stand_alone else " "
        rest: list[Part] = []
        behind = statement.body.span.end
        for index, (clause, is_moved) in enumerate(zip(clauses, moved, strict=True)):
            gap = Span(behind, clause.head.start)
            if heads:
                heads.append(gap if self._source[gap].strip() else self._before_clause(clause))
            behind = clause.body.span.end
            if is_moved:
                self._found.count("handler with waits")
                lead = ["else"] if bodies else []
                lead += ["if"] if may_pass or any(moved[index + 1 :]) else []
                keep, body = self._moved(statement, clause, place, " ".join(lead))
                heads += keep
                bodies += [before_else if bodies else apart, *body]
                if clause is foreign and clause.kind is CatchKind.ERROR and clause is not clauses[-1]:
                    rest = [self._before_clause(clause), *self._keeping(clause, "...", self._kept_foreign(clause))]
                continue
            heads += self._native(clause, clause is foreign, place)
        if not any(moved):
            return
        self._edits.replace(Span(clauses[0].head.start, clauses[-1].body.span.end), *heads, *rest, *bodies)

    def _apart(self, statement: Try) -> str:
        """What stands between a try statement and what follows it."""
        return (
            " "
            if self._layout.is_one_line(statement.span)
            else self._layout.newline + self._layout.indent(statement.span.start)
        )

    def _before_clause(self, clause: Catch) -> str:
        own_line = self._layout.is_first_in_line(clause.head.start)
        return self._layout.newline + self._layout.indent(clause.head.start) if own_line else " "

    def _kept_foreign(self, clause: Catch) -> str:
        return f"{self._holders[clause]} = {self._current_error()};"

    def _keeping(self, clause: Catch, caught: str, does: str) -> list[Part]:
        """A catch block in place of a clause, laid out like that."""
        head = f"catch ({caught})"
        if self._layout.is_one_line(Span(clause.head.start, clause.body.span.end)):
            return [f"{head} {{ {does} }}"]
        outer = self._layout.newline + self._layout.indent(clause.body.span.end - 1)
        begin = f"{outer}{{" if self._layout.is_first_in_line(clause.body.span.start) else " {"
        return [f"{head}{begin}{outer}{self._layout.unit}{does}{outer}}}"]

    def _taker_of_foreign(self, clauses: tuple[Catch, ...]) -> Catch | None:
        """The clause that takes what is no Error."""
        for kind in (CatchKind.ALL, CatchKind.ERROR):
            for clause in clauses:
                if clause.kind is kind:
                    return clause
        return None

    def _must_move(self, clause: Catch, takes_foreign: bool, is_last: bool) -> bool:
        if self._reach.suspends(clause.body) or any(map(self._awaits, syntax.walk(clause.body))):
            return True
        if not self._settings.is_exact or clause.kind is not CatchKind.ERROR or not takes_foreign:
            return False
        return not is_last or self._settings.is_foundationdb  # which has no name for the result of currentError()

    def _awaits(self, statement: syntax.Statement) -> bool:
        """Whether a statement that is no wait becomes a co_await."""
        return isinstance(statement, syntax.Return) and statement.is_never

    def _current_error(self) -> str:
        return f"{self._library}unknown_error()" if self._settings.is_foundationdb else "flow::currentError()"

    # -----------------------------------------------------------------------------------------------------------

    def _native(self, clause: Catch, takes_foreign: bool, place: Place) -> list[Part]:
        """A clause that stays one: edits it where it stands, and returns it."""
        inner = replace(place, rethrown="")
        whole = Span(clause.head.start, clause.body.span.end)
        is_passed_on = clause.kind is CatchKind.ALL and self._has_other_clauses and self._rethrows(clause)
        if self._settings.is_exact and takes_foreign and (clause.kind is CatchKind.ERROR or is_passed_on):
            self._take_all(clause, inner)
            return [whole]
        if clause.kind is CatchKind.ERROR and takes_foreign:
            self._common.note(
                Hazard.FOREIGN_EXCEPTION,
                clause.head,
                "exceptions that are no Error pass this handler",
                f"catch (...) {{ Error {clause.name or 'e'} = {self._current_error()}; ... }}",
            )
        self._convert_block(clause.body, inner)
        return [whole]

    def _take_all(self, clause: Catch, place: Place) -> None:
        """`catch (...) { Error e = currentError(); ... }`"""
        self._edits.replace(clause.head, "catch (...)")
        name = clause.name
        rethrows = self._has_other_clauses and self._rethrows(clause)
        if name is None and rethrows:
            name = self._common.unused("caught")
        if name is not None and (rethrows or self._names_caught(clause)):
            type_ = (
                self._error_type(clause)
                if clause.type is None
                else one_line(self._common.text(clause.type)).rstrip("& ")
            )
            self._layout.first_in(clause.body, f"{type_} {name} = {self._current_error()};")
        self._convert_block(clause.body, replace(place, rethrown=name if rethrows and name else ""))

    def _rethrows(self, clause: Catch) -> bool:
        return any(isinstance(inner, syntax.Throw) and inner.value is None for inner in syntax.walk(clause.body))

    def _names_caught(self, clause: Catch) -> bool:
        """Whether a handler names its error, and not that of a handler in it."""
        if clause.name is None:
            return False
        inner = [
            Span(catch.head.start, catch.body.span.end)
            for statement in syntax.walk(clause.body)
            if isinstance(statement, syntax.Try)
            for catch in statement.catches
            if catch.name == clause.name
        ]
        places = (self._words.starts[index] for index in self._common.places(clause.name, clause.body.span))
        return any(not any(span.start <= place < span.end for span in inner) for place in places)

    def _moved(self, statement: Try, clause: Catch, place: Place, lead: str) -> tuple[list[Part], list[Part]]:
        """What keeps the error in the catch block, and the handler behind it, which begins with `lead`."""
        if clause.kind is CatchKind.OTHER:
            return self._moved_other(statement, clause, place, lead)
        holder = self._common.unused("caught")
        self._holders[clause] = holder
        type_ = self._error_type(clause)
        self._layout.before(statement.span.start, f"{type_} {holder};")
        is_named = self._names_caught(clause)
        is_renamed = is_named and self._may_rename(clause)
        dropped = lead == "" and (is_renamed or not is_named) and self._drops_braces(statement, clause, place)
        takes_all = clause.kind is CatchKind.ALL or (
            self._settings.is_exact
            and clause is self._taker_of_foreign(statement.catches)
            and clause is statement.catches[-1]
        )
        if takes_all and not self._settings.is_foundationdb:
            keep = self._keeping(clause, "...", self._kept_foreign(clause))
        else:
            name = clause.name or self._common.free("raised")
            keep = self._keeping(clause, f"{type_}& {name}", f"{holder} = {name};")
            if takes_all:
                keep += [self._before_clause(clause), *self._keeping(clause, "...", self._kept_foreign(clause))]
        if is_renamed and clause.name is not None:
            for index in self._common.places(clause.name, clause.body.span):
                self._edits.replace(self._words.span(index), holder)
        elif is_named:
            spelt = one_line(self._common.text(clause.type)).rstrip("& ")
            self._layout.first_in(clause.body, f"{spelt}& {clause.name} = {holder};")
        inside = self._layout.without_blanks(Span(clause.body.span.start + 1, clause.body.span.end - 1))
        if dropped:
            outer = self._layout.written_indent(statement.span.start)
            self._layout.dedent(inside, outer, self._inner_indent(clause.body))
        self._convert_block(clause.body, replace(place, rethrown=holder))
        if not dropped:
            return keep, self._guarded(lead, f"{holder}.isValid()", clause)
        ends_line = "//" in self._source[inside].rpartition("\n")[2]
        made: list[Part] = [inside]
        if ends_line and self._layout.rest_of_line(clause.body.span.end).strip():
            made.append(self._apart(statement))
        return keep, made

    def _inner_indent(self, block: Block) -> str:
        """As the source has it."""
        own = (each.span.start for each in block.statements if self._layout.is_first_in_line(each.span.start))
        return next(map(self._layout.written_indent, own), "")

    def _may_rename(self, clause: Catch) -> bool:
        """Whether each place in a handler that has the name of its error surely means that."""
        first, end = self._words.between(clause.body.span)
        texts = self._words.texts
        if any(texts[i][:1] == "#" or (texts[i] == "[" and texts[i + 1] in ("this", "=")) for i in range(first, end)):
            return False
        inner = list(syntax.walk(clause.body))
        caught = {catch.name for each in inner if isinstance(each, Try) for catch in each.catches}
        return clause.name not in caught.union(*map(self._declared, inner))

    def _declared(self, statement: syntax.Statement) -> set[str]:
        names = {name for _, name in syntax.declared_states(statement)}
        names |= {local.name for local in statement.locals} if isinstance(statement, syntax.Plain) else set()
        return names.union(*(wait.result.names for wait in syntax.waits_of(statement) if wait.result is not None))

    def _drops_braces(self, statement: Try, clause: Catch, place: Place) -> bool:
        """Whether a handler that control always comes to can do without braces: it declares nothing, or it is the last
        of its block and declares nothing that is known there already."""
        body = clause.body
        texts, (first, end) = self._words.texts, self._words.between(body.span)
        is_bare = self._layout.has_braces(body) and not self._source[Span(clause.head.end, body.span.start)].strip()
        if not is_bare or place.in_switch:
            return False
        if any(text[:1] == "#" or text in _DECLARING for text in texts[first:end]):
            return False
        lines = self._source[body.span].rstrip("} \t\r\n").splitlines()
        if "//" in lines[-1] and not self._layout.is_last_in_line(body.span.end):
            return False
        known = {each.name for each in self._common.actor.parameters}
        declared: set[str] = set().union(*map(self._declared, body.statements))
        puts_in_front = self._settings.is_foundationdb and self._settings.is_exact  # the operands of a choose
        if (declared or puts_in_front) and place.block.statements[-1] is not statement:
            return False
        before = Span(self._common.body.span.start, statement.span.start)
        return known.isdisjoint(declared) and not any(self._common.uses(name, before) for name in declared)

    def _guarded(self, lead: str, test: str, clause: Catch) -> list[Part]:
        """The body of a clause behind `if (test)`, or `else`, or nothing instead of its head."""
        between = Span(clause.head.end, clause.body.span.start)
        if not lead and not self._source[between].strip():
            return [clause.body.span]
        return [f"{lead} ({test})" if lead.endswith("if") else lead, between, clause.body.span]

    def _error_type(self, clause: Catch) -> str:
        if clause.type is None:
            return f"{self._library}Error"
        words = one_line(self._common.text(clause.type)).rstrip("& ").split()
        return next(word for word in words if word != "const")

    def _moved_other(self, statement: Try, clause: Catch, place: Place, lead: str) -> tuple[list[Part], list[Part]]:
        """Of an exception that is no Error: the object lives for as long as an exception_ptr to it."""
        if self._settings.is_foundationdb:
            raise UnconvertibleError("a handler of another type than Error waits")
        holder = self._common.unused("raised")
        spelt = one_line(self._common.text(clause.type))
        type_ = spelt.rstrip("& ")
        self._layout.before(statement.span.start, f"std::exception_ptr {holder};")
        kept = self._common.unused("kept")
        name = clause.name
        keep = f"{holder} = std::current_exception();"
        caught = f"{type_}{by_reference(spelt) or '&'}"
        if name is not None and self._names_caught(clause):
            thrown = self._common.unused("thrown")
            caught += f" {name}"
            if spelt.endswith("&") and not type_.removesuffix("const").rstrip().endswith("*"):
                self._layout.before(statement.span.start, f"{type_}* {thrown} = nullptr;")
                keep += f" {thrown} = &{name};"
                local = f"{type_}& {name} = *{thrown};"
            else:  # a pointer that is caught by reference may be a temporary of the catch block
                held = _CONSTANT.sub("", type_)
                self._layout.before(statement.span.start, f"std::optional<{held}> {thrown};")
                keep += f" {thrown}.emplace({name});"
                taken = thrown if is_trivial(held) else f"std::exchange({thrown}, std::nullopt)"
                local = f"{type_} {name} = *{taken};"
            self._layout.first_in(clause.body, f"std::exception_ptr {kept} = std::move({holder}); {local}")
        else:
            self._layout.first_in(clause.body, f"std::exception_ptr {kept} = std::move({holder});")
        self._convert_block(clause.body, replace(place, rethrown=f"rethrow {kept}"))
        return self._keeping(clause, caught, keep), self._guarded(lead, holder, clause)

    def convert_throw(self, statement: syntax.Throw, place: Place) -> None:
        if statement.value is not None or not place.rethrown:
            return
        keyword = self._words.span(self._words.first(statement.span))
        if place.rethrown.startswith("rethrow "):
            self._edits.replace(keyword, f"std::rethrow_exception({place.rethrown.removeprefix('rethrow ')})")
        else:
            self._edits.insert(keyword.end, f" {place.rethrown}", rank=-1)
