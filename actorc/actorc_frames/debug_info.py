"""Reads debug information (DWARF 4 or 5) of an object file or program. Needs pyelftools."""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Iterator
from typing import Any

from actorc.packages import PackageMissing, find_package

Entry = Any  # elftools.dwarf.die.DIE: pyelftools has no types

_SKIPPED = ("DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type")
_REFERENCES = {
    "DW_TAG_pointer_type": "*",
    "DW_TAG_reference_type": "&",
    "DW_TAG_rvalue_reference_type": "&&",
}
_SCOPES = (
    "DW_TAG_namespace",
    "DW_TAG_structure_type",
    "DW_TAG_class_type",
    "DW_TAG_union_type",
    "DW_TAG_subprogram",
)
_RELA_ENTRY = 24
_PLAIN_RELOCATIONS = (1, 10)  # R_X86_64_64 and _32; the others are of thread-local variables, which we do not look at


class NoDebugInfo(Exception):
    """There is no debug information; the message says why."""


def units(path: str) -> Iterator[Entry]:
    """The top entry of each compilation unit."""
    try:
        find_package("elftools", "pyelftools")
    except PackageMissing as error:
        raise NoDebugInfo(str(error)) from None
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        with open(path, "rb") as stream:
            data = bytearray(stream.read())
        file = ELFFile(io.BytesIO(data))
        if not file.has_dwarf_info(strict=True):
            raise NoDebugInfo(f"{path}: has no debug information: it was compiled without -g, or stripped")
        if _forget_thread_local(file, data):
            file = ELFFile(io.BytesIO(data))
        info = file.get_dwarf_info()
    except ELFError as error:
        raise NoDebugInfo(f"{path}: cannot be read: {error}") from error
    for unit in info.iter_CUs():
        yield unit.get_top_DIE()


def _forget_thread_local(file: Any, data: bytearray) -> bool:
    """Replaces the relocations that pyelftools does not support by none. Returns whether there were any."""
    found = False
    for section in file.iter_sections():
        if section["sh_type"] != "SHT_RELA" or not section.name.startswith(".rela.debug"):
            continue
        for start in range(section["sh_offset"], section["sh_offset"] + section["sh_size"], _RELA_ENTRY):
            if struct.unpack_from("<I", data, start + 8)[0] not in _PLAIN_RELOCATIONS:
                struct.pack_into("<I", data, start + 8, 0)
                found = True
    return found


def all_entries(unit: Entry) -> Iterator[Entry]:
    yield from unit.cu.iter_DIEs()


def number(entry: Entry, attribute: str) -> int | None:
    found = entry.attributes.get(f"DW_AT_{attribute}")
    return found.value if found is not None and isinstance(found.value, int) else None


def text(entry: Entry, attribute: str) -> str:
    found = entry.attributes.get(f"DW_AT_{attribute}")
    return found.value.decode(errors="replace") if found is not None and isinstance(found.value, bytes) else ""


def declared(entry: Entry) -> Entry:
    """The entry with the name and the place in the tree. A definition only refers to it."""
    for attribute in ("DW_AT_abstract_origin", "DW_AT_specification"):
        if attribute in entry.attributes:
            return declared(entry.get_DIE_from_attribute(attribute))
    return entry


def name(entry: Entry) -> str:
    return text(entry, "name") or text(declared(entry), "name")


def type_of(entry: Entry) -> Entry | None:
    return entry.get_DIE_from_attribute("DW_AT_type") if "DW_AT_type" in entry.attributes else None


def bare(type_: Entry | None) -> Entry | None:
    """The type itself, behind all typedefs."""
    while type_ is not None and type_.tag in _SKIPPED:
        type_ = type_of(type_)
    return type_


def is_pointer(type_: Entry | None) -> bool:
    found = bare(type_)
    return found is not None and found.tag in _REFERENCES


def size_of(type_: Entry | None) -> int | None:
    found = bare(type_)
    if found is None:
        return None
    size = number(found, "byte_size")
    if size is None and found.tag in _REFERENCES:
        return 8
    if size is None and found.tag == "DW_TAG_array_type":
        size = size_of(type_of(found))
        for extent in found.iter_children():
            if size is not None and extent.tag == "DW_TAG_subrange_type":
                upper, count = number(extent, "upper_bound"), number(extent, "count")
                size *= count if count is not None else (upper if upper is not None else -1) + 1
    return size


def spelt(type_: Entry | None) -> str:
    if type_ is None:
        return "void"
    if type_.tag in _REFERENCES:
        return spelt(type_of(type_)) + _REFERENCES[type_.tag]
    if type_.tag == "DW_TAG_const_type":
        return spelt(type_of(type_)) + " const"
    if type_.tag == "DW_TAG_array_type":
        element = type_of(type_)
        size, one = size_of(type_), size_of(element)
        return f"{spelt(element)}[{size // one if size is not None and one else ''}]"
    if type_.tag == "DW_TAG_subroutine_type":
        return "function"
    return name(type_) or (spelt(type_of(type_)) if "DW_AT_type" in type_.attributes else "unnamed")


def scope(entry: Entry) -> list[Entry]:
    """The scopes around it, outermost first, without unnamed namespaces."""
    found: list[Entry] = []
    parent = declared(entry).get_parent()
    while parent is not None:
        if parent.tag in _SCOPES and (name(parent) or parent.tag == "DW_TAG_subprogram"):
            found.insert(0, parent)
            parent = declared(parent)
        parent = parent.get_parent()
    return found


def qualified(entry: Entry) -> str:
    return "::".join([*(name(each) for each in scope(entry)), name(entry)])


def place(entry: Entry) -> tuple[str, int]:
    """The file and line of its declaration; nothing and 0 where there is none."""
    for each in (entry, declared(entry)):
        file, line = number(each, "decl_file"), number(each, "decl_line")
        if file is not None and line is not None:
            return _file(each.cu, file), line
    return "", 0


def _file(unit: Any, index: int) -> str:
    program = unit.dwarfinfo.line_program_for_CU(unit)
    if program is None:
        return ""
    header = program.header
    files, folders = header["file_entry"], header["include_directory"]
    is_old = header["version"] < 5
    if not 0 <= index - is_old < len(files):
        return ""
    entry = files[index - is_old]
    folder = entry["dir_index"]
    path = entry.name.decode(errors="replace")
    top = unit.get_top_DIE()
    compiled_in = text(top, "comp_dir")
    if is_old and folder == 0:
        return os.path.normpath(os.path.join(compiled_in, path))
    found = folders[folder - is_old] if 0 <= folder - is_old < len(folders) else b""
    return os.path.normpath(os.path.join(compiled_in, found.decode(errors="replace"), path))
