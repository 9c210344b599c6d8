"""Shared by the command lines of tools: reports of wrong arguments."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from typing import NoReturn

MANY = 16  # names in one message


class UsageError(Exception):
    """A mistake in the arguments, described in one line."""


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """The error that there is no `name`, with the most similar existing name, ignoring case."""
    folded = {word.lower(): word for word in reversed(list(known))}
    near = [folded[word] for word in get_close_matches(name.lower(), folded, n=3, cutoff=0.6)]
    if near:
        return f"there is no {kind} '{name}'; did you mean {' or '.join(near)}?"
    words = list(reversed(folded.values()))
    if not words:
        return f"there is no {kind} '{name}'"
    some = ", ".join(words[:MANY])
    return f"there is no {kind} '{name}'; try {some}" + (", ..." if len(words) > MANY else "")


class CommandParser(argparse.ArgumentParser):
    """Raises a UsageError, and leaves the lines of descriptions as they are."""

    def __init__(self, prog: str, description: str, epilog: str = "") -> None:
        form = argparse.RawDescriptionHelpFormatter
        super().__init__(prog=prog, description=description, epilog=epilog, formatter_class=form)

    def error(self, message: str) -> NoReturn:
        known = self._option_string_actions
        strange = [word for word in sys.argv[1:] if word.startswith("--") and not _is_known(word, known)]
        if "required" in message and strange:  # the likelier mistake
            message = f"unrecognized arguments: {' '.join(strange)}"
        raise UsageError(f"{message} (see {self.prog} --help)")


def _is_known(word: str, options: Iterable[str]) -> bool:
    """Also an abbreviation is, as of argparse."""
    return any(option.startswith(word.partition("=")[0]) for option in options)
