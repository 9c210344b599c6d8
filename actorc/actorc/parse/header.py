"""The head of an actor: everything from `ACTOR` to the `;` or `{`."""

from __future__ import annotations

from actorc.diagnostics import Abandoned, Diagnostics, Edit, Fault, Fix
from actorc.parse.brackets import TokenList
from actorc.parse.head import Head
from actorc.parse.parameters import ParameterParser
from actorc.parse.reader import Reader
from actorc.parse.returns import ReturnTypeParser
from actorc.repairs import insert, inserted, removed, replaced
from actorc.syntax import Span, TemplateParameter
from actorc.words import ACTOR_WORDS, KEYWORDS

_FLOW_ATTRIBUTES = ("flow_allow_discard",)
_REFUSED_SPECIFIERS = ("inline", "virtual", "explicit", "constexpr", "friend", "extern", "consteval")
_INSTEAD = {
    "template": "an actor has one `template <...>` in front of all else",
    "inline": "leave it out; in a header that several files include write `static`",
}
_TRAILERS = frozenset({"const", "volatile", "noexcept", "override", "final", "&", "&&", "=", "default", "delete", "0"})

_HEAD = "write `ACTOR Future<T> NAME(TYPE NAME, ...)`"


class HeaderParser(Reader):
    def __init__(self, tokens: TokenList, diagnostics: Diagnostics) -> None:
        super().__init__(tokens, diagnostics)
        self._parameters = ParameterParser(tokens, diagnostics)
        self._returns = ReturnTypeParser(tokens, diagnostics)

    def parse(self, actor: int, end: int, classes: tuple[str, ...] = ()) -> Head:
        """Read the head from the word `ACTOR` up to its `;` or `{` at `end`, its brackets having been matched.

        `classes`: those around it. Raises Abandoned if no name and parameters can be made out.
        """
        head = Head(end=end)
        self._before(actor)
        index = self._template(head, actor + 1)
        index = self._specifiers(head, index)
        open_ = self._tokens.find(index, head.end, ("(",))
        close = self._tokens.partner.get(open_)
        if open_ < head.end and close is None:
            raise Abandoned  # the missing parenthesis has been reported
        if close is None and end == actor + 1 and self._texts[end] in ACTOR_WORDS:
            word = self._texts[actor]
            twice = removed(self._tokens.to_next(actor), word)
            self._fail(Fault.ACTOR_HEAD, f"the word `{word}` stands here twice", actor, end, None, twice)
        if close is None:
            self._fail(Fault.ACTOR_HEAD, "an actor needs a name and a parameter list", actor, actor + 1, _HEAD)
        if index == open_ - 1 and self._tokens.is_name(close + 1) and self._texts[close + 2] == "(":
            self._returns.refuse_macro(index, close + 1)
        name = self._name(head, index, open_)
        if index == name and head.name in (*classes[-1:], *head.qualifier[-1:]):
            message = "a constructor cannot be an actor: it cannot return a future"
            hint = (
                f"write a function that makes the object and waits, such as `ACTOR static Future<{head.name}*> make()`"
            )
            self._fail(Fault.ACTOR_HEAD, message, name, name + 1, hint)
        head.parameters, head.frame_limit = self._parameters.parse(open_ + 1, close)
        if self._texts[close + 1] == "->":
            self._returns.trailing(head, index, name, close + 1)
        else:
            self._returns.read(head, index, name)
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
        for parameter, (first, end) in zip(head.template[:-1], ranges, strict=False):
            if parameter.is_pack:  # of a class template, which the actor becomes
                message = "a parameter pack of an actor's template must be its last parameter"
                self._error(Fault.TEMPLATE_HEADER, message, first, end, "put it last; several can be one `std::tuple`")
        return close + 1

    def _template_parameter(self, first: int, end: int) -> TemplateParameter:
        stop = self._tokens.find(first, end, ("=",))
        name = stop - 1
        if stop - first < 2 or not self._tokens.is_name(name) or self._texts[name] in KEYWORDS:
            message = "a template parameter of an actor needs a name"
            kind = self._tokens.text(first, stop) if stop > first else "class"
            self._error(Fault.TEMPLATE_HEADER, message, first, max(stop, first + 1), f"write `{kind} NAME`")
            return TemplateParameter(self._tokens.span(first, end), "", "", False)
        text = self._tokens.text(first, stop)
        return TemplateParameter(self._tokens.span(first, end), text, self._texts[name], self._texts[name - 1] == "...")

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
            elif text == "requires":
                message = "an actor's template cannot be constrained by `requires`"
                self._fail(Fault.TEMPLATE_HEADER, message, index, index + 1, "write a `static_assert` in its body")
            elif text in _REFUSED_SPECIFIERS or text == "template":
                fault = Fault.TEMPLATE_HEADER if text == "template" else Fault.ACTOR_HEAD
                hint = _INSTEAD.get(text, "leave it out")
                fixes = () if text in ("template", "explicit") else removed(self._tokens.to_next(index), text)
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
            if outer is not None and inner is not None:  # else the missing bracket has been reported
                message, hint = "an attribute is written `[[name]]`", "put nothing between its brackets"
                self._error(Fault.ATTRIBUTE, message, index, index + 2, hint)
            return max(outer or 0, inner or 0, index + 1) + 1
        for place in range(index + 2, inner):
            word = self._texts[place]
            if word.startswith("flow_") and word not in _FLOW_ATTRIBUTES:
                known = ", ".join(f"`{name}`" for name in _FLOW_ATTRIBUTES)
                fixes = replaced(self._tokens.span(place, place + 1), _FLOW_ATTRIBUTES[0])
                message = f"there is no attribute `{word}`"
                self._error(Fault.ATTRIBUTE, message, place, place + 1, f"there is {known} only", fixes)
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

    def _after_parameters(self, head: Head, index: int) -> None:
        end = head.end
        if index >= end:
            if self._texts[end] not in ("{", ";"):
                message = f"actor `{head.name}` has neither a body nor a `;`"
                self._error(Fault.ACTOR_HEAD, message, index - 1, index, "write `{ ... }` after it")
        elif self._texts[index] == "{":
            return  # its head only seems to go on, since a bracket is open, which has been reported
        elif not self._tokens.same_line(index - 1, index) and not self._is_trailer(index, end):
            place = self._tokens.after(index - 1)
            message = f"the `{{` of actor `{head.name}` is missing after its parameters"
            fixes = inserted(place.start, " {")
            self._diagnostics.error(Fault.AFTER_PARAMETERS, message, place, fixes=fixes)
        else:
            text = self._tokens.text(index, end)
            message = f"`{text}` cannot stand after an actor's parameters" if len(text) < 40 else "unexpected text"
            fixes = removed(self._tokens.span(index, end), text) if self._is_trailer(index, end) else ()
            self._error(Fault.AFTER_PARAMETERS, message, index, end, "leave it out", fixes)

    def _is_trailer(self, index: int, end: int) -> bool:
        """Whether this is what can stand behind the parameters of an ordinary function."""
        if self._texts[index] == "requires":
            return True
        while index < end and (self._texts[index] in _TRAILERS or self._texts[index - 1] == "noexcept"):
            index = self._tokens.next(index, end)
        return index == end
