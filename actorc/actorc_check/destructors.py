"""Whether a type has a destructor that does something. libclang has no function for that."""

from __future__ import annotations

from typing import Any

from actorc_check.tree import CLASSES, written_members

# Whether these have a destructor depends on their arguments, in ways that differ between standard libraries.
_HOLDERS = frozenset({"array", "expected", "optional", "pair", "tuple", "variant"})


def has_destructor(type_: Any) -> bool:
    """False also where it is not known, as of a type that depends on a template's parameters."""
    return _has(type_, ())


def _has(type_: Any, around: tuple[Any, ...]) -> bool:
    type_ = type_.get_canonical()
    while type_.kind.name in ("CONSTANTARRAY", "INCOMPLETEARRAY"):
        type_ = type_.element_type.get_canonical()
    declaration = type_.get_declaration()
    if declaration.kind.name not in CLASSES or declaration in around:
        return False
    around = (*around, declaration)
    if declaration.spelling in _HOLDERS and _is_of_std(declaration):
        arguments = (type_.get_template_argument_type(n) for n in range(type_.get_num_template_arguments()))
        return any(_has(argument, around) for argument in arguments)
    written = written_members(declaration)
    if declaration.kind.name == "UNION_DECL":
        return _declares_one(written)
    bases = [member for member in written if member.kind.name == "CXX_BASE_SPECIFIER"]
    # A base of a template's instance is known as the template has it, and has no fields of its own.
    fields = list(type_.get_fields()) or [member for member in written if member.kind.name == "FIELD_DECL"]
    return _declares_one(written) or any(_has(each.type, around) for each in (*fields, *bases))


def _declares_one(members: list[Any]) -> bool:
    return any(member.kind.name == "DESTRUCTOR" and not member.is_default_method() for member in members)


def _is_of_std(declaration: Any) -> bool:
    above = declaration.semantic_parent
    while above is not None and above.kind.name == "NAMESPACE":
        if above.spelling == "std":
            return True
        above = above.semantic_parent
    return False
