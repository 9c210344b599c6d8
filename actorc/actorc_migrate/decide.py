"""Decides what each file becomes, after all have been examined: which keep their names, and what changes around the
actors."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Sequence

from actorc.records import replace
from actorc.source import Source
from actorc.syntax import Span
from actorc_migrate.actors import Head, Table, as_defined, dragged_along
from actorc_migrate.apart import in_plain_headers, notes_of
from actorc_migrate.calls import Known, namespaces_in, spelled_in, update_uses
from actorc_migrate.cmake import Place, update_lists
from actorc_migrate.declared import Declared
from actorc_migrate.directives import Includes, Reach, generated_from, included_paths, is_actor_file, renamed
from actorc_migrate.edits import Edits
from actorc_migrate.examine import Examined
from actorc_migrate.gather import Kind, kind_of, new_path
from actorc_migrate.guards import find_guards, mentions_build
from actorc_migrate.headers import Frame, needed_includes, rename_includes, replace_forward_declarations, replace_loops
from actorc_migrate.notes import Hazard, Note, Outcome
from actorc_migrate.prototypes import Prototype
from actorc_migrate.results import FileResult, Status
from actorc_migrate.settings import Settings
from actorc_migrate.spelling import library_in
from actorc_migrate.uses import UseKind

_MACRO = re.compile(r"^[ \t]*#[ \t]*(?:ifndef|define)[ \t]+(\w+)", re.MULTILINE)
_MENTION = re.compile(r"\b([^\W\d]\w*)\b(?!\s*(?:<[^;{}()]*>\s*)?\()")  # no call
_NO_CODE = re.compile(r"//.*|/\*(?s:.*?)\*/|\"(?:\\.|[^\"\\\n])*\"")
_LONE_LINE_END = re.compile(r"(?<!\r)\n")


class Decision:
    def __init__(
        self,
        examined: Sequence[Examined],
        texts: dict[str, str],
        links: dict[str, str],
        refused: dict[str, str],
        settings: Settings,
    ) -> None:
        """`links`: the files that links lead to, by where the links are."""
        self._examined = {each.path: each for each in examined}
        self._texts = texts
        self._refused = refused
        self._settings = settings
        self._sources = {each.path: Source(each.path, each.edits.text) for each in examined}
        self._macros = {match[1] for text in texts.values() for match in _MACRO.finditer(text)}
        self._defined = as_defined(head for each in examined for head in each.heads)
        self._declared = Declared(self._defined, ((each.path, use) for each in examined for use in each.uses))
        self._numbers = Counter(head.name for each in examined for head in each.heads)
        self._numbers.update(use.name for each in examined for use in each.uses if use.kind is UseKind.PROTOTYPE)
        self._mentioned = {match[1] for text in texts.values() for match in _MENTION.finditer(_NO_CODE.sub('""', text))}
        self._includes = Includes(texts, links)
        self._stay = self._staying()
        self._pinned = self._needed_by_refused()
        self._kept = {path: reason for path in self._examined if (reason := self._why_kept(path))}
        self._moves = {path for path in self._examined if kind_of(path) is Kind.ACTORS and path not in self._kept}
        self._links = links
        self._reach = Reach({path: self._spellings(path) for path in texts}, self._includes)
        self._known = self._what_is_known()

    # What stays as it is

    def _staying(self) -> dict[Head, str]:
        """Actors that stay actors, and why."""
        stay: dict[Head, str] = {}
        for each in self._examined.values():
            left = {outcome.span: outcome.left for outcome in each.conversion.outcomes if outcome.left}
            why_all = self._refused.get(each.path) or each.rejected
            for head in each.heads:
                why = why_all or left.get(head.span)
                if why:
                    stay[head] = why
        for path in self._refused:
            stay |= dict.fromkeys(self._needed_as_they_are(path, stay), f"{path} names it, and stays as it is")
        every = [head for each in self._examined.values() for head in each.heads]
        for head in dragged_along(stay, every) - set(stay):
            what = "declaration" if head.is_definition else "definition"
            stay[head] = f"its {what} in another place stays an actor"
        return stay

    def _needed_as_they_are(self, path: str, stay: Collection[Head]) -> list[Head]:
        """The actors that change for a file which nothing may change."""
        uses = self._examined[path].uses if path in self._examined else ()
        declared = self._declared.named_in(path)
        named = {use.name for use in uses if use.kind is UseKind.MENTION}
        called = {use.name for use in uses if use.kind in (UseKind.CALL, UseKind.MACRO) and not use.is_told}
        return [
            head
            for head, defined in self._defined.items()
            if head not in stay
            and (
                head in declared
                or (head.name in called and defined.changes(self._settings))
                or (head.name in named and defined.changes_type(self._settings))
            )
        ]

    def _needed_by_refused(self) -> dict[str, str]:
        """Headers that keep their names since files that nothing may change include them, and which those are."""
        refused = [path for path in self._refused if path in self._texts]
        return {
            header: path
            for path in refused
            for included in self._spellings(path)
            if is_actor_file(included)
            for header in self._includes.actor_files(included, path)
        }

    def _why_kept(self, path: str) -> str:
        """Why a file stays an actor file."""
        if kind_of(path) is not Kind.ACTORS:
            return ""
        each = self._examined[path]
        if path in self._refused or each.rejected:
            return self._refused.get(path) or each.rejected
        left = {outcome.span for outcome in each.conversion.outcomes if outcome.left}
        left |= {head.span for head in each.heads if head in self._stay}
        if left:
            return f"{len(left)} of its actors cannot be migrated"
        directives = each.surroundings.directives
        if path.endswith(".h") and mentions_build(directives) and find_guards(directives) is None:
            return "its guards are not the usual two, so that it must be given others by hand"
        if path in self._pinned:
            return f"{self._pinned[path]} includes it by this name, and stays as it is"
        return ""

    # Facts about all files

    def _spellings(self, path: str) -> list[str]:
        each = self._examined.get(path)
        if each is None:
            return included_paths(self._texts[path])
        return [directive.included[0] for directive in each.surroundings.directives if directive.included]

    def _what_is_known(self) -> Known:
        migrated = [
            self._defined[head] for each in self._examined.values() for head in each.heads if head not in self._stay
        ]
        declared = [seen for head, seen in self._declared.seen() if head not in self._stay]
        by_name: dict[str, list[Head]] = {}
        for head in sorted(migrated, key=lambda head: not head.is_definition):
            by_name.setdefault(head.name, []).append(head)
        classes: dict[str, set[str]] = {}
        for head in migrated:
            for name in head.class_names:
                classes.setdefault(name, set()).add(head.path)
        return Known(
            Table([*migrated, *declared], self._settings, self._reach.sees),
            by_name,
            classes,
            {head: self._place(head) for head in migrated},
            self._defined,
            self._reach.sees,
            namespaces_in(self._texts.values()),
            self._declared,
            self._stay,
            self._settings,
        )

    def _place(self, head: Head) -> str:
        path = new_path(head.path) if head.path in self._moves else head.path
        return f"{path}:{self._sources[head.path].line(head.span.start)}"

    # What becomes of a file

    def of_code(self, each: Examined) -> FileResult:
        path, source = each.path, self._sources[each.path]
        if path in self._refused:  # nothing may change in it
            why = self._refused[path]
            left = tuple(Outcome(head.name, head.span, {}, why) for head in each.heads)
            return FileResult(path, path, Status.REFUSED, why, source, source.text, (), left)
        edits = each.edits.copy()
        outcomes, notes = self._conversion(each, edits)
        elsewhere = self._declared_elsewhere(each)
        self._pass_errors(each, outcomes, elsewhere, edits)
        notes = self._return_voids(each, outcomes, elsewhere, notes, edits)
        directives = each.surroundings.directives
        places: list[Place] = []
        rename_includes(directives, lambda included: self._new_include(included, path), edits)
        places += self._unclear_includes(each)
        if path in self._moves or (kind_of(path) is Kind.PLAIN and any(map(is_actor_file, self._spellings(path)))):
            replace_loops(each.surroundings, edits)
        if path in self._moves and not self._settings.is_foundationdb:
            replace_forward_declarations(each.surroundings, source, edits)
        self._frame(each, source, outcomes, edits)
        notes = self._as_defined(each, notes, edits)
        notes += self._apart(each, elsewhere)
        notes += update_uses(each.uses, self._known, path, source.text, edits)
        self._include_for_prototypes(each, source, edits)
        text = _with_line_ends(edits.result(), source)
        status, reason = self._status(each, is_changed=text != source.text)
        return FileResult(
            path,
            new_path(path) if path in self._moves else path,
            status,
            reason,
            source,
            text,
            tuple(edits.changes()),
            tuple(outcomes),
            tuple(sorted(notes, key=lambda note: note.span.start)),
            tuple(places),
        )

    def _conversion(self, each: Examined, edits: Edits) -> tuple[list[Outcome], list[Note]]:
        """The outcomes of the actors, without those that stay because others do."""
        if each.rejected:
            return [Outcome(head.name, head.span, {}, each.rejected) for head in each.heads], []
        dropped: dict[Span, str] = {head.span: self._stay[head] for head in each.heads if head in self._stay}
        for span in dropped:
            edits.drop(span)
        outcomes = [
            replace(outcome, left=outcome.left or dropped[outcome.span], constructs={})
            if outcome.span in dropped
            else outcome
            for outcome in each.conversion.outcomes
        ]
        notes = [note for note in each.conversion.notes if not any(_holds(span, note.span) for span in dropped)]
        return outcomes, notes

    def _pass_errors(
        self, each: Examined, outcomes: Sequence[Outcome], elsewhere: Collection[Head], edits: Edits
    ) -> None:
        """Adds a last parameter `Propagate = {}`, so that errors end the coroutine without a C++ exception, as they end
        an actor."""
        passing = {outcome.span for outcome in outcomes if outcome.propagates_errors and not outcome.left}
        for head in each.heads:
            if head.span in passing and self._takes_more_parameters(head, elsewhere):
                spelled = f"{library_in(each.edits.text, self._settings)}Propagate"
                edits.insert(head.close, f"{', ' if head.parameters else ''}{spelled} = {{}}", rank=-1)

    def _takes_more_parameters(self, head: Head, elsewhere: Collection[Head]) -> bool:
        """Whether the function can get a parameter with a default: it is declared in one place and only called."""
        return head not in elsewhere and self._numbers[head.name] == 1 and head.name not in self._mentioned

    def _return_voids(
        self,
        each: Examined,
        outcomes: Sequence[Outcome],
        elsewhere: Collection[Head],
        notes: list[Note],
        edits: Edits,
    ) -> list[Note]:
        """Adds a last parameter `ExplicitVoid = {}` to templates that need it for a T that is Void. Returns the notes
        that are left: one for each such template that cannot have it."""
        wanted = {outcome.span: outcome for outcome in outcomes if outcome.void_ends is not None and not outcome.left}
        for head in each.heads:
            if head.span not in wanted or not self._takes_more_parameters(head, elsewhere):
                continue
            outcome, library = wanted[head.span], library_in(each.edits.text, self._settings)
            is_first = not head.parameters and not outcome.propagates_errors
            edits.insert(head.close, f"{'' if is_first else ', '}{library}ExplicitVoid = {{}}", rank=-1)
            for end in outcome.void_ends or ():
                edits.insert(end, f" {library}Void()", rank=-1)
            notes = [
                note for note in notes if note.hazard is not Hazard.TEMPLATE_VOID or not _holds(head.span, note.span)
            ]
        return notes

    def _status(self, each: Examined, *, is_changed: bool) -> tuple[Status, str]:
        path = each.path
        if kind_of(path) is not Kind.ACTORS:
            return (Status.UPDATED if is_changed else Status.UNCHANGED), ""
        if each.rejected:
            return Status.REJECTED, each.rejected
        return (Status.KEPT, self._kept[path]) if path in self._kept else (Status.MIGRATED, "")

    def _new_include(self, included: str, by: str) -> str | None:
        if not is_actor_file(included):
            return None
        meant = self._includes.actor_files(included, by)
        return renamed(included) if meant and all(path in self._moves for path in meant) else None

    def _unclear_includes(self, each: Examined) -> list[Place]:
        places = []
        for directive in each.surroundings.directives:
            included = directive.included
            if included is None or not is_actor_file(included[0]):
                continue
            meant = self._includes.actor_files(included[0], each.path)
            if len({path in self._moves for path in meant}) == 2:
                listed = " and ".join(sorted(meant))
                message = f"may be {listed}, of which one keeps its name"
                places.append(Place(included[1], f"`{included[0]}` {message}"))
        return places

    def _as_defined(self, each: Examined, notes: list[Note], edits: Edits) -> list[Note]:
        """Declarations that differ from their definitions in UNCANCELLABLE."""
        for head in each.heads:
            if head in self._stay or self._defined[head] == head or head.is_void:
                continue
            notes = [note for note in notes if note.hazard is not Hazard.DETACHED or note.span != head.name_span]
            edits.drop_argument(head.inside)
            if self._defined[head].runs_on:
                spelled = spelled_in(each.edits.text, self._settings)
                edits.insert_argument(head.inside, spelled, is_alone=not head.parameters)
                message = "its callers pass Uncancellable(), since its definition is UNCANCELLABLE"
                notes.append(Note(Hazard.DETACHED, head.name_span, head.name, message, ""))
        return notes

    def _declared_elsewhere(self, each: Examined) -> dict[Head, tuple[str, Prototype]]:
        """The actors that plain headers declare which are not given."""
        heads = [head for head in each.heads if head not in self._stay]
        spellings = dict.fromkeys(self._spellings(each.path)) if heads else ()
        plain = [one for one in spellings if not is_actor_file(one) and not self._includes.meant(one, each.path)]
        return in_plain_headers(each.path, heads, plain)

    def _apart(self, each: Examined, elsewhere: dict[Head, tuple[str, Prototype]]) -> list[Note]:
        heads = [head for head in each.heads if head not in self._stay]
        spellings = dict.fromkeys(self._spellings(each.path)) if heads else ()
        absent = [one for one in spellings if is_actor_file(one) and not self._includes.actor_files(one, each.path)]
        return list(notes_of(each.path, heads, self._known.heads, absent, elsewhere))

    def _frame(self, each: Examined, source: Source, outcomes: Sequence[Outcome], edits: Edits) -> None:
        """The includes of the keywords, and the guards."""
        if kind_of(each.path) is not Kind.ACTORS or each.rejected:
            return
        # A declaration needs the headers only if it names what is in them.
        heads = map(self._defined.__getitem__, each.heads)
        declared = {head.span for head in heads if not (head.is_definition or head.runs_on or head.is_void)}
        frame = Frame(source, each.surroundings.directives, edits)
        needed: list[str] = []
        if any(not outcome.left and outcome.span not in declared for outcome in outcomes):
            needed = needed_includes(edits.result, self._reach.spellings(each.path), self._settings)
        if each.path in self._moves:
            frame.drop_keywords(needed, each.first_actor)
            guards = find_guards(each.surroundings.directives)
            if guards is not None:
                frame.one_guard(guards, guards.new_macro(self._macros))
        elif each.first_actor is not None:
            frame.add_includes(needed, each.first_actor)
        frame.finish()

    def _include_for_prototypes(self, each: Examined, source: Source, edits: Edits) -> None:
        """A plain header that names what is in the headers of coroutines."""
        changed = [
            use.span.start
            for use in each.uses
            for head in self._declared.actors(each.path, use, self._stay)
            if head not in self._stay and (head.is_void or self._defined[head].runs_on)
        ]
        if changed and kind_of(each.path) is Kind.PLAIN:
            needed = needed_includes(edits.result, self._reach.spellings(each.path), self._settings)
            Frame(source, each.surroundings.directives, edits).add_includes(needed, min(changed))

    def of_list(self, path: str) -> FileResult:
        """A CMake file."""
        text = self._texts[path]
        source = Source(path, text)
        edits = Edits(text)
        if not self._moves:
            return FileResult(path, path, Status.UNCHANGED, "", source, text, ())
        names = {os.path.basename(each) for each in self._moves}
        names |= {os.path.basename(place) for place, leads_to in self._links.items() if leads_to in self._moves}

        def moves(file: str) -> bool | None:
            meant = self._includes.actor_files(file, path)
            moved = {each in self._moves for each in meant}
            if not moved and os.path.basename(generated_from(file)) not in names:
                return False  # it is not given, and so it stays
            return moved.pop() if len(moved) == 1 else None

        places = update_lists(
            text, moves, edits, source.line_end, "" if self._settings.is_foundationdb else "millrace::flow"
        )
        result = edits.result()
        status = Status.UPDATED if result != text else Status.UNCHANGED
        changes = tuple(edits.changes())
        return FileResult(path, path, status, "", source, result, changes, places=tuple(places))


def _holds(outer: Span, inner: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _with_line_ends(text: str, source: Source) -> str:
    """New lines end as all others of a file do."""
    if source.line_end == "\n" or _LONE_LINE_END.search(source.text):
        return text
    return _LONE_LINE_END.sub("\r\n", text)
