"""Words that are nearly keywords of the actor language, and stand where only the keyword makes sense: `stat int i`."""

from __future__ import annotations

from actorc.parse.brackets import TokenList
from actorc.words import BEFORE_OPERAND, spellings_near

_MEANT = {near: word for word in ("state", "loop", "choose", "when") for near in spellings_near(word)}
_CATCH = spellings_near("catch")
ERROR_MISSPELT = spellings_near("Error")
_WAITS = frozenset({"wait", "waitNext"})
_AFTER_TYPE = frozenset({"<", "::", "*", "&"})
_OPERATORS = BEFORE_OPERAND | {"xor", "bitand", "bitor", "and_eq", "or_eq", "xor_eq", "not_eq"}


def meant_keyword(tokens: TokenList, index: int, end: int) -> str | None:
    """The keyword that the statement at `index` was meant to begin with; None if it can be C++ as it stands."""
    word = _MEANT.get(tokens.texts[index])
    if word is None or index + 1 >= end:
        return None
    following = tokens.texts[index + 1]
    if word == "state":
        return word if _declares(tokens, index + 1, end) else None
    if word == "when":
        close = tokens.partner.get(index + 1, index + 1)
        return word if tokens.occurrences(index + 1, close, _WAITS) else None
    if word == "loop" and following == "choose":
        return word
    if following != "{":
        return None
    if word == "choose":
        return word if tokens.texts[index + 2 : index + 4] == ["when", "("] else None
    close = tokens.partner.get(index + 1, index + 1)
    return word if tokens.find(index + 2, close, (";",)) < close else None


def _declares(tokens: TokenList, index: int, end: int) -> bool:
    """Whether `TYPE NAME` stands at `index`: with a word before it, that is no C++."""
    if index + 1 >= end or not tokens.is_name(index) or tokens.texts[index] in _OPERATORS:
        return False
    return tokens.is_name(index + 1) or tokens.texts[index + 1] in _AFTER_TYPE


def is_meant_as_catch(tokens: TokenList, index: int) -> bool:
    """Behind the block of a `try`, where nothing but a handler may stand."""
    close = tokens.partner.get(index + 1)
    return (
        tokens.texts[index] in _CATCH
        and tokens.texts[index + 1] == "("
        and close is not None
        and tokens.texts[close + 1] == "{"
    )
