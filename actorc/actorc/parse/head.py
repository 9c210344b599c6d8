"""What the head of an actor says, from `ACTOR` to the `;` or `{`."""

from __future__ import annotations

from actorc.records import dataclass, field
from actorc.syntax import Code, Parameter, Span, TemplateParameter


@dataclass(slots=True)
class Head:
    """What was read so far; `end` is the index of the `;` or `{` after the head."""

    template: tuple[TemplateParameter, ...] | None = None
    attributes: list[str] = field(default_factory=list)
    is_static: bool = False
    is_uncancellable: bool = False
    result_type: Code | None = None
    return_text: str = "void"
    qualifier: tuple[str, ...] = ()
    name: str = ""
    name_span: Span = field(default_factory=lambda: Span(0, 0))
    parameters: tuple[Parameter, ...] = ()
    frame_limit: Code | None = None
    end: int = 0
