"""An actor's return type: `Future<T>`, which may be qualified by `flow::`, or `void`."""

from __future__ import annotations

from actorc.diagnostics import Edit, Fault, Fix
from actorc.parse.head import Head
from actorc.parse.reader import Reader
from actorc.repairs import inserted, removed, replaced

_FUTURES = frozenset({"future", "shared_future", "StrictFuture", "Promise", "promise", "Task", "task"})
_STREAMS = frozenset({"FutureStream", "PromiseStream"})
_NOT_IT = "write `Future<T>` itself, not an alias, a macro or `auto`"


def _is_misspelt(name: str) -> bool:
    """Whether it is `Future` but for its case, one letter, or two letters that have changed places."""
    right, written = "future", name.lower()
    if written == right:
        return True
    if len(written) == len(right):
        different = [place for place in range(len(right)) if written[place] != right[place]]
        return len(different) == 1 or (len(different) == 2 and sorted(written) == sorted(right))
    short, long = sorted((right, written), key=len)
    return any(long[:place] + long[place + 1 :] == short for place in range(len(long)))


def _is_macro(text: str) -> bool:
    """Whether it is written as macros are. One letter is a parameter of a template."""
    return len(text) > 1 and text.isidentifier() and text.isupper()


class ReturnTypeParser(Reader):
    def read(self, head: Head, first: int, end: int) -> None:
        """Read the type from the whole range."""
        text = self._tokens.text(first, end) if first < end else ""
        if text == "void":
            return
        head.return_text = text
        open_ = self._future_angle(first)
        close = self._tokens.angle.get(open_)
        if close is None or close != end - 1:
            self._wrong(head, first, end)
            return
        is_void = self._texts[open_ + 1 : close] == ["void"]
        if is_void or not any(self._tokens.is_name(index) for index in range(open_ + 1, close)):
            message = "`Future` needs a type: an actor without a result is a `Future<Void>`"
            fixes = replaced(self._tokens.span(first, end), "Future<Void>") if close <= open_ + 1 + is_void else ()
            self._error(Fault.RETURN_TYPE, message, first, end, "write `Future<Void>`", fixes)
        elif self._texts[close - 1] in ("&", "&&"):
            object_ = self._tokens.text(open_ + 1, close - 1)
            value = object_.removeprefix("const ").removesuffix("const").strip()
            message = f"a Future holds a value of its own, which `{self._tokens.text(open_ + 1, close)}` is not"
            fixes = replaced(self._tokens.span(open_ + 1, close), value)
            hint = f"write `Future<{value}>`, or `Future<{object_}*>` for the address of an object that lives longer"
            self._error(Fault.RETURN_TYPE, message, open_ + 1, close, hint, fixes)
        head.result_type = self._tokens.code(open_ + 1, close)

    def refuse_macro(self, first: int, end: int) -> None:
        """`FUTURE(int) f(...)`: raises Abandoned."""
        message = f"an actor must return `Future<T>` or `void`, not `{self._tokens.text(first, end)}`"
        self._fail(Fault.RETURN_TYPE, message, first, end, _NOT_IT)

    def trailing(self, head: Head, first: int, end: int, arrow: int) -> None:
        """Report `auto f(...) -> Future<T>`, with `auto` in `[first, end)`."""
        head_end = head.end
        type_ = self._tokens.text(arrow + 1, head_end)
        message = "the return type of an actor stands before its name"
        taken = Edit(self._tokens.between(arrow - 1, head_end), " " if self._texts[head_end] == "{" else "")
        fix = Fix("move it", (Edit(self._tokens.span(first, end), type_), taken))
        fixes = (fix,) if self._texts[first:end] == ["auto"] and type_ else ()
        self._error(Fault.RETURN_TYPE, message, arrow, head_end, f"write `ACTOR {type_} {head.name}(...)`", fixes)

    def _future_angle(self, first: int) -> int:
        """Where the `<` stands in `Future<`, `flow::Future<` or `::flow::Future<`; -1 if none of these is here."""
        for words in (["Future"], ["flow", "::", "Future"], ["::", "flow", "::", "Future"]):
            if self._texts[first : first + len(words)] == words:
                return first + len(words)
        return -1

    def _wrong(self, head: Head, first: int, end: int) -> None:
        if first >= end:
            name = head.name_span
            message = f"actor `{head.name}` has no return type"
            hint = "write `Future<Void>` or `void` before it"
            fixes = inserted(name.start, "Future<Void> ")
            self._diagnostics.error(Fault.RETURN_TYPE, message, name, hint=hint, fixes=fixes)
            return
        hint, fixes = self._repair(head.return_text, first, end)
        message = f"an actor must return `Future<T>` or `void`, not `{head.return_text}`"
        self._error(Fault.RETURN_TYPE, message, first, end, hint, fixes)

    def _repair(self, text: str, first: int, end: int) -> tuple[str, tuple[Fix, ...]]:
        texts, span = self._texts, self._tokens.span(first, end)
        if texts[first] == "auto" or self._is_alias(texts[end - 1]) or _is_macro(text):
            return _NOT_IT, ()
        open_ = self._tokens.find(first, end, ("<",), angles=False)
        close = self._tokens.angle.get(open_, end)
        inner = self._tokens.text(open_ + 1, close)
        name = texts[open_ - 1]
        if name in _STREAMS and close == end - 1:
            hint = f"write `Future<Void>`, and let it send its values to a `PromiseStream<{inner}>` that it is passed"
            return hint, ()
        if (name in _FUTURES or _is_misspelt(name)) and close == end - 1:
            return f"write `Future<{inner}>`", replaced(span, f"Future<{inner}>")
        if texts[first:end] == ["Future"]:
            return "write `Future<T>` with the type of what it returns, `Future<Void>` if that is nothing", ()
        if self._future_angle(first) == open_ and close >= end:
            return "write the `>` that is missing", inserted(span.end, ">")
        if self._future_angle(first) == open_ and texts[close + 1 : end] == [">"] * (end - close - 1):
            return "remove the extra `>`", removed(self._tokens.span(close + 1, end), text[-1])
        if "Future" in text:
            return _NOT_IT, ()
        return f"write `Future<{text}>`", replaced(span, f"Future<{text}>")

    def _is_alias(self, name: str) -> bool:
        """Whether the file says `using NAME = ...`."""
        return any(text == "using" and self._texts[index + 1] == name for index, text in enumerate(self._texts))
