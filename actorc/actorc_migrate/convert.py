"""The actors of one file as coroutines.

    edits = Edits(source.text)
    conversion = convert(analyse(source, Diagnostics()), source, Settings(), edits)
    print(edits.result())

Only actors, test cases and described structs are edited here; what is around them is for headers.py and calls.py.
"""

from __future__ import annotations

import re

from actorc.check.reach import Reach
from actorc.emit.description import described
from actorc.source import Source
from actorc.spelling import one_line
from actorc.syntax import Actor, Block, File, Parameter, Span, Try, Words, walk
from actorc_migrate.body import Body
from actorc_migrate.comments import keeper
from actorc_migrate.common import UNUSED, Common, Gathered, UnconvertibleError
from actorc_migrate.edits import Edits
from actorc_migrate.hazards import Hazards
from actorc_migrate.notes import Conversion, Hazard, Note, Outcome
from actorc_migrate.prototypes import by_value
from actorc_migrate.settings import Settings
from actorc_migrate.spelling import detached, library_in


def convert(file: File, source: Source, settings: Settings, edits: Edits) -> Conversion:
    """Adds the edits for all actors that can be converted. Others stay as they are, and their outcome says why."""
    edits.keeper = keeper(file.words, source)
    outcomes: list[Outcome] = []
    notes: list[Note] = []
    for actor in file.actors:
        found = Gathered()
        mark = edits.mark()
        left = ""
        try:
            _Actor(actor, file.words, source, settings, edits, found).convert()
        except UnconvertibleError as error:
            edits.forget(mark)
            found = Gathered()
            left = str(error)
        passes = not left and _propagates_errors(actor, settings, Reach(source))
        outcomes.append(Outcome(actor.name, actor.span, found.constructs, left, passes, found.void_ends))
        notes += found.notes
    for description in file.descriptions:
        start = description.span.start
        edits.replace(Span(start, description.struct.span.start))
        edits.insert(description.span.end, described(description, source), rank=-1)
    edits.keeper = None
    return Conversion(tuple(outcomes), tuple(notes))


