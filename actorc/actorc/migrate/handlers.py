"""`try`: a handler that waits moves behind the catch block, which keeps what it caught.

An actor's `catch (Error&)` takes every exception, as unknown_error if it is no Error and no other clause takes it.
"""

from __future__ import annotations

from actorc import syntax
from actorc.migrate.chooses import Chooses
from actorc.migrate.common import Place, UnconvertibleError
from actorc.migrate.edits import Part
from actorc.migrate.notes import Hazard
from actorc.records import replace
from actorc.spelling import one_line
from actorc.syntax import Catch, CatchKind, Span, Try


class Handlers(Chooses):
    def _try(self, statement: Try, place: Place) -> None:
        self._found.count("try")
        clauses = statement.catches
        foreign = self._taker_of_foreign(clauses)
        moved = [self._must_move(clause, clause is foreign, clause is clauses[-1]) for clause in clauses]
        if any(moved):
            self._make_room(statement, place)
        self._inner_block(statement.body, place)
        heads: list[Part] = []
        bodies: list[Part] = []
        newline = self._newline + self._indent(statement.span.start)
        has_rest = False
        behind = statement.body.span.end
        for clause, is_moved in zip(clauses, moved, strict=True):
            gap = Span(behind, clause.head.start)
            if heads and self._source[gap].strip():
                heads.append(gap)
            behind = clause.body.span.end
            if is_moved:
                self._found.count("handler with waits")
                before = len(bodies)
                keep, body = self._moved(statement, clause, place, is_alone=sum(moved) == 1)
                heads += [" " if heads else "", *keep]
                bodies += [" else " if before else newline, *body]
                if clause is foreign and clause.kind is CatchKind.ERROR and clause is not clauses[-1]:
                    has_rest = True
                continue
            heads += [" " if heads else "", *self._native(clause, clause is foreign, place)]
        if has_rest and foreign is not None:
            heads.append(f" catch (...) {{ {self._holders[foreign]} = {self._current_error()}; }}")
        if not any(moved):
            return
        start = clauses[0].head.start
        end = clauses[-1].body.span.end
        self._edits.replace(Span(start, end), *heads, *bodies)

    _holders: dict[Catch, str]

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
        return not is_last or self._settings.is_foundationdb  # which has no name for what currentError() tells

    def _awaits(self, statement: syntax.Statement) -> bool:
        """Whether a statement that is no wait becomes a co_await."""
        if not isinstance(statement, syntax.Return):
            return False
        return statement.is_never or (self._may_be_void and statement.value is not None)

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
            self._note(
                Hazard.FOREIGN_EXCEPTION,
                clause.head,
                "exceptions that are no Error pass this handler",
                f"catch (...) {{ Error {clause.name or 'e'} = {self._current_error()}; ... }}",
            )
        self._inner_block(clause.body, inner)
        return [whole]

    def _take_all(self, clause: Catch, place: Place) -> None:
        """`catch (...) { Error e = currentError(); ... }`"""
        self._edits.replace(clause.head, "catch (...)")
        name = clause.name
        rethrows = self._has_other_clauses and self._rethrows(clause)
        if name is None and rethrows:
            name = self._unused("caught")
        if name is not None and (rethrows or self._names_caught(clause)):
            type_ = self._error_type(clause) if clause.type is None else one_line(self._text(clause.type)).rstrip("& ")
            self._first_in(clause.body, f"{type_} {name} = {self._current_error()};")
        self._inner_block(clause.body, replace(place, rethrown=name if rethrows and name else ""))

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
        places = (self._words.starts[index] for index in self._places(clause.name, clause.body.span))
        return any(not any(span.start <= place < span.end for span in inner) for place in places)

    def _moved(self, statement: Try, clause: Catch, place: Place, *, is_alone: bool) -> tuple[list[Part], list[Part]]:
        """What keeps the error in the catch block, and the handler behind it."""
        if clause.kind is CatchKind.OTHER:
            return self._moved_other(statement, clause, place)
        holder = self._unused("caught")
        self._holders[clause] = holder
        type_ = self._error_type(clause)
        self._before(statement.span.start, f"{type_} {holder};")
        takes_all = clause.kind is CatchKind.ALL or (
            self._settings.is_exact
            and clause is self._taker_of_foreign(statement.catches)
            and clause is statement.catches[-1]
        )
        indent = self._indent(statement.span.start)
        inner = f"{self._newline}{indent}    "
        if takes_all and not self._settings.is_foundationdb:
            keep: list[Part] = [f"catch (...) {{{inner}{holder} = flow::currentError();{self._newline}{indent}}}"]
        else:
            name = "raised" if "raised" not in self._used else self._unused("raised")
            keep = [f"catch ({type_}& {name}) {{{inner}{holder} = {name};{self._newline}{indent}}}"]
            if takes_all:
                rest = f"{inner}{holder} = {self._current_error()};"
                keep.append(f" catch (...) {{{rest}{self._newline}{indent}}}")
        if self._names_caught(clause):
            spelt = one_line(self._text(clause.type)).rstrip("& ")
            self._first_in(clause.body, f"{spelt}& {clause.name} = {holder};")
        self._inner_block(clause.body, replace(place, rethrown=holder))
        ends = bool(self._reach.flow(statement.body).normal) or not is_alone or len(statement.catches) > 1
        comment = Span(clause.head.end, clause.body.span.start)
        between: list[Part] = [comment] if self._source[comment].strip() else []
        return keep, [f"if ({holder}.isValid()) " if ends else "", *between, clause.body.span]

    def _error_type(self, clause: Catch) -> str:
        if clause.type is None:
            return f"{self._library}Error"
        words = one_line(self._text(clause.type)).rstrip("& ").split()
        return next(word for word in words if word != "const")

    def _moved_other(self, statement: Try, clause: Catch, place: Place) -> tuple[list[Part], list[Part]]:
        """Of an exception that is no Error: the object lives for as long as an exception_ptr to it."""
        if self._settings.is_foundationdb:
            raise UnconvertibleError("a handler of another type than Error waits")
        holder = self._unused("raised")
        type_ = one_line(self._text(clause.type)).rstrip("& ")
        self._before(statement.span.start, f"std::exception_ptr {holder};")
        kept = self._unused("kept")
        name = clause.name
        keep = f"{holder} = std::current_exception();"
        head = f"catch ({type_}&)"
        if name is not None and self._names_caught(clause):
            pointer = self._unused("thrown")
            self._before(statement.span.start, f"{type_}* {pointer} = nullptr;")
            head = f"catch ({type_}& {name})"
            keep += f" {pointer} = &{name};"
            self._first_in(
                clause.body, f"std::exception_ptr {kept} = std::move({holder}); {type_}& {name} = *{pointer};"
            )
        else:
            self._first_in(clause.body, f"std::exception_ptr {kept} = std::move({holder});")
        self._inner_block(clause.body, replace(place, rethrown=f"rethrow {kept}"))
        return [f"{head} {{ {keep} }}"], [f"if ({holder}) ", clause.body.span]

    _has_other_clauses: bool

    def _throw(self, statement: syntax.Throw, place: Place) -> None:
        if statement.value is not None or not place.rethrown:
            return
        keyword = self._words.span(self._words.first(statement.span))
        if place.rethrown.startswith("rethrow "):
            self._edits.replace(keyword, f"std::rethrow_exception({place.rethrown.removeprefix('rethrow ')})")
        else:
            self._edits.insert(keyword.end, f" {place.rethrown}", rank=-1)

    def _inner_block(self, block: syntax.Block, place: Place) -> None:
        raise NotImplementedError
