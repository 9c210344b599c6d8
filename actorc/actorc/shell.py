"""What stands around an actor's body: the parts of its declaration, spelt as both back ends need them."""

from __future__ import annotations

import re

from actorc.lines import at
from actorc.records import dataclass
from actorc.source import Source
from actorc.spelling import is_trivial, is_void, one_line
from actorc.syntax import Actor, TemplateParameter


@dataclass(frozen=True, slots=True)
class Argument:
    """A parameter. The signature takes `T const& arg_NAME`; the actor's own copy is `T NAME`."""

    line: int
    type: str
    name: str
    default: str  # ` = e` or nothing

    def declared(self, prefix: str = "") -> str:
        return f"{at(self.line)}{self.type} const& {prefix}{self.name}{self.default}"


@dataclass(frozen=True, slots=True)
class Shell:
    line: int
    name: str
    qualifier: str  # `Outer::X::` or nothing
    returns: str  # the return type
    result: str  # T of Future<T>; `void` for an actor without one
    template: str  # `template <...> ` or nothing
    specifiers: str  # attributes and `static`, each with a blank after it
    arguments: tuple[Argument, ...]
    class_name: str  # FActor
    class_arguments: str  # `<T, N>` of the emitted classes
    is_uncancellable: bool
    in_unnamed_namespace: bool  # the emitted classes
    is_qualified: bool
    returns_void: bool  # Future<Void>
    may_return_void: bool  # Future<T> of which only an instantiation tells whether T is Void

    def head(self, arguments: str) -> str:
        """Everything of the function before its `;` or `{`."""
        return f"{at(self.line)}{self.template}{self.specifiers}{self.returns} {self.qualifier}{self.name}({arguments})"

    @property
    def prototype_arguments(self) -> str:
        return ", ".join(argument.declared() for argument in self.arguments)

    @property
    def definition_arguments(self) -> str:
        return ", ".join(argument.declared("arg__") for argument in self.arguments)

    @property
    def plain_arguments(self) -> str:
        """The signature again, inside the function: without default arguments."""
        return ", ".join(f"{a.type} const& arg__{a.name}" for a in self.arguments)

    @property
    def passed(self) -> str:
        return ", ".join(f"arg__{a.name}" for a in self.arguments)


def shell_of(actor: Actor, source: Source, *, is_first: bool, nodiscard: bool) -> Shell:
    """`is_first`: the actor has not been declared before in this file, so default template arguments belong here."""
    template = ""
    if actor.template is not None:
        texts = [source[each.span] if is_first else each.text for each in actor.template]
        template = f"template <{', '.join(one_line(text) for text in texts)}> "
    result = "void" if actor.result_type is None else one_line(source[actor.result_type.span])
    in_class = bool(actor.enclosing_classes)
    return Shell(
        line=source.line(actor.span.start),
        name=actor.name,
        qualifier="".join(part + "::" for part in actor.qualifier),
        returns=one_line(actor.return_text),
        result=result,
        template=template,
        specifiers=_specifiers(actor, nodiscard=nodiscard),
        arguments=_arguments(actor, source),
        class_name=f"{actor.class_stem}Actor{actor.index or ''}",
        class_arguments=_class_arguments(actor.template),
        is_uncancellable=actor.is_uncancellable,
        in_unnamed_namespace=not actor.in_namespace and not in_class and not actor.qualifier,
        is_qualified=bool(actor.qualifier),
        returns_void=is_void(result),
        may_return_void=_may_be_void(result, actor),
    )


def _arguments(actor: Actor, source: Source) -> tuple[Argument, ...]:
    found = []
    for parameter in actor.parameters:
        default = ""
        if parameter.default is not None:
            default = f" = {at(source.line(parameter.default.span.start))}{one_line(source[parameter.default.span])}"
        line = source.line(parameter.span.start)
        found.append(Argument(line, one_line(source[parameter.type.span]), parameter.name, default))
    return tuple(found)


def _specifiers(actor: Actor, *, nodiscard: bool) -> str:
    parts = [one_line(text) for text in actor.attributes if "flow_" not in text]
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


def _may_be_void(result: str, actor: Actor) -> bool:
    """Whether T may name Void although it is not spelt so: a template parameter, or a name of a class."""
    if is_void(result) or is_trivial(result):
        return False
    names = set(re.findall(r"\w+", result))
    if any(each.name in names for each in actor.template or ()):
        return True
    return bool(actor.enclosing_classes or actor.qualifier) and re.fullmatch(r"\w+", result) is not None
