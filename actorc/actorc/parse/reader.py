"""The base of every parser of a part of the language: the tokens, and functions that report faults."""

from __future__ import annotations

from actorc.diagnostics import Abandoned, Diagnostics, Fault, Fix
from actorc.parse.brackets import TokenList

TYPE_CHECKING = False  # see records.py
if TYPE_CHECKING:
    from typing import NoReturn


class Reader:
    def __init__(self, tokens: TokenList, diagnostics: Diagnostics) -> None:
        self._tokens = tokens
        self._texts = tokens.texts
        self._diagnostics = diagnostics

    def _error(
        self,
        fault: Fault,
        message: str,
        first: int,
        end: int,
        hint: str | None = None,
        fixes: tuple[Fix, ...] = (),
    ) -> None:
        """Reports a fault of the tokens in `[first, end)`."""
        self._diagnostics.error(fault, message, self._tokens.span(first, end), hint=hint, fixes=fixes)

    def _fail(
        self,
        fault: Fault,
        message: str,
        first: int,
        end: int,
        hint: str | None = None,
        fixes: tuple[Fix, ...] = (),
    ) -> NoReturn:
        """The same, for a construct that cannot be parsed any further. Raises Abandoned."""
        self._error(fault, message, first, end, hint, fixes)
        raise Abandoned
