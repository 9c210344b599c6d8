"""How arguments reach an actor: the signature that callers see, and the copy that the actor makes."""

from __future__ import annotations

import re

from actorc.emit.lines import at
from actorc.records import dataclass
from actorc.source import Source
from actorc.spelling import is_trivial, one_line
from actorc.syntax import Actor, Parameter

_NAME = re.compile(r"(?:::)?\w+(?:::\w+)*")
_COPYABLE = frozenset({"std::string", "Void", "flow::Void", "Error", "flow::Error"})
_MOVE_ONLY = re.compile(
    r"(?:std::)?(?:unique_ptr|unique_lock|promise|future|packaged_task|move_only_function)<.*>|std::j?thread", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Argument:
    """A parameter. The signature has it as `arg__NAME`; the actor's own is `NAME`."""

    line: int
    type: str  # of the actor's own; of a pack, what is repeated
    name: str
    default: str  # ` = e` or nothing
    signature: str  # `T const&`, `T&&`, or `flow::Argument<T>`, which is one of these two
    cast: str  # how it is forwarded: `std::move`, `std::forward<T>`, `flow::pass<T>` or nothing
    is_pack: bool

    def declared(self, prefix: str = "", *, default: bool = True) -> str:
        dots = "..." if self.is_pack else ""
        return f"{at(self.line)}{self.signature}{dots} {prefix}{self.name}{self.default if default else ''}"

    @property
    def passed(self) -> str:
        name = f"arg__{self.name}"
        return (f"{self.cast}({name})" if self.cast else name) + ("..." if self.is_pack else "")


def arguments_of(actor: Actor, source: Source) -> tuple[Argument, ...]:
    own = frozenset(each.name for each in actor.template or ())
    return tuple(_argument(parameter, source, own) for parameter in actor.parameters)


def captured_by(actor: Actor, source: Source) -> tuple[Argument, ...]:
    """The captures of a lambda as parameters. Their types are named in the lambda, where C++ deduces them."""
    found = []
    for capture in actor.captures or ():
        type_ = f"{capture.name}_type__"
        line = source.line(capture.span.start)
        signature = type_ if capture.is_reference else f"{type_} const&"
        found.append(Argument(line, type_, capture.name, "", signature, "", is_pack=False))
    return tuple(found)


def capture_list(actor: Actor, source: Source) -> str:
    """`[x = x, &y = y, z = e]`: with an initialiser for each, since `x` may be a member of the actor around."""
    texts = []
    for capture in actor.captures or ():
        text = source[capture.span] if capture.init is not None else f"{source[capture.span]} = {capture.name}"
        texts.append(at(source.line(capture.span.start)) + text)
    return f"[{', '.join(texts)}]"


def _argument(parameter: Parameter, source: Source, template_parameters: frozenset[str]) -> Argument:
    """Callers pass every copyable type as `T const&`. Only C++ can resolve T; but if it is deduced from the call, or
    may be incomplete, it must be written out."""
    type_ = one_line(source[parameter.type.span])
    signature, cast = f"{type_} const&", ""
    is_deduced = not template_parameters.isdisjoint(re.findall(r"\w+", type_)) if template_parameters else False
    if parameter.is_rvalue or _MOVE_ONLY.fullmatch(type_):
        signature, cast = f"{type_}&&", f"std::forward<{type_}>" if is_deduced else "std::move"
    elif not is_deduced and type_ not in _COPYABLE and not is_trivial(type_) and _NAME.fullmatch(type_):
        signature = f"flow::Argument<{type_}>"
        cast = f"flow::pass<{type_}>"
    if parameter.is_rvalue and type_ in template_parameters:
        type_ = f"std::remove_cvref_t<{type_}>"  # of a forwarding reference
    default = ""
    if parameter.default is not None:
        default = f" = {at(source.line(parameter.default.span.start))}{one_line(source[parameter.default.span])}"
    line = source.line(parameter.span.start)
    return Argument(line, type_, parameter.name, default, signature, cast, parameter.is_pack)
