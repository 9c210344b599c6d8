"""What to write in place of names of FoundationDB's Flow that are not here: flow_names.toml, as millrace port does.

A file of that code base does not compile where it uses one, and clang only says that there is no such name.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_name("flow_names.toml")
DATABASE = "the database"  # the section of names that are no part of Flow
DIFFERENCES = "differences"  # the section of names that differ from Flow's
_MISSING = re.compile(
    r"(?:use of undeclared identifier|unknown type name|no template named) '(\w+)'"
    r"|no (?:member|template|type) named '(\w+)' in (?:the global namespace|(?:namespace )?'([^']+)')"
    r"|'([\w./]+)' file not found"
)


_CONFLICT = "target of using declaration conflicts with declaration already in scope"
_FORWARD = (
    "where a line such as `class Void;` stands before this header, it declares another class than Flow's: "
    'write `#include "flow/forward.h"` in its place, as `millrace port --fix` does'
)


def table() -> dict[str, Any]:
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


def hint_for(message: str, *, is_ported: bool) -> str | None:
    """A hint for a message of clang's, if it misses a name or a header of Flow, or finds another declaration.

    In a program that uses the header names of Flow, any member of a class that is missing may be one of Flow's.
    """
    if _CONFLICT in message:
        return _FORWARD
    match = _MISSING.search(message)
    if match is None:
        return None
    alone, member, scope, header = match.groups()
    if header:
        return _advice().get(header)
    name = (alone or member).removeprefix("error_code_")
    short = re.sub(r"<.*", "", scope or "").rpartition("::")[2]
    if short in ("", "flow", "net"):
        return _advice().get(name)
    general = f"if Flow's `{short}` has it: Millrace's does not; write a function of the program's own"
    of_ours = is_ported and scope.startswith("flow::")
    return _advice().get(f"{short}::{name}", general if of_ours else None)


@cache
def _advice() -> dict[str, str]:
    hints: dict[str, str] = {}
    content = table()
    del content[DIFFERENCES]
    for path, entry in content.items():
        if path == DATABASE:
            words = [*entry["names"].split(), *entry["errors"].split()]
            hints.update(dict.fromkeys(words, "it belongs to the database, and is no part of Flow"))
            continue
        if "instead" in entry:
            hints[path] = _instead(entry["instead"])
        hints.update({name: _instead(advice) for name, advice in entry.get("missing", {}).items()})
    return hints


def _instead(advice: str) -> str:
    return f"Millrace does not have it; instead: {advice}"
