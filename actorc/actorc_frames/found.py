"""Finds the frames in debug information: the classes of state machines, and the compilers' descriptions of coroutine
frames.

gcc describes a frame as a struct `MANGLED.Frame` with every variable in it. clang describes one as a struct
`MANGLED.coro_frame_ty`, in optimised code only with the flags of compile.py; a value that it keeps in a register up to
a wait has no name there.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from actorc_frames import debug_info as dwarf
from actorc_frames.debug_info import Entry
from actorc_frames.layout import COROUTINE, STATE_MACHINE, Layout, Member, filled

_CLASSES = ("DW_TAG_structure_type", "DW_TAG_class_type")
_CLANG, _GCC = ".coro_frame_ty", ".Frame"
_LINKS = 24  # next, prev, awaited: what every promise begins with
_POINTER = 8
_FRAME = 16  # resume and destroy
_CELL_ALIGNMENT, _MOST_ALIGNMENT = 16, 64  # of frames

_GCC_LOCAL = re.compile(r"(.+)_\d+_\d+")
_CLANG_VALUE = re.compile(r"(?:__int_\d+|PointerType|__floating_type_|\w*Type|UnknownType)_\d+")
_CLANG_OBJECT = re.compile(r"(?:struct|class|union)_(.+?)(?:_\d+)*")
_OF_WAITS = re.compile(
    r"Awaiter|Ending|suspend_(?:always|never)|^(?:flow::)?(?:detail::|coro::)*"
    r"(?:Race|Choose|Delay|Yield|Pending|TryGet|Given|OwnPromise|Self|PropagatingSelf|parked|fail|never|finish)\b"
)


@dataclass(slots=True)
class _Function:
    """A function that is a coroutine, with its entries: there may be one for each part that it was split into."""

    entry: Entry
    parameters: dict[str, Entry | None] = field(default_factory=dict)
    variables: dict[str, Entry | None] = field(default_factory=dict)


def layouts_of(unit: Entry, compiler: str) -> Iterator[Layout]:
    """Those of one compilation unit."""
    frames: list[Entry] = []
    machines: list[Entry] = []
    functions: dict[str, list[Entry]] = defaultdict(list)
    cell = 0
    for entry in dwarf.all_entries(unit):
        if entry.tag == "DW_TAG_subprogram":
            if mangled := dwarf.text(entry, "linkage_name") or dwarf.text(dwarf.declared(entry), "linkage_name"):
                functions[mangled].append(entry)
        elif entry.tag in _CLASSES and "DW_AT_byte_size" in entry.attributes:
            found = dwarf.name(entry)
            if found.endswith((_CLANG, _GCC)):
                frames.append(entry)
            elif found == "Cell" and dwarf.qualified(entry) == "flow::detail::Cell":
                cell = dwarf.number(entry, "byte_size") or 0
            elif _base(entry, "Actor<") is not None:
                machines.append(entry)
    for entry in machines:
        if layout := _state_machine(entry, cell, compiler, functions):
            yield layout
    for entry in frames:
        if layout := _coroutine(entry, cell, compiler, functions):
            yield layout


# ----------------------------------------------------------------------------------------------------------------------
# Both


def _base(entry: Entry, start: str) -> Entry | None:
    """The base class with a name that starts so."""
    for child in entry.iter_children():
        if child.tag == "DW_TAG_inheritance":
            found = dwarf.bare(dwarf.type_of(child))
            if found is not None and dwarf.name(found).startswith(start):
                return found
    return None


def _bases(entry: Entry) -> Iterator[Entry]:
    yield entry
    for child in entry.iter_children():
        if child.tag == "DW_TAG_inheritance":
            found = dwarf.bare(dwarf.type_of(child))
            if found is not None:
                yield from _bases(found)


def _argument(entry: Entry, number: int) -> Entry | None:
    """A type argument of a template's instance."""
    types = [child for child in entry.iter_children() if child.tag == "DW_TAG_template_type_param"]
    return dwarf.type_of(types[number]) if number < len(types) else None


