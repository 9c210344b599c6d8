"""Generates programs that call the actors of one file: those with parameters that can be made up."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from actorc.diagnostics import Diagnostics
from actorc.driver import Rejected, analyse
from actorc.records import dataclass
from actorc.source import Source
from actorc.spelling import one_line
from actorc.syntax import Actor, Words

DRIVER = os.path.join(os.path.dirname(__file__), "driver.inl")

_NUMBER = r"(?:(?:unsigned|signed) )?(?:int|long|long long|short|char|unsigned|(?:std::)?u?int(?:8|16|32|64)_t|size_t)"
_VALUE = rf"(?:{_NUMBER}|bool|double|float|(?:std::)?string)"
_MADE = re.compile(
    rf"{_VALUE}|(?:flow::)?(?:Future|FutureStream|Promise) ?< ?(?:{_VALUE}|(?:flow::)?Void) ?>|(?:flow::)?Void"
)
_MAIN = re.compile(r"^\s*(?:int|auto)\s+main\s*\(", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Driven:
    """An actor and how a program calls it."""

    name: str  # with its namespaces
    types: tuple[str, ...]
    is_void: bool
    is_uncancellable: bool


def has_main(text: str) -> bool:
    return _MAIN.search(text) is not None


def driven_in(source: Source) -> list[Driven]:
    """The actors of a file that can be called."""
    return list(dict.fromkeys(driven for _, driven in _looked_at(source) if isinstance(driven, Driven)))


def not_driven_in(source: Source) -> list[tuple[str, str]]:
    """The actors that cannot, and why."""
    return [(name, why) for name, why in _looked_at(source) if isinstance(why, str)]


def defined_in(source: Source) -> list[str]:
    """All actors that a file defines."""
    return [name for name, _ in _looked_at(source)]


def _looked_at(source: Source) -> Iterator[tuple[str, Driven | str]]:
    try:
        file = analyse(source, Diagnostics())
    except Rejected:
        return
    for actor in file.actors:
        if actor.body is not None:
            yield actor.name, _driven(actor, source, file.words)


def _driven(actor: Actor, source: Source, words: Words) -> Driven | str:
    """The call, or the reason why there is none."""
    if actor.test_name is not None:
        return "test cases"
    if actor.captures is not None:
        return "lambdas"
    if actor.enclosing_classes or actor.qualifier:
        return "members of classes"
    if actor.template is not None or any(each.is_pack for each in actor.parameters):
        return "templates"
    namespaces = _namespaces(words, words.first(actor.span))
    if actor.in_unknown or namespaces is None:
        return "in braces of an unknown kind"
    types = [one_line(source[parameter.type.span]) for parameter in actor.parameters]
    if not all(_MADE.fullmatch(type_) for type_ in types):
        return "with parameters that cannot be made up"
    name = "::".join(("", *namespaces, actor.name))
    return Driven(name, tuple(types), actor.result_type is None, actor.is_uncancellable)


def _namespaces(words: Words, index: int) -> list[str] | None:
    """Those around a token; None if it stands in other braces too."""
    open_: list[list[str] | None] = []
    texts = words.texts
    for place in range(index):
        if texts[place] == "{":
            open_.append(_opened(texts, place))
        elif texts[place] == "}" and open_:
            open_.pop()
    if any(each is None for each in open_):
        return None
    return [name for names in open_ for name in names or ()]


def _opened(texts: list[str], brace: int) -> list[str] | None:
    """The names of the namespace that a brace opens: none, if it has no name."""
    names: list[str] = []
    index = brace - 1
    while index >= 0 and (texts[index] == "::" or texts[index].isidentifier()):
        if texts[index] == "namespace":
            return names
        if texts[index] not in ("::", "inline"):
            names.insert(0, texts[index])
        index -= 1
    return [] if index >= 0 and texts[index].startswith('"') else None  # extern "C++"


def program(included: str, actors: list[Driven], *, is_migrated: bool, is_foundationdb: bool) -> str:
    """The text of a program that calls the actors which the file `included` defines."""
    lines = [f'#include "{DRIVER}"', f'#include "{included}"', ""]
    for number, actor in enumerate(actors):
        runs_on = is_foundationdb if actor.is_void else actor.is_uncancellable
        arguments = ["flow::Uncancellable()"] if is_migrated and runs_on else []
        arguments += [f"std::move(a{place})" for place in range(len(actor.types))]
        call = f"{actor.name}({', '.join(arguments)})"
        name = actor.name.removeprefix("::")
        lines += [f'static actorc_verify::Registration verified{number}("{name}", [](actorc_verify::World& world) {{']
        lines += ["    using namespace flow;", "    using std::string;"]
        lines += [f"    auto a{place} = world.make<{type_}>();" for place, type_ in enumerate(actor.types)]
        if actor.is_void:
            captured = ", ".join(f"&a{place}" for place in range(len(actor.types)))
            lines += [f"    return actorc_verify::called([{captured}] {{ (void){call}; }});"]
        else:
            lines += [f"    return actorc_verify::held({call});"]
        lines += ["});", ""]
    return "\n".join(lines)
