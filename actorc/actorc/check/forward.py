"""Reports `class Void;` and the like at file scope: Flow's classes are in namespace `flow` here, so that such a line
declares other classes, which clash with Flow's once a header of Flow's names those."""

from __future__ import annotations

import re

from actorc.check.outside import outside
from actorc.diagnostics import Diagnostics, Fault
from actorc.source import Source
from actorc.syntax import File

_CLASSES = frozenset(
    [
        "Arena",
        "AsyncVar",
        "Error",
        "ErrorOr",
        "Future",
        "FutureStream",
        "Never",
        "Optional",
        "Promise",
        "PromiseStream",
        "Reference",
        "Standalone",
        "StringRef",
        "TraceEvent",
        "UID",
        "VectorRef",
        "Void",
    ]
)
_FLOW = re.compile(r"#\s*include\s*[<\"](?:flow|fdbrpc)/")


def report_forward_declarations(file: File, source: Source, diagnostics: Diagnostics) -> None:
    """Only in a file that includes a header of Flow's."""
    if _FLOW.search(source.text) is None:
        return
    texts = file.words.texts
    depth = 0
    for index in outside(file):
        text = texts[index]
        if text in ("{", "}"):
            depth += 1 if text == "{" else -1
        elif depth == 0 and text in ("class", "struct") and texts[index + 2 : index + 3] == [";"]:
            name = texts[index + 1]
            if name in _CLASSES:
                message = f"this `{name}` is another class than Flow's, which is in namespace `flow`"
                hint = "include `flow/flow.h` instead; see the table of differences in `flow/docs/porting_from_flow.md`"
                diagnostics.warning(Fault.FORWARD_DECLARATION, message, file.words.span(index + 1), hint=hint)
