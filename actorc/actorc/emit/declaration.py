"""The declaration of an actor in parts, spelt as both back ends need them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from actorc.check.facts import Facts
from actorc.emit.lines import apart, at, placed
from actorc.emit.signature import Argument, arguments_of, capture_list, captured_by
from actorc.records import dataclass
from actorc.source import Source
from actorc.spelling import is_known, is_trivial, is_void, one_line
from actorc.syntax import Actor, Span, TemplateParameter, declared_states, walk


@dataclass(frozen=True, slots=True)
class Declaration:
    line: int
    name: str
    name_place: str  # the mark for the name with its qualifier
    qualifier: str  # `Outer::X::` or nothing
    returns: str  # the return type, with marks
    result: str  # T of Future<T>; `void` for an actor without one
    result_place: str  # the mark for it
    template: str  # `template <...> ` or nothing, with default arguments where they belong
    bare_template: str  # the same without
    specifiers: str  # attributes and `static`, each with a blank after it
    arguments: tuple[Argument, ...]
    captured: tuple[Argument, ...]  # of a lambda: what the actor keeps in front of its arguments
    captures: str | None  # `[x = x, ...]` of a lambda
    class_name: str  # FActor
    class_arguments: str  # `<T, N>` of the emitted classes
    is_uncancellable: bool
    in_unnamed_namespace: bool  # the emitted classes
    is_local: bool  # the emitted classes must be inside the function, where the actor's class is known
    returns_void: bool  # Future<Void>
    may_return_void: bool  # Future<T>: only an instantiation shows whether T is Void
    may_have_object: bool  # it may be a member that is not static
    names_address: bool  # its body has THIS or THIS_ADDR, which stand for `this__`
    frame_limit: str  # what a FLOW_ASSERT_FRAME_SIZE allows, an expression that begins on its line; or nothing
    has_probes: bool  # probes report when it begins, runs and ends
    declares_itself: bool  # its body names it, and nothing before has declared it
    state_is_named: bool  # the file spells FActorState, which is a template over FActor then
    is_named: bool  # the file spells FActor or FActorState

    def head(self, prefix: str = "", *, declares: bool = True, defines: bool = False) -> str:
        """The function up to its `;` or `{`. `prefix` precedes the names of its arguments; `declares`: default
        arguments belong here; `defines`: its body follows."""
        exact = not defines or self.is_local or bool(self.template)
        arguments = ", ".join(each.declared(prefix, default=declares, exact=exact) for each in self.arguments)
        if self.captures is not None:
            return f"{at(self.line)}{self.captures}({arguments}) -> {self.returns}"
        template = self.template if declares else self.bare_template
        name = f"{self.name_place}{self.qualifier}{self.name}"
        return f"{template}{self.specifiers}{self.returns} {name}({arguments})"

    @property
    def named_result(self) -> str:
        """A struct that names the result, if C++ may not know it: in its place, and once, so that compilers say little
        about one that is wrong."""
        if not self._has_named_result:
            return ""
        template = "" if self.is_local else self.bare_template
        named = f"using type__ [[maybe_unused]] = {self.result_place}{self.result};{apart(self.line)}"
        return f"{template}struct {self.class_name}Result__ : flow::actor::Result__ {{ {named} }}; "

    @property
    def result_type(self) -> str:
        """The result behind `named_result`."""
        if not self._has_named_result:
            return self.result
        return f"flow::actor::ResultIn<{self.class_name}Result__{'' if self.is_local else self.class_arguments}>"

    @property
    def _has_named_result(self) -> bool:
        return not (
            self.result == "void" or is_known(self.result) or self.result in re.findall(r"\w+", self.class_arguments)
        )

    @property
    def checked(self) -> str:
        """A declaration that reads like the source, for compilers to show where a type in it is wrong. The function's
        own, of which they show that no call fits, stands on one line, so that its parameters have other columns."""
        if self.is_local or self.template or self.has_known_types:
            return ""
        arguments = ", ".join(each.as_written for each in self.arguments)
        declared = f"static void {self.name_place}{self.name}({arguments});"
        return f"struct {self.class_name}Head{self.line} {{ {declared}{apart(self.line)}}}; "

    @property
    def has_known_types(self) -> bool:
        """Whether C++ knows the types of all parameters."""
        return all(is_known(each.type) for each in self.kept)

    @property
    def kept(self) -> tuple[Argument, ...]:
        """Everything that the actor copies."""
        return self.captured + self.arguments

    @property
    def aliases(self) -> str:
        """The first lines of the function."""
        types = ((each.type, f"decltype({each.name})", each.pattern == "{}") for each in self.captured)
        return "".join(
            f"using {name} = {type_ if is_reference else f'std::remove_cv_t<{type_}>'}; "
            for name, type_, is_reference in types
        )

    @property
    def inner_arguments(self) -> str:
        """The signature again, inside the function."""
        return ", ".join(f"{each.signature(each.place)} arg__{each.name}" for each in self.kept)

    @property
    def own_arguments(self) -> str:
        """The parameters as the actor's own copies."""
        dots = {each.name: "..." if each.is_pack else "" for each in self.arguments}
        return ", ".join(f"[[maybe_unused]] {a.place}{a.type}{dots[a.name]} {a.name}" for a in self.arguments)

    def passed(self, prefix: str = "") -> str:
        """The arguments of a call from the function to the actor itself."""
        return ", ".join([each.name for each in self.captured] + [each.passed(prefix) for each in self.arguments])

    @property
    def has_pack(self) -> bool:
        return any(argument.is_pack for argument in self.arguments)


