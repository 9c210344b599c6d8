"""Emits the descriptor of a `DESCR struct`, and the function by which flow::Descriptor finds it."""

from __future__ import annotations

from actorc.source import Source
from actorc.spelling import one_line
from actorc.syntax import Description, Field


def described(description: Description, source: Source) -> str:
    """The text after the struct, on one line."""
    name = description.name
    types = ", ".join(f"{field.name}Descriptor" for field in description.fields)
    return (
        f" struct {name}Descriptor__ : flow::StructDescriptor<{name}, {_literal(name)}> {{ "
        + "".join(_field(field, name, source) for field in description.fields)
        + f"using fields = std::tuple<{types}>; "
        + f"using field_indexes = std::make_index_sequence<{len(description.fields)}>; }}; "
        + f"{name}Descriptor__ descriptor__({name}*);"
    )


def _field(field: Field, struct: str, source: Source) -> str:
    type_ = one_line(source[field.type.span])
    texts = ", ".join(_literal(text) for text in (field.name, type_, field.comment))
    return f"struct {field.name}Descriptor : flow::FieldDescriptor<&{struct}::{field.name}, {texts}> {{}}; "


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
    return f'"{escaped}"'
