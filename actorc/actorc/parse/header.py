"""The head of an actor: everything from `ACTOR` to the `;` or `{`."""

from __future__ import annotations

from actorc.diagnostics import Abandoned, Diagnostics, Edit, Fault, Fix
from actorc.parse.brackets import TokenList
from actorc.parse.parameters import ParameterParser
from actorc.parse.reader import Reader
from actorc.records import dataclass, field
from actorc.repairs import insert, inserted, removed, replaced
from actorc.syntax import Code, Parameter, Span, TemplateParameter
from actorc.words import KEYWORDS

_FLOW_ATTRIBUTES = ("flow_allow_discard",)
_REFUSED_SPECIFIERS = ("inline", "virtual", "explicit", "constexpr", "friend", "extern", "consteval", "requires")

_HEAD = "write `ACTOR Future<T> NAME(TYPE NAME, ...)`"


@dataclass(slots=True)
class Head:
    """What was read so far; `end` is the index of the `;` or `{` after the head."""

    template: tuple[TemplateParameter, ...] | None = None
    attributes: list[str] = field(default_factory=list)
    is_static: bool = False
    is_uncancellable: bool = False
    result_type: Code | None = None
    return_text: str = "void"
    qualifier: tuple[str, ...] = ()
    name: str = ""
    name_span: Span = field(default_factory=lambda: Span(0, 0))
    parameters: tuple[Parameter, ...] = ()
    end: int = 0


