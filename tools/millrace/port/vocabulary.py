"""The vocabulary of Flow (actorc_check/flow_names.toml), and what the project's own headers have of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from actorc_check.flow_names import DATABASE, DIFFERENCES, table
from millrace.common.packages import headers_folder

_ERRORS = re.compile(r"FLOW_ERROR\((\w+), \d")
_KNOBS = re.compile(r"^    \w+ ([A-Z][A-Z0-9_]+) =", re.MULTILINE)
_PRIORITIES = re.compile(r"^    (\w+) = \d+,", re.MULTILINE)
UNKNOWN_HEADER = "not in the table of Flow's headers: its names are not looked for"
UNKNOWN_ERROR = "a code of the program's own, from 10000 on: Error(code) (flow/base/error.h)"
UNKNOWN_KNOB = "a constant of the program's own"
UNKNOWN_PRIORITY = "a number of the program's own: static_cast<TaskPriority>(...)"


def compat_folders() -> tuple[Path, ...]:
    """Where the headers are that programs include by the names of Flow's."""
    return headers_folder() / "flow" / "compat", headers_folder() / "net" / "compat"


@dataclass(frozen=True, slots=True)
class Header:
    path: str
    names: tuple[str, ...]  # that are here
    missing: dict[str, str]  # what to do instead, by name
    instead: str | None  # of the header itself; None: it is here


@dataclass(frozen=True, slots=True)
class Vocabulary:
    headers: dict[str, Header]
    errors: frozenset[str]  # that error_code_ stands in front of
    knobs: frozenset[str]
    priorities: frozenset[str]
    database: frozenset[str] = frozenset()  # what is no part of Flow
    database_errors: frozenset[str] = frozenset()

    @staticmethod
    def read() -> Vocabulary:
        content = table()
        database = content.pop(DATABASE)
        del content[DIFFERENCES]
        headers = {
            path: Header(path, tuple(entry["names"].split()), entry.get("missing", {}), entry.get("instead"))
            for path, entry in content.items()
        }
        errors = _ERRORS.findall((headers_folder() / "flow/base/error_table.h").read_text(encoding="utf-8"))
        knobs = _KNOBS.findall((headers_folder() / "flow/compat/flow/Knobs.h").read_text(encoding="utf-8"))
        priorities = _PRIORITIES.findall((headers_folder() / "flow/loop/priority.h").read_text(encoding="utf-8"))
        return Vocabulary(
            headers,
            frozenset(errors) | {"actor_cancelled"},
            frozenset(knobs),
            frozenset(priorities),
            frozenset(database["names"].split()),
            frozenset(database["errors"].split()),
        )

    def advice_by_name(self) -> dict[str, str | None]:
        """Every name of the table: None for one that is here, else what to do instead."""
        names: dict[str, str | None] = {}
        for header in self.headers.values():
            names.update(dict.fromkeys(header.names))
            names.update(header.missing)
        return names

    def advice_for_header(self, path: str) -> str | None:
        """None for one that is here."""
        if any((folder / path).is_file() for folder in compat_folders()):
            return None
        known = self.headers.get(path)
        if known is None and path.startswith(("flow/", "net/")) and (headers_folder() / path).is_file():
            return None  # the project's own: the program has been ported in part
        return (known.instead if known else None) or UNKNOWN_HEADER

    def advice_for_error(self, name: str) -> str | None:
        return None if name in self.errors else UNKNOWN_ERROR

    def advice_for_knob(self, name: str) -> str | None:
        return None if name in self.knobs else UNKNOWN_KNOB

    def advice_for_priority(self, name: str) -> str | None:
        return None if name in self.priorities else UNKNOWN_PRIORITY
