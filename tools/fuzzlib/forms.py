"""The forms in which a program is run: as a back end emits it, or as `actorc migrate` writes it for a library."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from actorc.driver import BACKENDS
from actorc_migrate.decide import Decision
from actorc_migrate.examine import Task, examine
from actorc_migrate.gather import Kind
from actorc_migrate.settings import TARGETS, Settings
from fuzzlib.generate import Rules

MIGRATED = "migrated-"
FORMS = (*BACKENDS, *(MIGRATED + target for target in TARGETS))

_FILE = "program.actor.cpp"
_INCLUDE = re.compile(r"^#include .*\n+", re.MULTILINE)
_RUNS_ON = re.compile(r"\bUNCANCELLABLE\s+Future<int>\s+root\(")


@dataclass(frozen=True, slots=True)
class Migrated:
    """`why_not`: the error, or the reason why an actor stays one; empty if there is none."""

    text: str
    why_not: str = ""


def target_of(form: str) -> str:
    """The library that a form is migrated for; nothing for a back end."""
    return form.removeprefix(MIGRATED) if form.startswith(MIGRATED) else ""


def migrated_forms(targets: Sequence[str]) -> tuple[str, ...]:
    return tuple(MIGRATED + target for target in targets)


def rules_for(forms: Sequence[str], toolchain: str) -> Rules:
    """Of programs that mean the same in all of these forms."""
    targets = [target for form in forms if (target := target_of(form))]
    is_exact = "foundationdb" not in targets
    return Rules(
        owns_arguments=bool(targets),
        orders_parameters=not targets or toolchain != "gcc",
        ends_by_never=is_exact,
        keeps_exceptions=is_exact,
    )


def told_apart(trace: list[str], form: str) -> list[str]:
    """The part of a trace that must equal the model's: for foundationdb a void actor has a future, and dropping that
    drops its error."""
    if target_of(form) != "foundationdb":
        return trace
    return [line for line in trace if not line.startswith("dropped error")]


def headers_of(form: str) -> str:
    """The start of a file of programs: our headers under the names of the target library."""
    return '#include "flow/compat/flow/CoroUtils.h"\n' if target_of(form) == "foundationdb" else ""


def migrated(text: str, target: str) -> Migrated:
    """In exact style. Includes are left to the file in which the programs stand."""
    settings = Settings(target)
    examined = examine(Task(_FILE, Kind.ACTORS, text.encode(), False), _names_in(text), settings)
    if examined.rejected:
        return Migrated("", f"{examined.rejected}\n{examined.printed}")
    file = Decision([examined], {_FILE: text}, {}, {}, settings).of_code(examined)
    left = "\n".join(f"{each.name}: {each.left}" for each in file.left)
    if settings.is_foundationdb and "flow::" in file.text:
        left = "it uses names of another library"
    return Migrated(_INCLUDE.sub("", file.text), left)


def _names_in(text: str) -> set[str]:
    """Of functions that might be actors which run on."""
    return set(re.findall(r"\b(?:root|child\d+)\b", text))


def root_arguments(text: str, form: str) -> str:
    """The arguments of a program's root, given `token` and `n`."""
    if target_of(form) and _RUNS_ON.search(text):
        return "flow::Uncancellable(), token, n"
    return "token, n"