class HeaderParser(Reader):
    def __init__(self, tokens: TokenList, diagnostics: Diagnostics) -> None:
        super().__init__(tokens, diagnostics)
        self._parameters = ParameterParser(tokens, diagnostics)

    def parse(self, actor: int, end: int) -> Head:
        """Read the head from the word `ACTOR` up to its `;` or `{` at `end`, its brackets having been matched.

        Raises Abandoned if no name and parameters can be made out.
        """
        head = Head(end=end)
        self._before(actor)
        index = self._template(head, actor + 1)
        index = self._specifiers(head, index)
        open_ = self._tokens.find(index, head.end, ("(",))
        close = self._tokens.partner.get(open_)
        if open_ < head.end and close is None:
            raise Abandoned  # the missing parenthesis has been reported
        if close is None:
            self._fail(Fault.ACTOR_HEAD, "an actor needs a name and a parameter list", actor, actor + 1, _HEAD)
        name = self._name(head, index, open_)
        self.return_type(head, index, name)
        head.parameters = self._parameters.parse(open_ + 1, close)
        self._after_parameters(head, close + 1)
        return head

    # -----------------------------------------------------------------------------------------------------------
    # Before the return type

    def _before(self, actor: int) -> None:
        """What belongs behind the word ACTOR."""
        index = actor - 1
        word = self._texts[index] if actor else ""
        if word == ">":
            depth = 1
            while depth and index:
                index -= 1
                depth += (self._texts[index] == ">") - (self._texts[index] == "<")
            if index and self._texts[index - 1] == "template":
                self._misplaced(index - 1, actor, Fault.TEMPLATE_HEADER)
        elif word == "static":
            self._misplaced(index, actor, Fault.ACTOR_HEAD)
        elif word in ("inline", "virtual", "constexpr"):
            message = f"`{word}` cannot stand before an actor"
            removal = removed(self._tokens.to_next(index), word)
            self._error(Fault.ACTOR_HEAD, message, index, actor, "leave it out", removal)

    def _misplaced(self, first: int, actor: int, fault: Fault) -> None:
        text = self._tokens.text(first, actor)
        behind = self._texts[actor]
        taken = Edit(Span(self._tokens.span(first, actor).start, self._tokens.span(actor, actor + 1).start), "")
        put = insert(self._tokens.span(actor, actor + 1).end, f" {text}")
        fixes = (Fix(f"write `{text}` behind `{behind}`", (taken, put)),)
        message = f"`{text}` stands before the word `{behind}`, which every actor begins with"
        self._error(fault, message, first, actor, f"write `{behind} {text} ...`", fixes)

    def _template(self, head: Head, index: int) -> int:
        if self._texts[index] != "template":
            return index
        close = self._tokens.angle.get(index + 1)
        if close is None:
            message = "`template` needs a parameter list in `<...>`"
            self._error(Fault.TEMPLATE_HEADER, message, index, index + 1, "write `template <class T>`")
            return index + 1
        ranges = self._tokens.split(index + 2, close)
        if not ranges:
            message = "an actor cannot be an explicit specialisation"
            self._error(Fault.TEMPLATE_HEADER, message, index, close + 1, "write an overload, or use `if constexpr`")
        head.template = tuple(self._template_parameter(first, end) for first, end in ranges)
        return close + 1

    def _template_parameter(self, first: int, end: int) -> TemplateParameter:
        stop = self._tokens.find(first, end, ("=",))
        name = stop - 1
        if stop - first < 2 or not self._tokens.is_name(name) or self._texts[name] in KEYWORDS:
            message = "a template parameter of an actor needs a name"
            self._error(Fault.TEMPLATE_HEADER, message, first, max(stop, first + 1), "write `class T`")
            return TemplateParameter(self._tokens.span(first, end), "", "", False)
        text = self._tokens.text(first, stop)
        return TemplateParameter(self._tokens.span(first, end), text, self._texts[name], "..." in text)

    def _specifiers(self, head: Head, index: int) -> int:
        """Attributes, `static` and `UNCANCELLABLE`, in any order."""
        while index < head.end:
            text = self._texts[index]
            if text == "[" and self._texts[index + 1] == "[":
                index = self._attribute(head, index)
            elif text == "static":
                head.is_static = True
                index += 1
            elif text == "UNCANCELLABLE":
                head.is_uncancellable = True
                index += 1
            elif text in _REFUSED_SPECIFIERS or text == "template":
                fault = Fault.TEMPLATE_HEADER if text == "template" else Fault.ACTOR_HEAD
                hint = (
                    "leave it out" if text != "template" else "an actor has one `template <...>` in front of all else"
                )
                fixes = (
                    () if text in ("template", "requires", "explicit") else removed(self._tokens.to_next(index), text)
                )
                message = f"`{text}` cannot stand before an actor's return type"
                self._error(fault, message, index, index + 1, hint, fixes)
                index = self._tokens.next(index + (text == "template"), head.end, angles=True)
            else:
                break
        return index

    def _attribute(self, head: Head, index: int) -> int:
        inner = self._tokens.partner.get(index + 1)
        outer = self._tokens.partner.get(index)
        if inner is None or outer != inner + 1:
            self._error(Fault.ATTRIBUTE, "an attribute is written `[[name]]`", index, index + 2)
            return (outer or index + 1) + 1
        for place in range(index + 2, inner):
            word = self._texts[place]
            if word.startswith("flow_") and word not in _FLOW_ATTRIBUTES:
                known = ", ".join(f"`{name}`" for name in _FLOW_ATTRIBUTES)
                fixes = replaced(self._tokens.span(place, place + 1), _FLOW_ATTRIBUTES[0])
                message = f"there is no attribute `{word}`"
                self._error(Fault.ATTRIBUTE, message, place, place + 1, f"known is {known}", fixes)
        head.attributes.append(self._tokens.text(index, outer + 1))
        return outer + 1

    # -----------------------------------------------------------------------------------------------------------
    # Return type and name

    def _name(self, head: Head, first: int, open_: int) -> int:
        """Read `[QUALIFIER::]NAME` backwards from the `(`; returns the index at which it begins."""
        name = open_ - 1
        if name < first or not self._tokens.is_name(name) or self._texts[name] in KEYWORDS:
            self._fail(Fault.ACTOR_HEAD, "an actor needs a plain name before its parameters", open_, open_ + 1, _HEAD)
        head.name = self._texts[name]
        head.name_span = self._tokens.tokens[name].span
        parts: list[str] = []
        begin = name
        while begin - 2 >= first and self._texts[begin - 1] == "::" and self._tokens.is_name(begin - 2):
            begin -= 2
            parts.insert(0, self._texts[begin])
        if begin > first and self._texts[begin - 1] == "::":
            message = "the qualifier of an actor's name must be plain names"
            self._fail(Fault.ACTOR_HEAD, message, begin - 1, begin, "leave out a leading `::` and template arguments")
        head.qualifier = tuple(parts)
        return begin

    def return_type(self, head: Head, first: int, end: int) -> None:
        """Read `Future<T>` or `void` from the whole range."""
        text = self._tokens.text(first, end) if first < end else ""
        if text == "void":
            return
        head.return_text = text
        open_ = self._future_angle(first)
        close = self._tokens.angle.get(open_)
        if close is None or close != end - 1:
            self._wrong_return_type(head, first, end)
            return
        is_void = self._texts[open_ + 1 : close] == ["void"]
        if is_void or not any(self._tokens.is_name(index) for index in range(open_ + 1, close)):
            message = "`Future` needs a type: an actor without a result is a `Future<Void>`"
            fixes = replaced(self._tokens.span(first, end), "Future<Void>") if close <= open_ + 1 + is_void else ()
            self._error(Fault.RETURN_TYPE, message, first, end, "write `Future<Void>`", fixes)
        head.result_type = self._tokens.code(open_ + 1, close)

    def _future_angle(self, first: int) -> int:
        """Where the `<` stands in `Future<`, `flow::Future<` or `::flow::Future<`; -1 if none of these is here."""
        for words in (["Future"], ["flow", "::", "Future"], ["::", "flow", "::", "Future"]):
            if self._texts[first : first + len(words)] == words:
                return first + len(words)
        return -1

    def _wrong_return_type(self, head: Head, first: int, end: int) -> None:
        name = head.name_span
        if first >= end:
            message = f"actor `{head.name}` has no return type"
            hint = "write `Future<Void>` or `void` before it"
            self._diagnostics.error(
                Fault.RETURN_TYPE, message, name, hint=hint, fixes=inserted(name.start, "Future<Void> ")
            )
            return
        is_alias = self._texts[first] == "auto" or self._is_alias(self._texts[end - 1])
        is_value = "Future" not in head.return_text and not is_alias
        hint = f"write `Future<{head.return_text}>`" if is_value else "write `Future<T>` itself, not an alias or `auto`"
        message = f"an actor must return `Future<T>` or `void`, not `{head.return_text}`"
        fixes = replaced(self._tokens.span(first, end), f"Future<{head.return_text}>") if is_value else ()
        self._error(Fault.RETURN_TYPE, message, first, end, hint, fixes)

    def _is_alias(self, name: str) -> bool:
        """Whether the file says `using NAME = ...`."""
        return any(text == "using" and self._texts[index + 1] == name for index, text in enumerate(self._texts))

    def _after_parameters(self, head: Head, index: int) -> None:
        if index < head.end:
            text = self._tokens.text(index, head.end)
            message = f"`{text}` cannot stand after an actor's parameters" if len(text) < 40 else "unexpected text"
            span = self._tokens.span(index, head.end)
            self._error(Fault.AFTER_PARAMETERS, message, index, head.end, "leave it out", removed(span, text))
        elif self._texts[head.end] not in ("{", ";"):
            self._error(Fault.ACTOR_HEAD, f"actor `{head.name}` has neither a body nor a `;`", index - 1, index)
