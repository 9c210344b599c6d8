"""Makes readable names of functions: without parameters, template arguments and results."""

from __future__ import annotations

import re
from functools import lru_cache

_CLONE = re.compile(r" \[clone \.?([\w.]+)\]| \(\.([\w.]+)\)")
# The parts that a coroutine is made of, as clang and gcc call them; parts of other functions have no name for us.
_PARTS = {"resume": "resume", "actor": "resume", "destroy": "destroy", "cleanup": "destroy"}
_OPERATOR = re.compile(r"operator\s*(<=>|<<=?|>>=?|<=?|>=?|->\*?|\(\))")
_UNNAMED = re.compile(r"\(anonymous namespace\)::|\{anonymous\}::|__n4861::|__cxx11::")
_LAMBDA = re.compile(r"\$_\d+|\{lambda\(.*?\)#\d+\}|<lambda\(.*?\)>|'lambda\d*'")
_HIDDEN = re.compile(r"\b(flow::detail|flow::coro|flow::actor|flow|bench|state_machine|coroutine|migrated)::")
# Internal names of the standard library that have a better-known name.
KNOWN = {"std::coroutine_handle::__frame::__dummy_resume_destroy": "std::noop_coroutine"}
# A state machine is a struct with the actor's name.
_STATE = re.compile(r"\b([A-Z]\w*)ActorState\b")
_METHODS = {"resumeActor": "resume", "destroyActor": "destroy", "create": "start", "a_body": "body", "activate": "body"}


@lru_cache(maxsize=65536)
def qualified(name: str) -> str:
    """With namespaces and classes; without parameters, template arguments, results. Clones of coroutines, and the state
    machines of actors, get the name of their function: "follow [resume]"."""
    clones = [first or second for first, second in _CLONE.findall(name)]
    part = next((_PARTS[word] for clone in clones for word in clone.split(".") if word in _PARTS), None)
    name = _UNNAMED.sub("", _CLONE.sub("", name))
    whole = name
    name = _LAMBDA.sub("lambda", name)
    name, operators = _hide_operators(name)
    name = _without_brackets(name)
    for i, text in enumerate(operators):
        name = name.replace(f"operator@{i}@", f"operator{text}")
    name = name.partition(" requires ")[0]
    # A function template names its result before itself.
    before_operator = name.find("operator")
    blank = name.rfind(" ", 0, before_operator if before_operator >= 0 else len(name))
    name = name[blank + 1 :]
    return _machine(name, whole) or (f"{name} [{part}]" if part else name)


@lru_cache(maxsize=65536)
def short(name: str) -> str:
    """The same without the namespaces that are ours."""
    whole = qualified(name)
    return KNOWN.get(whole) or _HIDDEN.sub("", whole)


def _machine(name: str, whole: str) -> str | None:
    """`Actor<..., FollowActorState, ...>::resumeActor` is a part of follow."""
    head, _, method = name.rpartition("::")
    if method not in _METHODS or not (head == "flow::actor::Actor" or _STATE.search(head)):
        return None
    state = _STATE.search(whole)
    if not state:
        return None
    return f"{state[1][0].lower()}{state[1][1:]} [{_METHODS[method]}]"


def _hide_operators(name: str) -> tuple[str, list[str]]:
    """So that `operator<` opens no bracket."""
    found: list[str] = []

    def hide(match: re.Match[str]) -> str:
        found.append(match[1])
        return f"operator@{len(found) - 1}@"

    return _OPERATOR.sub(hide, name), found


def _without_brackets(name: str) -> str:
    result = []
    depth = 0
    for i, letter in enumerate(name):
        if letter in "<(":
            depth += 1
        elif letter in ">)" and name[i - 1 : i] != "-":
            depth = max(0, depth - 1)
            if depth == 0 and name[i + 1 :].strip() in ("const", "&", "&&", "const &"):
                break
        elif depth == 0:
            result.append(letter)
    return "".join(result).replace(" const", "").strip()
