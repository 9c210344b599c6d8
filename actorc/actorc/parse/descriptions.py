"""`DESCR struct NAME [: BASES] { TYPE field; //comment ... };`"""

from __future__ import annotations

import re

from actorc.diagnostics import Diagnostics, Fault
from actorc.parse.brackets import TokenList
from actorc.parse.declarations import skip_attributes
from actorc.parse.lexer import Kind
from actorc.repairs import inserted
from actorc.syntax import Description, Field
from actorc.words import CLASS_KEYS, KEYWORDS

DESCRIBED = CLASS_KEYS | {"enum", "template"}  # after DESCR; before anything else it is a name of the program
_COMMENT = re.compile(r"[ \t]*//([^\n]*)")
_ACCESS = ("public", "protected", "private")
_NO_FIELDS = frozenset(
    {"using", "typedef", "static", "friend", "template", "static_assert", "virtual", "operator", "~"}
)


class DescriptionParser:
    def __init__(self, tokens: TokenList, diagnostics: Diagnostics) -> None:
        self._tokens = tokens
        self._texts = tokens.texts
        self._diagnostics = diagnostics

    def parse(self, word: int, *, in_class: bool) -> tuple[Description | None, int]:
        """The description at the word DESCR, None after a fault; and the index from which to read on."""
        open_ = self._tokens.pair_head(word + 1)
        if self._texts[open_] != "{":
            self._error("DESCR needs a struct with its fields", word, open_, "write `DESCR struct NAME { ... };`")
            return None, open_
        errors = len(self._diagnostics)
        close = self._tokens.pair_body(open_)
        if self._tokens.partner.get(open_) != close:
            return None, close
        name = self._name(word, open_)
        fields = self._fields(open_ + 1, close)
        if in_class:
            self._error("a described struct cannot stand in a class", word, open_, "put it in a namespace")
        if self._texts[close + 1] != ";":
            after = self._tokens.after(close)
            self._diagnostics.error(
                Fault.MISSING_SEMICOLON, "a `;` is missing after this struct", after, fixes=inserted(after.start, ";")
            )
        if len(self._diagnostics) > errors:
            return None, close + 1
        struct = self._tokens.code(word + 1, close + 2)
        return Description(self._tokens.span(word, close + 2), struct, name, fields), close + 2

    def _error(self, message: str, first: int, end: int, hint: str | None = None) -> None:
        self._diagnostics.error(Fault.DESCRIPTION, message, self._tokens.span(first, end), hint=hint)

    def _name(self, word: int, open_: int) -> str:
        key = self._texts[word + 1]
        if key != "struct":
            self._error(f"DESCR describes a struct, not a `{key}`", word + 1, word + 2, "write `DESCR struct NAME`")
            return ""
        place = skip_attributes(self._tokens, word + 2, open_)
        after = place + 1 + (self._texts[place + 1] == "final")
        if not self._tokens.is_name(place) or self._texts[place] in KEYWORDS or self._texts[after] not in (":", "{"):
            hint = "write `DESCR struct NAME { ... };`, in the namespace that NAME belongs to"
            self._error("a described struct needs one plain name", word, open_, hint)
        return self._texts[place]

    def _fields(self, index: int, close: int) -> tuple[Field, ...]:
        found = []
        while index < close:
            if self._tokens.kind(index) is Kind.DIRECTIVE:
                message = "a described struct cannot have preprocessor directives inside"
                self._error(message, index, index + 1, "put it around the whole struct")
                index += 1
                continue
            stop = self._tokens.find(index, close, (";",))
            if self._texts[index] in _ACCESS and self._texts[index + 1] == ":":
                message = f"a described struct has no `{self._texts[index]}:` part: all its fields are public"
                self._error(message, index, index + 2, "remove it")
                index += 2
                continue
            if stop == close:
                after = self._tokens.after(close - 1)
                message = "a `;` is missing after this field"
                self._diagnostics.error(Fault.MISSING_SEMICOLON, message, after, fixes=inserted(after.start, ";"))
            field = self._field(index, stop) if stop > index else None
            if field is not None:
                found.append(field)
            index = stop + 1
        return tuple(found)

    def _field(self, first: int, stop: int) -> Field | None:
        start = skip_attributes(self._tokens, first, stop)
        texts = self._texts
        end = self._tokens.find(start, stop, ("=", "{"))
        problem = self._problem(start, end, stop)
        name = end - 1
        if problem is None and (not self._tokens.is_name(name) or texts[name] in KEYWORDS or name == start):
            problem = "this is not a field", "write `TYPE NAME;`"
        if problem is not None:
            self._error(problem[0], first, stop, problem[1])
            return None
        type_ = self._tokens.code(start, name)
        return Field(self._tokens.span(first, stop), type_, texts[name], self._comment(stop))

    def _problem(self, first: int, end: int, stop: int) -> tuple[str, str | None] | None:
        """Why what stands in `[first, end)`, before its initialiser, is no field; and what to write."""
        texts = self._texts
        word = next((word for word in texts[first:end] if word in _NO_FIELDS), None)
        if word is not None:
            return f"`{word}` declares no field, and a described struct has nothing else", "move it out of the struct"
        if texts[first] in CLASS_KEYS | {"enum"} and texts[end] == "{":
            return "a described struct cannot have types inside", "define the type before it"
        if self._tokens.find(first, end, ("(",)) < end:
            return "a described struct has fields only, no functions", "make it a function beside the struct"
        if self._tokens.find(first, stop, (",",)) < stop:
            return "each field needs a declaration of its own", "write `TYPE NAME;` for each, one on a line"
        if self._tokens.find(first, end, ("[",)) < end:
            return "a described field cannot be an array", "use a `std::array` or a `std::vector`"
        if self._tokens.find(first, end, (":",)) < end:
            return "a described field cannot be a bit-field", "leave out the width"
        if self._tokens.find(first, end, ("&", "&&")) < end:
            return "a described field cannot be a reference", "use a pointer or a value"
        return None

    def _comment(self, semicolon: int) -> str:
        match = _COMMENT.match(self._tokens.source.text, self._tokens.tokens[semicolon].end)
        return match[1].strip() if match else ""
