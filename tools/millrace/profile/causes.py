"""Finds the cause of a sample by the rules of causes.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import cached_property, lru_cache, partial
from pathlib import Path

from millrace.common.failure import Failure
from millrace.common.packages import headers_folder
from millrace.profile.names import qualified
from millrace.profile.symbols import Frame

FILE = Path(__file__).with_name("causes.toml")
CALLER = "caller"  # what the function around it, or the one that called, is for
UNMAPPED = "unmapped"

KINDS = ("functions", "files", "lines", "objects")


@dataclass(frozen=True)
class Rule:
    cause: str
    patterns: dict[str, tuple[str, ...]]  # by kind

    @cached_property
    def _compiled(self) -> dict[str, re.Pattern[str]]:
        return {kind: re.compile("|".join(self._expressions(kind))) for kind in self.patterns}

    def _expressions(self, kind: str) -> list[str]:
        return [expression(kind, pattern) for pattern in self.patterns[kind]]

    def fits(self, text: Callable[[str], str]) -> bool:
        """`text` returns the text that the patterns of a kind are searched in."""
        return all(pattern.search(text(kind)) for kind, pattern in self._compiled.items())


def expression(kind: str, pattern: str) -> str:
    return pattern if kind == "lines" else f"^(?:{translate(pattern)})"


def text_of(frame: Frame, kind: str) -> str:
    """The text that the patterns of a kind are searched in."""
    if kind == "functions":
        return qualified(frame.name)
    if kind == "files":
        return frame.file
    if kind == "objects":
        return frame.object
    return source_line(frame.file, frame.line)


@dataclass(frozen=True, slots=True)
class Causes:
    order: tuple[str, ...]
    rules: tuple[Rule, ...]
    passes: tuple[Rule, ...]  # a frame that one of them matches is part of a pass

    def of(self, text: Callable[[str], str]) -> str | None:
        """None if no rule fits."""
        return next((rule.cause for rule in self.rules if rule.fits(text)), None)


def decisive(causes: Sequence[str | None]) -> tuple[str, int]:
    """The cause of a stack from the causes of its frames, outermost first, and the frame that decided it: the innermost
    frame that does not count for its caller."""
    for index in range(len(causes) - 1, -1, -1):
        if causes[index] != CALLER:
            return causes[index] or UNMAPPED, index
    return UNMAPPED, len(causes) - 1


def read(file: Path = FILE) -> Causes:
    document = tomllib.loads(file.read_text(encoding="utf-8"))
    rules = []
    for entry in document["rule"]:
        cause = entry.pop("cause")
        if cause not in (CALLER, UNMAPPED, *document["order"]):
            raise ValueError(f"{file.name}: '{cause}' has no place in the order")
        if unknown := set(entry).difference(KINDS):
            raise ValueError(f"{file.name}: a rule for '{cause}' has {', '.join(sorted(unknown))}")
        rules.append(Rule(cause, {kind: tuple(patterns) for kind, patterns in entry.items()}))
    passes = tuple(Rule("pass", {kind: tuple(patterns)}) for kind, patterns in document["passes"].items())
    return Causes(tuple(document["order"]), tuple(rules), passes)


class Attribution:
    """The causes of stacks of frames, outermost first; caches the results."""

    def __init__(self, causes: Causes) -> None:
        self._causes = causes
        self._known: dict[Frame, str | None] = {}
        self._passes: dict[Frame, bool] = {}

    @property
    def order(self) -> tuple[str, ...]:
        return self._causes.order

    def start_of_pass(self, stack: Sequence[Frame]) -> int | None:
        """The index at which the part of a stack that belongs to a pass begins; None if no part does."""
        for index, frame in enumerate(stack):
            if frame not in self._passes:
                self._passes[frame] = any(rule.fits(partial(text_of, frame)) for rule in self._causes.passes)
            if self._passes[frame]:
                return index
        return None

    def of_frame(self, frame: Frame) -> str | None:
        if frame not in self._known:
            self._known[frame] = self._causes.of(partial(text_of, frame))
        return self._known[frame]

    def decisive(self, stack: Sequence[Frame]) -> tuple[str, int]:
        return decisive([self.of_frame(frame) for frame in stack])


@lru_cache(maxsize=256)
def _lines(file: str) -> list[str]:
    try:
        return (headers_folder() / file).read_text(encoding="utf-8", errors="replace").splitlines()
    except (Failure, OSError):
        return []


def source_line(file: str, line: int) -> str:
    """The text of a line, without blanks around it; "" if there is none."""
    if not file or line < 1:
        return ""
    lines = _lines(file)
    return lines[line - 1].strip() if line <= len(lines) else ""
