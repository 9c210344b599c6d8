"""Declarations of Flow's classes at file scope, as `class Void;`.

In FoundationDB these classes are global. Here they are in namespace `flow`, and the headers of `millrace::compat` bring
their names into the global one, so that the declaration would be of another class of the same name, and clash. What is
emitted includes a header with such declarations instead. Without `millrace::compat` there is no such header, and the
declaration stays: it is of a class of the program's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from actorc.check.outside import outside
from actorc.records import dataclass
from actorc.source import Source
from actorc.syntax import File, Span

_CLASSES = """ActorCollection Arena ArenaObjectReader AsyncTrigger BinaryReader BinaryWriter DeterministicRandom Error
FlowLock FlowMutex IRandom Never ObjectReader ObjectWriter ProtocolVersion StringRef TraceEvent UID UnitTestParameters
Void"""
_TEMPLATES = """AsyncVar Callback ErrorOr Future FutureStream Optional Promise PromiseStream Reference ReferenceCounted
SingleCallback Standalone StrictFuture ThreadSafeReferenceCounted VectorRef"""
_RPC_CLASSES = "Endpoint FlowTransport NetworkAddressList"
_RPC_TEMPLATES = "ReplyPromise ReplyPromiseStream RequestStream"
ENUMS = {"TaskPriority": "flow/forward.h"}
# By whether it is a template, and its name, the header that declares it.
HEADERS = {
    **{(False, name): "flow/forward.h" for name in _CLASSES.split()},
    **{(True, name): "flow/forward.h" for name in _TEMPLATES.split()},
    **{(False, name): "fdbrpc/forward.h" for name in _RPC_CLASSES.split()},
    **{(True, name): "fdbrpc/forward.h" for name in _RPC_TEMPLATES.split()},
}


@dataclass(frozen=True, slots=True)
class Forward:
    span: Span  # from `template` or `class` to the `;`
    header: str

    def replacement(self, source: Source) -> str:
        """Begins and ends with a line break."""
        declaration = source.text[self.span.start : self.span.end]
        name = f'"{self.header}"'
        return f"\n#if __has_include({name})\n#include {name}\n#else\n{declaration}\n#endif\n"


def forward_declarations(file: File) -> Iterator[Forward]:
    """Those outside of actors, in order."""
    texts = file.words.texts
    depth = 0
    for index in outside(file):
        text = texts[index]
        if text in ("{", "}"):
            depth += 1 if text == "{" else -1
        elif depth == 0 and text in ("class", "struct") and texts[index + 2] == ";":
            start = _start(texts, index)
            header = HEADERS.get((start < index, texts[index + 1]))
            if header is not None and _begins_declaration(texts, start):
                yield Forward(Span(file.words.starts[start], file.words.span(index + 2).end), header)
        elif depth == 0 and text == "enum" and texts[index + 1] == "class" and texts[index + 2] in ENUMS:
            end = index + (5 if texts[index + 3] == ":" else 3)
            if texts[end] == ";" and _begins_declaration(texts, index):
                yield Forward(Span(file.words.starts[index], file.words.span(end).end), ENUMS[texts[index + 2]])


def _start(texts: Sequence[str], index: int) -> int:
    """The index of `template` in front of a class key, if it has one parameter: else that of the key."""
    for length in (4, 5):
        head = texts[max(0, index - length) : index]
        if (
            len(head) == length
            and head[:2] == ["template", "<"]
            and head[2] in ("class", "typename")
            and head[-1] == ">"
        ):
            return index - length
    return index


def _begins_declaration(texts: Sequence[str], index: int) -> bool:
    """Also false for the `class` of a template with another list of parameters."""
    before = texts[index - 1] if index else ";"
    return before in (";", "}") or before.startswith("#")
