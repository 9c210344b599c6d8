"""The base of every parser of a part of the language: the tokens, and functions that report faults."""

from __future__ import annotations

from actorc.diagnostics import Abandoned, Diagnostics, Fault, Fix
from actorc.parse.brackets import TokenList
from actorc.parse.lexer import Kind
from actorc.repairs import inserted
from actorc.words import BEFORE_OPERAND

TYPE_CHECKING = False  # see records.py
if TYPE_CHECKING:
    from typing import NoReturn

_OPERAND_ENDS = frozenset({")", "]", "}", "++", "--"})
_LITERALS = (Kind.NUMBER, Kind.STRING, Kind.CHARACTER)


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

    def _ends_operand(self, index: int) -> bool:
        """Whether an expression, or the name of a declaration, can end with this token."""
        text = self._texts[index]
        is_operand = self._tokens.is_name(index) and text not in BEFORE_OPERAND
        return is_operand or text in _OPERAND_ENDS or self._tokens.kind(index) in _LITERALS

    def _missing_semicolon(self, index: int) -> None:
        """Reports that a `;` is missing before the token at `index`."""
        place = self._tokens.after(index - 1)
        self._diagnostics.error(
            Fault.MISSING_SEMICOLON, "a `;` is missing here", place, fixes=inserted(place.start, ";")
        )
