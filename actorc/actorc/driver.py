"""From source text to emitted text, through all stages."""

from __future__ import annotations

from actorc.check.advice import advise
from actorc.check.check import check
from actorc.diagnostics import Diagnostics
from actorc.parse.cascades import drop_consequences
from actorc.parse.parser import parse
from actorc.source import Source
from actorc.syntax import File

BACKENDS = ("state-machine", "coroutine")


class Rejected(Exception):
    """The source has errors."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        super().__init__(f"{len(diagnostics.errors)} errors")
        self.diagnostics = diagnostics


def examine(source: Source, diagnostics: Diagnostics) -> File:
    """Parses and checks; adds what is wrong to `diagnostics`."""
    file = parse(source, diagnostics)
    check(file, source, diagnostics)
    advise(file, source, diagnostics)
    drop_consequences(file.words, source, diagnostics)
    diagnostics.drop_allowed(source)
    return file


def analyse(source: Source, diagnostics: Diagnostics) -> File:
    """Parse and check; raises Rejected if there is an error."""
    file = examine(source, diagnostics)
    if diagnostics.errors:
        raise Rejected(diagnostics)
    return file


def emitted(
    file: File, source: Source, backend: str, output_path: str, *, nodiscard: bool = True, probes: bool = False
) -> str:
    """The text to be compiled in place of a source without errors."""
    from actorc.emit.emit import emit  # imported here: a file with errors does not need the back ends

    return emit(file, source, backend, output_path, nodiscard=nodiscard, probes=probes)


def compile_text(source: Source, backend: str, output_path: str) -> str:
    """The emitted text for a source. Raises Rejected if it has errors."""
    return emitted(analyse(source, Diagnostics()), source, backend, output_path)
