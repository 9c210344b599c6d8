"""From the symbol of a function that resumes a computation: its style, and its name in the source.

The rules are those of flow/diag/actor_name.cpp and flow/inspect/code.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_MACHINE = "flow::actor::Actor<"
_OPERATIONS = ("flow::Operation<", "flow::detail::Kept<", "flow::MemberWait::resume<", "flow::Source<")


def split(text: str, separator: str) -> list[str]:
    """At the separators that stand outside of all brackets; brackets that close more than they open end the text."""
    parts: list[str] = []
    depth = begin = 0
    for i, character in enumerate(text):
        if character in ")>}]" and text[i - 1] != "-":
            depth -= 1
            if depth < 0:
                return [*parts, text[begin:i]]
        if depth == 0 and i >= begin and text.startswith(separator, i):
            parts.append(text[begin:i])
            begin = i + len(separator)
        if character in "(<{[":
            depth += 1
    return [*parts, text[begin:]]


def _without_parameters(text: str) -> str:
    text = re.sub(r"( \[clone .*| \(\.\w+\))+$", "", text)  # as gdb and lldb write the parts of a coroutine
    text = re.sub(r"(\[abi:cxx11\]| &&| &| const)+$", "", text)
    if not text.endswith(")") or text.endswith("(anonymous namespace)"):
        return text
    depth = 0
    for i in range(len(text) - 1, -1, -1):
        depth += (text[i] == ")") - (text[i] == "(")
        if depth == 0:
            return text[:i] or text
    return text


def _short(name: str) -> str:
    return name.replace("(anonymous namespace)::", "").replace("flow::", "")


class Code:
    def __init__(self, symbol: str, has_function: Callable[[str], bool]) -> None:
        self.symbol = symbol
        self.style = "coroutine"
        self.name = symbol
        self.type_name = ""  # of an operation
        self.waits_symbol = ""  # of an actor: the table of the lines of its waits
        self.state = ""  # of an actor: the class of its parameters and state variables
        self.is_branch = symbol.startswith("void flow::detail::ChooseBase::fire<")
        head = symbol.split("(")[0]
        if symbol.startswith(_MACHINE):
            self.style = "actor"
            self.waits_symbol = symbol[: symbol.rfind("::resumeActor(")] + "::kWaits"
            self.state = split(symbol[len(_MACHINE) :], ",")[1].strip()
            self.name = self._of_machine(self.state, has_function)
        elif "flow::fiber::detail::resumeFiber<" in symbol:
            self.style = "fiber"
        elif operation := next(self._operations(symbol, head), ""):
            self.style = "operation"
            self.type_name = operation
            self.name = _short(operation)
        else:
            self.name = self._of_function(symbol)
            if self.name.endswith("::resume"):
                self.style, self.name = "computation", self.name.removesuffix("::resume")

    @staticmethod
    def _operations(symbol: str, head: str) -> Iterator[str]:
        for opening in _OPERATIONS:
            if opening in head:
                yield split(symbol[symbol.find(opening) + len(opening) :], ",")[0]

    @staticmethod
    def _of_machine(state: str, has_function: Callable[[str], bool]) -> str:
        parts = split(state, "::")
        stem = re.fullmatch(r"(\w+)Actor\d*State", parts[-1].split("<")[0])
        if not stem:
            return state
        scope = [part for part in parts[:-1] if part != "(anonymous namespace)"]
        if scope and scope[-1].endswith(")"):
            return "::".join([*scope[:-1], _without_parameters(scope[-1])])  # a class in the function that is the actor
        name = stem[1] if has_function("::".join([*scope, stem[1]])) else stem[1][0].lower() + stem[1][1:]
        return "::".join([*scope, name])

    @staticmethod
    def _of_function(symbol: str) -> str:
        text = split(_without_parameters(symbol), " ")[-1]
        parts = split(text, "::")
        if len(parts) > 2 and parts[-1] == "run" and re.fullmatch(r"\w+Actor\d*", parts[-2].split("<")[0]):
            parts = [*parts[:-3], _without_parameters(parts[-3])]
        if not parts[-1].startswith("operator"):
            parts[-1] = parts[-1].split("<")[0]
        return "::".join(part for part in parts if part != "(anonymous namespace)")