def shell_of(actor: Actor, source: Source, facts: Facts, *, is_first: bool) -> Declaration:
    """`is_first`: the file has not declared the actor before, so default arguments of its template belong here."""
    template = bare = ""
    if actor.template is not None:
        places = [placed(source, each.span) for each in actor.template]
        bare = _template(place + one_line(each.text) for place, each in zip(places, actor.template, strict=True))
        template = bare
        if is_first:
            whole = zip(places, actor.template, strict=True)
            template = _template(place + one_line(source[each.span]) for place, each in whole)
    result = "void" if actor.result_type is None else one_line(source[actor.result_type.span])
    in_class = bool(actor.enclosing_classes)
    class_name = f"{actor.class_stem}Actor{actor.index or ''}"
    state_is_named = f"{class_name}State" in facts.emitted_names
    is_shared = facts.is_header and not actor.is_static
    return Declaration(
        line=source.line(actor.span.start),
        name=actor.name,
        qualifier="".join(part + "::" for part in actor.qualifier),
        returns=_returns(actor, source),
        result=result,
        result_place="" if actor.result_type is None else placed(source, actor.result_type.span),
        template=template,
        bare_template=bare,
        specifiers=_specifiers(actor, source, nodiscard=facts.nodiscard and actor.captures is None),
        arguments=arguments_of(actor, source),
        captured=captured_by(actor, source),
        captures=None if actor.captures is None else capture_list(actor, source),
        name_place=_name_place(actor, source),
        class_name=class_name,
        class_arguments=_class_arguments(actor.template),
        is_uncancellable=actor.is_uncancellable,
        in_unnamed_namespace=not (actor.in_unknown or in_class or actor.qualifier or is_shared),
        is_local=bool(actor.qualifier) or actor.captures is not None or _holds_own_class(actor, source),
        returns_void=is_void(result),
        may_return_void=may_be_void(result, actor, facts),
        may_have_object=_may_have_object(actor, facts),
        names_address=_names(actor, source, "THIS(?:_ADDR)?"),
        frame_limit=_frame_limit(actor, source),
        has_probes=facts.probes,
        declares_itself=is_first and not in_class and not actor.qualifier and _names(actor, source, actor.name),
        state_is_named=state_is_named,
        is_named=state_is_named or class_name in facts.emitted_names,
    )


def _template(parameters: Iterable[str]) -> str:
    return f"template <{', '.join(parameters)}> "


def _returns(actor: Actor, source: Source) -> str:
    """`Future<T>`, both in their places."""
    line = at(source.line(actor.span.start))
    if actor.result_type is None or actor.test_name is not None:
        return f"{line}{actor.return_text}"
    span = actor.result_type.span
    before, angle, _ = actor.return_text.partition("<")
    found = source.text.rfind(before, actor.span.start, span.start)
    place = placed(source, Span(found, span.end)) if found >= 0 else line
    return f"{place}{before}{angle}{placed(source, span)}{one_line(source[span])}>"


def _holds_own_class(actor: Actor, source: Source) -> bool:
    """Whether a parameter or state variable may be an object of the class that the actor stands in, which is complete
    only in the bodies of its functions."""
    if not actor.enclosing_classes or actor.body is None:
        return False
    held = re.compile(rf"\b{actor.enclosing_classes[-1]}\b(?!\s*[*&])")
    types = [parameter.type for parameter in actor.parameters]
    types += [type_ for statement in walk(actor.body) for type_, _ in declared_states(statement)]
    return any(held.search(source[type_.span]) for type_ in types)


def _may_have_object(actor: Actor, facts: Facts) -> bool:
    classes = actor.qualifier or actor.enclosing_classes
    return bool(classes) and not actor.is_static and (classes[-1], actor.name) not in facts.static_members


def _frame_limit(actor: Actor, source: Source) -> str:
    limit = actor.frame_limit
    return "" if limit is None else f"{at(source.line(limit.span.start))}({one_line(source[limit.span])})"


def _names(actor: Actor, source: Source, word: str) -> bool:
    """Whether the body has a word, which may be an expression of several."""
    return actor.body is not None and re.search(rf"\b{word}\b", source[actor.body.span]) is not None


def _name_place(actor: Actor, source: Source) -> str:
    if actor.test_name is not None or actor.captures is not None:
        return ""
    start = actor.name_span.start
    if actor.qualifier:
        found = source.text.rfind(actor.qualifier[0], actor.span.start, start)
        start = found if found >= 0 else start
    return placed(source, Span(start, actor.name_span.end))


def _specifiers(actor: Actor, source: Source, *, nodiscard: bool) -> str:
    parts = []
    for text in actor.attributes:
        if "flow_" not in text:
            found = source.text.find(text, actor.span.start, actor.name_span.start)
            parts.append((placed(source, Span(found, found + 1)) if found >= 0 else "") + one_line(text))
    may_discard = any("flow_allow_discard" in text for text in actor.attributes)
    if nodiscard and actor.result_type is not None and not actor.is_uncancellable and not may_discard:
        parts.append("[[nodiscard]]")
    if actor.is_static and not actor.qualifier:
        parts.append("static")
    return "".join(part + " " for part in parts)


def _class_arguments(template: tuple[TemplateParameter, ...] | None) -> str:
    if template is None:
        return ""
    return f"<{', '.join(each.name + ('...' if each.is_pack else '') for each in template)}>"


def may_be_void(result: str, actor: Actor, facts: Facts) -> bool:
    """Whether T may be Void under another name: it is a template parameter, or no known class has the name."""
    if is_void(result) or is_trivial(result):
        return False
    names = re.findall(r"\w+", result)
    if any(each.name in names for each in actor.template or ()):
        return True
    return (
        names[-1] not in facts.classes
        and names[0] != "std"
        and re.fullmatch(r"(?:::)?\w+(?:::\w+)*", result) is not None
    )
