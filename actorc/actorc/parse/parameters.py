"""An actor's parameters.

Of every parameter the actor has a copy of its own, so `T const&` and an outer `const` say nothing; `T&&` is moved in.
"""

from __future__ import annotations

from actorc.diagnostics import Fault
from actorc.parse.declarations import is_type, read_base, skip_attributes, skip_pointers
from actorc.parse.reader import Reader
from actorc.repairs import inserted, removed
from actorc.syntax import Code, Parameter
from actorc.words import KEYWORDS

_FRAME_LIMIT = "FLOW_ASSERT_FRAME_SIZE"
_BEFORE_TYPE_NAME = frozenset({"::", "struct", "class", "union", "enum", "typename", "const", "volatile"})


class ParameterParser(Reader):
    def parse(self, first: int, end: int) -> tuple[tuple[Parameter, ...], Code | None]:
        """What stands between the parentheses, without parameters that were refused; and the number in a
        FLOW_ASSERT_FRAME_SIZE, which is no parameter of the actor."""
        if end - first == 1 and self._texts[first] == "void":
            return (), None
        ranges = self._tokens.split(first, end)
        limit = None
        if ranges and self._texts[ranges[-1][0]] == _FRAME_LIMIT:
            limit = self._frame_limit(*ranges.pop())
        found = (self._parameter(number, start, stop) for number, (start, stop) in enumerate(ranges, 1))
        return tuple(parameter for parameter in found if parameter is not None), limit

    def _frame_limit(self, first: int, end: int) -> Code | None:
        """Of `FLOW_ASSERT_FRAME_SIZE(number)`."""
        if end - first < 4 or self._tokens.partner.get(first + 1) != end - 1:
            hint = f"write `{_FRAME_LIMIT}(96)`"
            self._error(Fault.PARAMETER, f"`{_FRAME_LIMIT}` needs a number of bytes", first, end, hint)
            return None
        return self._tokens.code(first + 2, end - 1)

    def _parameter(self, number: int, first: int, end: int) -> Parameter | None:
        tokens = self._tokens
        equals = tokens.find(first, end, ("=",))
        start = skip_attributes(tokens, first, equals)
        stop = equals if self._is_unnamed(start, equals) else equals - 1
        problem = self._problem(start, stop, equals)
        if problem is not None:
            message, hint = problem
            is_comma = equals <= first and self._texts[first - 1] == ","
            fixes = removed(tokens.span(first - 1, first), ",") if is_comma else ()
            self._error(Fault.PARAMETER, message, first, max(equals, first + 1), hint, fixes)
            return None
        missing = self._missing_comma(start, stop) if stop - start > 2 else None
        if missing is not None:
            place = tokens.after(missing)
            message = "a `,` is missing between two parameters"
            self._diagnostics.error(Fault.PARAMETER, message, place, fixes=inserted(place.start, ","))
            return None
        default = None
        if equals < end:
            default = tokens.code(equals + 1, end)
            if equals + 1 >= end:
                self._error(Fault.PARAMETER, "the default argument is missing after `=`", equals, equals + 1)
        name = self._texts[stop] if stop < equals else f"unnamed{number}__"
        is_pack = self._texts[stop - 1] == "..."
        type_first, type_end, is_rvalue = self._bare_type(start, stop - is_pack, name)
        return Parameter(tokens.span(first, end), tokens.code(type_first, type_end), name, default, is_rvalue, is_pack)

    def _is_unnamed(self, first: int, end: int) -> bool:
        """Whether the range is a type and nothing else."""
        stop = end - 1 if end > first and self._texts[end - 1] == "..." else end
        if stop <= first or not is_type(self._tokens, first, stop):
            return False
        last = stop - 1
        if not self._tokens.is_name(last) or self._texts[last] in KEYWORDS:
            return True
        return last == first or self._texts[last - 1] in _BEFORE_TYPE_NAME

    def _missing_comma(self, first: int, stop: int) -> int | None:
        """The name of `Future<int> x` in `Future<int> x Future<int>`; a macro before a type looks similar, so that the
        first type must be more than a name."""
        tokens = self._tokens
        if is_type(tokens, first, stop):
            return None
        base = read_base(tokens, first, stop)
        if base is None:
            return None
        name = skip_pointers(tokens, base.end, stop)[0]
        is_sure = name - first > 1 or self._texts[first] in KEYWORDS
        is_named = name < stop and tokens.is_name(name) and self._texts[name] not in KEYWORDS
        return name if is_sure and is_named and is_type(tokens, name + 1, stop) else None

    def _problem(self, first: int, stop: int, end: int) -> tuple[str, str] | None:
        """What is wrong with the type in `[first, stop)` and the name behind it, and what to write."""
        texts = self._texts
        if end <= first:
            return "a parameter is missing here", "write `TYPE NAME`"
        last = texts[end - 1]
        if last == "..." and stop < end:
            return "an actor cannot take variable arguments", "write a parameter pack, `template <class... Ts>`"
        if last == "]":
            return "a parameter cannot be an array", "pass a `std::vector` or a `std::array`"
        if last == ")" and stop < end:
            return "a parameter cannot be a function or a pointer to one", "pass a `std::function`, or name the type"
        if any(text == "auto" for text in texts[first:stop]):
            return "an actor's parameter needs a type", "write `template <class T>` before the return type, and `T`"
        if stop < end and (not self._tokens.is_name(stop) or texts[stop] in KEYWORDS or stop == first):
            return "an actor's parameter needs a type", "write `TYPE NAME`"
        return None

    def _bare_type(self, first: int, end: int, name: str) -> tuple[int, int, bool]:
        """The type without `const&`, `&&` and outer `const`; and whether it was an rvalue reference."""
        texts = self._texts
        is_pointer = self._tokens.find(first, end, ("*",)) < end
        reference = texts[end - 1] if texts[end - 1] in ("&", "&&") else ""
        stop = end - 1 if reference else end
        is_const = False
        while stop - first > 1 and texts[stop - 1] == "const":
            stop, is_const = stop - 1, True
        if texts[first] == "const" and stop - first > 1 and not is_pointer:
            first, is_const = first + 1, True
        if (reference == "&&") if is_const else (reference == "&"):
            bare = self._tokens.text(first, stop)
            message = "a reference parameter would dangle: its object may be destroyed while the actor waits"
            hint = f"write `{bare} {name}` for a copy, or `{bare}* {name}` and keep the object alive"
            fixes = removed(self._tokens.span(end - 1, end), reference)
            self._error(Fault.REFERENCE_PARAMETER, message, first, end + 1, hint, fixes)
        return first, stop, reference == "&&"