def _members(entry: Entry) -> Iterator[tuple[str, int, Entry | None]]:
    """Name, offset and type of the members of an object."""
    for child in entry.iter_children():
        offset = dwarf.number(child, "data_member_location")
        if child.tag == "DW_TAG_member" and offset is not None:
            yield dwarf.name(child), offset, dwarf.type_of(child)


def _front(owner: Entry, cell: int) -> tuple[list[Member], int]:
    """Result and cell, and the offset at which the frame begins. `owner`: the promise, or the class of the state
    machine."""
    prefix, value = None, None
    for each in _bases(owner):
        if dwarf.name(each).startswith("ResultBytes<"):
            for child in each.iter_children():
                if child.tag == "DW_TAG_template_value_param":
                    prefix = dwarf.number(child, "const_value")
        elif dwarf.name(each).startswith(("CoroPromiseBase<", "Frame<")):
            value = _argument(each, 0)
    if prefix is None or not cell:
        return [], 0
    members = []
    if prefix:
        size = min(dwarf.size_of(value) or prefix, prefix)
        members.append(Member("result", 0, size, "result", dwarf.spelt(value)))
        if -(-size // 16) * 16 < prefix or size <= prefix - 16:
            members.append(Member("result's destructor", prefix - _POINTER, _POINTER, "cell"))
    frame = prefix + cell
    members += [
        Member("cell", prefix, cell, "cell"),
        Member("resume", frame, _POINTER, "header"),
        Member("destroy", frame + _POINTER, _POINTER, "header"),
        Member("next, prev", frame + _FRAME, 2 * _POINTER, "waiter"),
        Member("awaited", frame + _FRAME + 2 * _POINTER, _POINTER, "waiter"),
    ]
    return members, frame


# ----------------------------------------------------------------------------------------------------------------------
# State machines


def _state_machine(entry: Entry, cell: int, compiler: str, functions: dict[str, list[Entry]]) -> Layout | None:
    actor = _base(entry, "Actor<")
    assert actor is not None
    state = dwarf.bare(_argument(actor, 1))
    members, frame = _front(actor, cell)
    if not members or state is None:
        return None
    size = frame + (dwarf.number(entry, "byte_size") or 0)
    start = next((offset for name, offset, _ in _members(actor) if name == "stateBytes_"), None)
    if start is None:
        return None
    members.append(Member("where to go on", frame + _FRAME + _LINKS, 4, "index", "int"))
    kept = _constructed_from(state)
    for number, (name, offset, type_) in enumerate(_members(state)):
        kind = "parameter" if number < kept else "wait" if name in ("choose__", "wait__") else "variable"
        name = name[:-2] if kind == "parameter" and name.endswith("__") else name
        bytes_ = dwarf.size_of(type_) or 0
        if bytes_ and not (bytes_ == 1 and "Slot" in dwarf.spelt(type_)):
            members.append(Member(name, frame + start + offset, bytes_, kind, dwarf.spelt(type_)))
    if not any(True for _ in _members(state)):  # an object without members takes a byte
        members.append(Member("no state", frame + start, 1, "padding"))
    title, file, line = _actor_function(entry, functions)
    return Layout(title, file, line, STATE_MACHINE, compiler, size, filled(members, size))


def _constructed_from(state: Entry) -> int:
    """How many of its members are parameters: they come first, and the constructor takes one for each."""
    for child in state.iter_children():
        if child.tag == "DW_TAG_subprogram" and dwarf.name(child) == dwarf.name(state).split("<")[0]:
            if "DW_AT_artificial" in child.attributes:
                continue
            taken = [each for each in child.iter_children() if each.tag == "DW_TAG_formal_parameter"]
            return sum("DW_AT_artificial" not in each.attributes for each in taken)
    return 0


def _actor_function(entry: Entry, functions: dict[str, list[Entry]]) -> tuple[str, str, int]:
    """Name, file and line of the function beside the class or around it."""
    around = dwarf.scope(entry)
    if around and around[-1].tag == "DW_TAG_subprogram":
        return dwarf.qualified(around[-1]), *dwarf.place(around[-1])
    stem = re.sub(r"Actor\d*(<.*)?$", "", dwarf.name(entry))
    names = (stem[:1].lower() + stem[1:], stem)
    prefix = "".join(f"{dwarf.name(each)}::" for each in around)
    for entries in functions.values():
        if (found := dwarf.name(entries[0])).split("<")[0] in names and dwarf.qualified(entries[0]) == prefix + found:
            return prefix + found, *dwarf.place(entries[0])
    return prefix + names[0], *dwarf.place(entry)


# ----------------------------------------------------------------------------------------------------------------------
# Coroutines


def _coroutine(entry: Entry, cell: int, compiler: str, functions: dict[str, list[Entry]]) -> Layout | None:
    is_clang = dwarf.name(entry).endswith(_CLANG)
    mangled = dwarf.name(entry).removesuffix(_CLANG if is_clang else _GCC)
    own = list(_members(entry))
    promise = next((type_ for name, _, type_ in own if name in ("__promise", "_Coro_promise")), None)
    owner = dwarf.bare(promise)
    entries = functions.get(mangled) or _around(entry) or _beside(entry, _last_name(mangled))
    if owner is None or not entries:
        return None
    function = _function(entries)
    function.parameters |= {name: type_ for name, _, type_ in own if name.startswith("arg__")}
    members, frame = _front(owner, cell)
    named = _with_its_name(function.entry)
    title = dwarf.qualified(named)
    if not members or title.startswith("flow::coro::detail::"):
        return None
    for name, offset, type_ in own:
        size = dwarf.size_of(type_) or 0
        if name in ("__promise", "_Coro_promise"):
            if size > _LINKS:
                members.append(Member("caller", frame + offset + _LINKS, size - _LINKS, "index"))
        elif offset >= _FRAME and size:
            shown, kind = (_clang_kind if is_clang else _gcc_kind)(name, type_, function)
            members.append(Member(shown, frame + offset, size, kind, dwarf.spelt(type_)))
    if is_clang:
        members = _with_names(members, function)
        # The described size may be rounded up to more than is requested; above 16 bytes the block is rounded up anyway.
        size = -(-max(member.end for member in members) // _POINTER) * _POINTER
        alignment = dwarf.number(entry, "alignment") or 0
    else:
        bytes_ = dwarf.number(entry, "byte_size") or 0
        size = frame + bytes_
        alignment = min(bytes_ & -bytes_, _MOST_ALIGNMENT)  # as flow/coro/detail/abi_gcc.h says
    if alignment > _CELL_ALIGNMENT:
        padding = -frame % alignment
        members = [replace(each, offset=each.offset + padding) for each in members]
        size = -(-(padding + size) // alignment) * alignment
    file, line = dwarf.place(named)
    return Layout(title, file, line, COROUTINE, compiler, size, filled(members, size))


def _function(entries: list[Entry]) -> _Function:
    function = _Function(entries[0])
    for entry in entries:
        _variables(entry, function)
    return function


def _variables(entry: Entry, function: _Function) -> None:
    for child in entry.iter_children():
        if child.tag in ("DW_TAG_formal_parameter", "DW_TAG_variable"):
            found = dwarf.name(child)
            if found and found not in ("__promise", "__coro_frame"):
                into = function.parameters if child.tag == "DW_TAG_formal_parameter" else function.variables
                into.setdefault(found, dwarf.type_of(dwarf.declared(child)) or dwarf.type_of(child))
        elif child.tag == "DW_TAG_lexical_block":
            _variables(child, function)


def _around(entry: Entry) -> list[Entry]:
    """gcc gives functions of local classes no linkage name, and describes the frame inside the function."""
    parent = entry.get_parent()
    return [parent] if parent is not None and parent.tag == "DW_TAG_subprogram" else []


def _beside(entry: Entry, name: str) -> list[Entry]:
    """gcc gives functions with internal linkage no linkage name either: they are found by their own name. Functions
    that only the compiler made have no line."""
    parent = entry.get_parent()
    found = (each for each in parent.iter_children() if each.tag == "DW_TAG_subprogram") if parent is not None else ()
    return [each for each in found if dwarf.name(each).split("<")[0] == name and dwarf.place(each)[1]]


def _last_name(mangled: str) -> str:
    """`f` of `_ZN1N1fEi`, in which each name stands behind its length."""
    rest, name = re.sub(r"^_ZN?", "", mangled), ""
    while found := re.match(r"[KL]*(\d+)", rest):
        end = found.end() + int(found[1])
        name, rest = rest[found.end() : end], rest[end:]
        if not mangled.startswith("_ZN"):
            break
    return name


def _with_its_name(entry: Entry) -> Entry:
    """An actor that was compiled to a coroutine may be `run` of a class in the function that has its name."""
    around = dwarf.scope(entry)
    is_run = dwarf.name(entry) == "run" and len(around) > 1 and around[-2].tag == "DW_TAG_subprogram"
    if is_run and re.search(r"Actor\d*$", dwarf.name(around[-1])):
        return around[-2]
    return entry


def _variable_kind(name: str, function: _Function) -> str:
    if name.endswith("__"):
        return "wait"
    return "parameter" if name in function.parameters or f"arg__{name}" in function.parameters else "variable"


def _gcc_kind(name: str, type_: Entry | None, function: _Function) -> tuple[str, str]:
    if dwarf.spelt(type_).startswith("FrameLimit<"):
        return "FLOW_ASSERT_FRAME_SIZE", "index"
    if name.startswith("_Coro_"):
        return name.removeprefix("_Coro_").replace("_", " "), "index"
    if re.match(r"(Aw\d+|Is|Fs)_", name):
        shown = {"Is": "initial suspend", "Fs": "final suspend"}.get(name[:2], "awaiter")
        return shown, "wait"
    if name.startswith("D."):
        spelt = dwarf.spelt(type_)
        return spelt, "wait" if _OF_WAITS.search(spelt) else "temporary"
    local = _GCC_LOCAL.fullmatch(name)
    if local is None:
        return name, "temporary" if name.startswith("arg__") else "parameter"
    return local[1], _variable_kind(local[1], function)


def _clang_kind(name: str, type_: Entry | None, function: _Function) -> tuple[str, str]:
    if name == "__coro_index":
        return "where to go on", "index"
    if name in function.parameters or name in function.variables:
        return name, "temporary" if name.startswith("arg__") else _variable_kind(name, function)
    if found := _CLANG_OBJECT.fullmatch(name):
        shown = found[1].replace("____", "::__", 1).replace("__", "::")
        return shown, "wait" if _OF_WAITS.search(shown) else "temporary"
    if _CLANG_VALUE.fullmatch(name):
        return "", "temporary"
    return name, "temporary"


def _with_names(members: list[Member], function: _Function) -> list[Member]:
    """A value without a name gets the name of the only variable of its size that has no other place, with a `?`."""
    placed = {member.name for member in members}
    wanted = [(name, type_) for name, type_ in (function.parameters | function.variables).items()]
    free = [(name, type_) for name, type_ in wanted if name not in placed and not name.startswith("arg__")]
    result = []
    for member in members:
        if member.name or member.kind != "temporary":
            result.append(member)
            continue
        fitting = [name for name, type_ in free if dwarf.size_of(type_) == member.size and _may_be(type_, member)]
        alike = sum(not each.name and each.size == member.size and each.type == member.type for each in members)
        if len(fitting) == 1 and alike == 1:
            kind = _variable_kind(fitting[0], function)
            result.append(
                Member(fitting[0] + "?", member.offset, member.size, kind, dwarf.spelt(dict(free)[fitting[0]]))
            )
        else:
            result.append(Member("value without a name", member.offset, member.size, "temporary", member.type))
    return result


def _may_be(type_: Entry | None, member: Member) -> bool:
    """Whether a value of this type may be the pointer or the number that the member is."""
    found = dwarf.bare(type_)
    if found is not None and found.tag in _CLASSES:
        return True
    return dwarf.is_pointer(type_) == member.type.endswith("*")
