"""Records a program with valgrind's callgrind: the instructions executed at each address, and the callers.

Slow, but exact and repeatable. An instruction that waits for memory counts as one.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchlib.profile.samples import Place, Profile
from common.failure import Failure
from common.process import ending, stream

# The number of callers that separate the costs of a function. A chain of actors is no deeper, thanks to tail calls.
CALLERS = 12

_NAMED = re.compile(r"(c?fn|c?ob)=\((\d+)\)(?: (.*))?$")


def why_not() -> str | None:
    return None if shutil.which("valgrind") else "there is no valgrind (tools/setup installs it)"


def record(command: Sequence[str | Path]) -> Profile:
    """Runs the command to its end under callgrind."""
    with tempfile.TemporaryDirectory(prefix="millrace-profile-") as folder:
        out = Path(folder) / "callgrind.out"
        lines: list[str] = []
        options = [
            "--tool=callgrind",
            "--dump-instr=yes",
            "--dump-line=no",
            "--demangle=no",  # callers are separated by ', which demangled names may contain
            f"--separate-callers={CALLERS}",
            f"--callgrind-out-file={out}",
        ]
        code = stream(["valgrind", "-q", *options, *command], lines.append)
        if code:
            raise Failure("\n".join([*lines[-20:], f"valgrind: {ending(code)}"]))
        with out.open(encoding="utf-8", errors="replace") as text:
            return parse(text)


@dataclass(slots=True)
class _Function:
    """A function as it was called through certain callers."""

    name: str
    object: str
    costs: dict[int, int] = field(default_factory=dict)  # by address
    # From where it was called, and what that cost in all.
    callers: dict[tuple[str, int], int] = field(default_factory=dict)


def parse(lines: Iterable[str]) -> Profile:
    functions = _Reader().read(lines)
    result = Profile("instructions")
    stacks: dict[str, tuple[Place, ...]] = {}
    for key, function in functions.items():
        callers = _callers(functions, key, stacks)
        for address, cost in function.costs.items():
            result.add((*callers, Place(function.object, address, function.name)), cost)
    return result


def _callers(functions: dict[str, _Function], key: str, known: dict[str, tuple[Place, ...]]) -> tuple[Place, ...]:
    """The costliest calls that led to a function: callgrind does not record whole stacks."""
    path: list[str] = []
    while key not in known:
        path.append(key)
        callers = {site: cost for site, cost in functions[key].callers.items() if site[0] not in path}
        if not callers:
            known[key] = ()
            path.pop()
            break
        key = max(callers, key=lambda site: callers[site])[0]
    for below in reversed(path):
        callers = {site: cost for site, cost in functions[below].callers.items() if site[0] == key}
        address = max(callers, key=lambda site: callers[site])[1]
        caller = functions[key]
        known[below] = (*known[key], Place(caller.object, address, caller.name))
        key = below
    return known[key]


class _Reader:
    """Reads callgrind's file: costs at addresses. An address may be a distance from the one before."""

    def __init__(self) -> None:
        self._functions: dict[str, _Function] = {}
        self._names: dict[tuple[str, str], str] = {}
        self._object = ""
        self._address = 0

    def read(self, lines: Iterable[str]) -> dict[str, _Function]:
        function = _Function("", "")
        key = called = called_object = ""
        is_call = False
        for line in lines:
            line = line.rstrip("\n")
            if match := _NAMED.match(line):
                kind, name = match[1], self._name(match[1][-2:], match[2], match[3])
                if kind == "ob":
                    self._object = name
                elif kind == "cob":
                    called_object = name
                elif kind == "fn":
                    key, function = name, self._function(name, self._object)
                else:
                    called = name
            elif line.startswith("calls="):
                is_call = True
            elif line[:1] in ("0", "+", "-", "*"):
                where, _, cost = line.partition(" ")
                self._move(where)
                if is_call:
                    callers = self._function(called, called_object or self._object).callers
                    site = (key, self._address)
                    callers[site] = callers.get(site, 0) + int(cost)
                    is_call, called_object = False, ""
                else:
                    function.costs[self._address] = function.costs.get(self._address, 0) + int(cost)
        return self._functions

    def _name(self, kind: str, number: str, name: str | None) -> str:
        if name is not None:
            self._names[kind, number] = name
        return self._names[kind, number]

    def _function(self, name: str, in_object: str) -> _Function:
        """Looks up the function and its callers, which callgrind writes after it."""
        found = self._functions.get(name)
        if found is None:
            found = self._functions[name] = _Function(name.split("'")[0], in_object)
        return found

    def _move(self, where: str) -> None:
        if where[0] == "0":
            self._address = int(where, 16)
        elif where[0] != "*":
            self._address += int(where, 10)