class _Actor:
    def __init__(
        self,
        actor: Actor,
        words: Words,
        source: Source,
        settings: Settings,
        edits: Edits,
        found: Gathered,
    ) -> None:
        self._actor = actor
        self._library = _library_of(actor, source, settings)
        self._words = words
        self._source = source
        self._settings = settings
        self._edits = edits
        self._found = found

    def convert(self) -> None:
        actor = self._actor
        if actor.captures is not None:
            self._lambda(actor, actor.body)
        elif actor.test_name is None:
            self._head()
        self._found.count(_kind(actor))
        if actor.body is not None:
            self._body(actor, actor.body)
        for inner in actor.lambdas:
            _Actor(inner, self._words, self._source, self._settings, self._edits, self._found).convert()

    def _body(self, actor: Actor, body: Block) -> None:
        common = Common(actor, body, self._words, self._source, self._settings, self._edits, self._found, self._library)
        values = common.void_values
        if values.need_parameter:
            result = one_line(self._source[actor.result_type.span]) if actor.result_type else ""
            where = f"`{result}` is Void: there `co_return x` is none"
            self._note(
                Hazard.TEMPLATE_VOID,
                actor.name_span,
                f"it does not compile where {where if values.returns_one else 'a wait gives a Void: `x = co_await f`'}",
                "an overload for Void, or `ExplicitVoid = {}` as its last parameter",
            )
        Body(common).convert()
        Hazards(common).look()
        has_pack = any(parameter.is_pack for parameter in actor.parameters)
        runs_out = values.takes_one and common.reach.flow(body).normal
        is_called = actor.test_name is None and actor.captures is None
        if values.need_parameter and is_called and not (has_pack or runs_out or self._settings.is_foundationdb):
            self._found.void_ends = tuple(values.ends)

    def _lambda(self, actor: Actor, body: Block | None) -> None:
        """The lambda may be destroyed before its coroutine. So the coroutine is a lambda without captures, which gets
        them as arguments."""
        assert body is not None
        first = self._words.first(actor.span)
        self._remove(first)
        if actor.is_uncancellable:
            self._remove(first + 1)
        self._note(Hazard.LAMBDA_CAPTURES, actor.span, "what it captures is passed to the coroutine by value")
        parameters = [
            f"{self._unused_mark(each.name)}auto{'&' if each.is_reference else ''} {each.name}"
            for each in actor.captures or ()
        ]
        passed = [each.name for each in actor.captures or ()]
        if self._takes_uncancellable():
            parameters.insert(0, f"{self._library}Uncancellable")
            passed.insert(0, f"{self._library}Uncancellable()")
        for parameter in actor.parameters:
            self._parameter(parameter)
            type_ = one_line(self._source[parameter.type.span])
            dots = "..." if parameter.is_pack else ""
            parameters.append(f"{self._unused_mark(parameter.name)}{type_}{dots} {parameter.name}")
            passed.append(f"std::move({parameter.name}){dots}")
        returns = self._detached() if actor.result_type is None else one_line(actor.return_text)
        # A caller of a void lambda drops what the coroutine returns.
        dropped = "{ (void)" if self._takes_uncancellable() else "{ "
        start = dropped if actor.result_type is None else "{ return "
        self._edits.insert(body.span.start, f"{start}[]({', '.join(parameters)}) -> {returns} ", rank=-1)
        self._edits.insert(body.span.end, f"({', '.join(passed)}); }}", rank=-1)

    def _note(self, hazard: Hazard, span: Span, message: str, instead: str = "") -> None:
        self._found.notes.append(Note(hazard, span, self._actor.name, message, instead))

    # -----------------------------------------------------------------------------------------------------------

    def _head(self) -> None:
        actor = self._actor
        texts = self._words.texts
        first = self._words.first(actor.span)
        name = self._words.first(actor.name_span)
        self._remove(first)
        index = first + 1
        has_static = actor.is_static
        while index < name:
            if texts[index] == "UNCANCELLABLE":
                self._remove(index)
            elif texts[index] == "[" and texts[index + 1] == "[" and texts[index + 2].startswith("flow_"):
                close = next(i for i in range(index, name) if texts[i] == "]" and texts[i + 1] == "]") + 1
                self._edits.replace(self._blanks(Span(self._words.starts[index], self._words.span(close).end)))
                index = close
            index += 1
        if actor.enclosing_classes and not actor.qualifier and not has_static:
            self._edits.insert(self._return_start(), "static ", rank=1)
            self._note(
                Hazard.REAL_THIS,
                actor.name_span,
                "it becomes static: an actor has no `this`",
            )
        detached = actor.result_type is None
        if detached:
            self._found.count("void actor")
            self._edits.replace(self._void(), self._detached())
        if self._takes_uncancellable():
            self._note(Hazard.DETACHED, actor.name_span, "its callers pass Uncancellable()")
            open_ = self._parameters_open()
            inside, is_alone = self._words.span(open_).end, texts[open_ + 1] == ")"
            self._edits.insert_argument(inside, f"{self._library}Uncancellable", is_alone=is_alone)
        for parameter in actor.parameters:
            self._parameter(parameter)
            mark = self._unused_mark(parameter.name)
            if mark:
                self._edits.insert(parameter.span.start, mark, rank=1)

    def _unused_mark(self, parameter: str) -> str:
        """`[[maybe_unused]] ` for a parameter that nothing reads, since actorc suppressed the compiler's warning."""
        body = self._actor.body
        if body is None:
            return ""
        first, end = self._words.between(body.span)
        texts = self._words.texts
        mentioned = (texts[i - 1] not in (".", "->", "::") for i in range(first, end) if texts[i] == parameter)
        return "" if any(mentioned) else UNUSED

    def _takes_uncancellable(self) -> bool:
        is_void = self._actor.result_type is None
        return self._settings.is_foundationdb if is_void else self._actor.is_uncancellable

    def _detached(self) -> str:
        """What a void actor returns."""
        return detached(self._library, self._settings)

    def _remove(self, index: int) -> None:
        self._edits.replace(self._blanks(self._words.span(index)))

    def _blanks(self, span: Span) -> Span:
        """The span, and all that is blank behind it."""
        end = span.end
        while self._source.text[end].isspace():
            end += 1
        return Span(span.start, end)

    def _return_start(self) -> int:
        """Where the return type begins."""
        actor = self._actor
        if actor.result_type is None:
            return self._void().start
        index = self._words.first(actor.result_type.span)
        while self._words.texts[index] != "Future":
            index -= 1
        qualifier = one_line(actor.return_text).partition("Future")[0]
        return self._words.starts[index - len(re.findall(r"\w+|::", qualifier))]

    def _void(self) -> Span:
        name = self._words.first(self._actor.name_span)
        index = name
        while self._words.texts[index] != "void":
            index -= 1
        return self._words.span(index)

    def _parameters_open(self) -> int:
        index = self._words.first(self._actor.name_span)
        while self._words.texts[index] != "(":
            index += 1
        return index

    def _parameter(self, parameter: Parameter) -> None:
        """Makes the parameter a value, since the actor had a copy."""
        span = parameter.span
        if not by_value(parameter, self._words):
            return
        self._note(
            Hazard.REFERENCE_PARAMETER,
            span,
            f"`{parameter.name}` is taken by value, as the actor copied it",
        )
        for place, text in by_value(parameter, self._words):
            self._edits.replace(place, text)


def _library_of(actor: Actor, source: Source, settings: Settings) -> str:
    """The prefix in the result type, else that of the file: `Future` may be visible without a prefix where other names
    are not."""
    if actor.result_type is not None and actor.return_text.startswith("flow::"):
        return "flow::"
    if actor.result_type is not None and settings.is_foundationdb:
        return ""
    return library_in(source.text, settings)


def _propagates_errors(actor: Actor, settings: Settings, reach: Reach) -> bool:
    """Whether an error at any of its waits can only end the actor. Then it can have a Propagate parameter."""
    if actor.body is None or actor.test_name is not None or actor.captures is not None or settings.is_foundationdb:
        return False
    if actor.result_type is None or actor.is_uncancellable or any(parameter.is_pack for parameter in actor.parameters):
        return False
    if not reach.suspends(actor.body):
        return False
    tries = (inner for inner in walk(actor.body) if isinstance(inner, Try))
    return not any(reach.suspends(inner.body) for inner in tries)


def _kind(actor: Actor) -> str:
    if actor.test_name is not None:
        return "benchmark" if actor.is_benchmark else "test case"
    if actor.captures is not None:
        return "lambda actor"
    if actor.body is None:
        return "declaration"
    return "template actor" if actor.template is not None else "actor"
