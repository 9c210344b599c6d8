"""How arguments reach an actor: the signature that callers see, and the copy that the actor makes."""

from __future__ import annotations

import re

from actorc.emit.lines import MAY_BREAK, at, placed
from actorc.records import dataclass
from actorc.source import Source
from actorc.spelling import is_known, is_trivial, one_line
from actorc.syntax import Actor, Parameter

_NAME = re.compile(r"(?:::)?\w+(?:::\w+)*")
_COPYABLE = frozenset({"std::string", "Void", "flow::Void", "Error", "flow::Error"})
_MOVE_ONLY = re.compile(
    r"(?:std::)?(?:unique_ptr|unique_lock|promise|future|packaged_task|move_only_function)<.*>|std::j?thread", re.DOTALL
)

_NUMBER = re.compile(r"-?\.?\d[\w.']*|true|false")


@dataclass(frozen=True, slots=True)
class Argument:
    """A parameter. The actor's own is `NAME`; beside it, what callers pass is `arg__NAME`."""

    type: str  # of the actor's own; of a pack, what is repeated
    name: str
    default: str  # `e` or nothing
    spelled: str  # the type as the source has it
    pattern: str  # of what callers see: `{} const&`, `{}&&`, or `flow::Argument<{}>`, which is one of these two
    cast: str  # how it is forwarded: `std::move`, `std::forward` or nothing
    is_deduced: bool  # the type depends on a parameter of the template
    is_pack: bool
    place: str  # the mark for the type
    name_place: str = ""  # that for the name, if the source has one
    default_place: str = ""

    def declared(self, prefix: str = "", *, default: bool = True, exact: bool = True) -> str:
        """`exact`: in the columns of the source, if the type can be wrong."""
        has_default = default and self.default
        is_placed = self._default_may_be_wrong if has_default else exact and not is_known(self.type)
        type_ = self.signature(self.place if is_placed else MAY_BREAK)
        name = f"{self.name_place if is_placed else ''}{prefix}{self.name}"
        value = f" = {self.default_place if is_placed else ''}{self.default}" if has_default else ""
        return f"{type_} {name}{value}"

    @property
    def _default_may_be_wrong(self) -> bool:
        return not (is_trivial(self.type) and _NUMBER.fullmatch(self.default))

    def signature(self, place: str = "") -> str:
        return self.pattern.format(f"{place}{self.spelled}") + self._dots

    @property
    def as_written(self) -> str:
        """As the source has it, but for `const&`, `&&` and what is behind the name."""
        return f"{self.place}{self.spelled} {self.name_place}{self.name}"

    def passed(self, prefix: str = "arg__") -> str:
        name = f"{prefix}{self.name}"
        cast = f"{self.cast}<decltype({name})>" if self.cast == "std::forward" else self.cast
        return (f"{cast}({name})" if cast else name) + self._dots

    @property
    def inner(self) -> str:
        """As declared beside the actor's own, with a type that need not be spelt again where it may be incomplete."""
        if is_known(self.type):
            type_ = self.signature()
        elif self.is_pack or self.is_deduced or self.pattern != "{} const&":
            type_ = self.signature(self.place)
        else:
            type_ = self.pattern.format(f"decltype({self.name})")
        return f"{MAY_BREAK}{type_} arg__{self.name}"

    @property
    def member_name(self) -> str:
        return f"{self.name}__" if self.is_pack else self.name

    @property
    def place_of_name(self) -> str:
        return self.name_place or self.place

    @property
    def member(self) -> str:
        if self.is_pack:
            return f"flow::actor::Pack<{self.place}{self.type}...> {self.name_place}{self.name}__; "
        if is_known(self.type):
            return f"{MAY_BREAK}{self.type} {self.name}; "
        return f"{self.place}{self.type} {self.name_place}{self.name}; "

    @property
    def copy(self) -> str:
        """The actor's own as a local variable."""
        is_spelled = not self.name_place or is_known(self.type) or self.type.startswith("std::remove_cvref_t<")
        type_ = self.type if is_spelled else f"flow::Own<decltype(arg__{self.name})>"
        return f"{MAY_BREAK}[[maybe_unused]] {type_} {self.own_name}({self.passed()}); "

    @property
    def own_name(self) -> str:
        """Where the actor's own is made, which cannot be done for some types."""
        return (MAY_BREAK if is_known(self.type) else self.name_place) + self.name

    @property
    def _dots(self) -> str:
        return "..." if self.is_pack else ""


def arguments_of(actor: Actor, source: Source) -> tuple[Argument, ...]:
    own = frozenset(each.name for each in actor.template or ())
    return tuple(_argument(parameter, source, own) for parameter in actor.parameters)


def captured_by(actor: Actor, source: Source) -> tuple[Argument, ...]:
    """The captures of a lambda as parameters. Their types are named in the lambda, where C++ deduces them."""
    found = []
    for capture in actor.captures or ():
        type_ = f"{capture.name}_type__"
        place = at(source.line(capture.span.start))
        pattern = "{}" if capture.is_reference else "{} const&"
        found.append(Argument(type_, capture.name, "", type_, pattern, "", False, False, place))
    return tuple(found)


def capture_list(actor: Actor, source: Source) -> str:
    """`[x = x, &y = y, z = e]`: with an initialiser for each, since `x` may be a member of the actor around."""
    texts = []
    for capture in actor.captures or ():
        text = source[capture.span] if capture.init is not None else f"{source[capture.span]} = {capture.name}"
        texts.append(placed(source, capture.span) + text)
    return f"[{', '.join(texts)}]"


def _argument(parameter: Parameter, source: Source, template_parameters: frozenset[str]) -> Argument:
    """Callers pass every copyable type as `T const&`. Only C++ can resolve T; but if it is deduced from the call, or
    may be incomplete, it must be written out."""
    type_ = one_line(source[parameter.type.span])
    pattern, cast = "{} const&", ""
    is_deduced = not template_parameters.isdisjoint(re.findall(r"\w+", type_)) if template_parameters else False
    if parameter.is_rvalue or _MOVE_ONLY.fullmatch(type_):
        pattern, cast = "{}&&", "std::forward" if is_deduced else "std::move"
    elif not is_deduced and type_ not in _COPYABLE and not is_trivial(type_) and _NAME.fullmatch(type_):
        pattern, cast = "flow::Argument<{}>", "std::forward"
    own = f"std::remove_cvref_t<{type_}>" if parameter.is_rvalue and type_ in template_parameters else type_
    name = source.name_behind(parameter.name, parameter.type.span)
    default = parameter.default
    return Argument(
        own,
        parameter.name,
        "" if default is None else one_line(source[default.span]),
        type_,
        pattern,
        cast,
        is_deduced,
        parameter.is_pack,
        placed(source, parameter.type.span),
        "" if name is None else at(name.line, name.column),
        "" if default is None else placed(source, default.span),
    )
