"""For lldb: what is pending in a program that uses Millrace, running or as a core file; printers for its types.

    $ lldb-19 -p PID -o 'flow pending'      # `millrace debugger lldb` prints the line for ~/.lldbinit
    $ lldb-19 PROGRAM -c CORE

The commands are those of millrace_gdb.py, `fibers` excepted.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import lldb

sys.path.append(str(Path(__file__).resolve().parents[2]))

from millrace.debugger import pending
from millrace.debugger.target import CELL, Unreadable


class LldbTarget:
    def __init__(self, process: lldb.SBProcess) -> None:
        self._process = process
        self._target = process.GetTarget()
        self._types: dict[str, lldb.SBType] = {}
        self._offsets: dict[tuple[str, ...], int] = {}
        self._constants: dict[str, int] = {}

    def read(self, address: int, size: int) -> bytes:
        error = lldb.SBError()
        data = self._process.ReadMemory(address, size, error)
        if error.Fail():  # a core file may leave out what the program's file has, as constants
            error = lldb.SBError()
            data = self._target.ReadMemory(lldb.SBAddress(address, self._target), size, error)
        if error.Fail() or len(data) != size:
            raise Unreadable(f"no memory at {address:#x}")
        return bytes(data)

    def _type(self, name: str) -> lldb.SBType:
        if name not in self._types:
            self._types[name] = self._target.FindFirstType(name.replace("(anonymous namespace)::", ""))
        if not self._types[name]:
            raise Unreadable(f"there is no type {name}")
        return self._types[name]

    def members(self, type_name: str, address: int) -> Iterator[tuple[str, str]]:
        place = lldb.SBAddress(address, self._target)
        for member in self._target.CreateValueFromAddress("state", place, self._type(type_name)).children:
            yield member.GetName(), member.GetSummary() or member.GetValue() or member.GetTypeName()

    def size_of(self, type_name: str) -> int:
        return int(self._type(type_name).GetByteSize())

    def offset_of(self, type_name: str, *members: str) -> int:
        key = (type_name, *members)
        if key not in self._offsets:
            found = _offset_in(self._type(type_name), members[0])
            if found is None:
                raise Unreadable(f"{type_name} has no member {members[0]}")
            self._offsets[key] = found
        return self._offsets[key]

    def constant(self, name: str) -> int:
        if name not in self._constants:
            scope, _, last = name.rpartition("::")
            value = self._type(scope).GetStaticFieldWithName(last).GetConstantValue(self._target)
            if not value.IsValid() or value.GetError().Fail():
                raise Unreadable(f"there is no constant {name}")
            self._constants[name] = value.GetValueAsUnsigned()
        return self._constants[name]

    def heaps(self) -> Iterator[tuple[int, int, float]]:
        for thread in self._process:
            frame = thread.GetFrameAtIndex(0)
            heap = evaluate(frame, "flow::memory::detail::mine").GetValueAsUnsigned()
            now = evaluate(frame, "flow::detail::currentLoop ? flow::detail::currentLoop->now_ : 0.0").GetValue()
            if heap:
                yield thread.GetIndexID(), heap, float(now or 0)

    def symbol(self, address: int) -> str:
        resolved = self._target.ResolveLoadAddress(address)
        symbol = resolved.GetSymbol()
        if not symbol.IsValid() or symbol.GetStartAddress().GetLoadAddress(self._target) != address:
            return ""
        return str(symbol.GetName())

    def address_of(self, symbol: str) -> int:
        found = self._target.FindSymbols(symbol)
        if found.GetSize() == 0:
            return 0
        return int(found[0].GetSymbol().GetStartAddress().GetLoadAddress(self._target))

    def has_function(self, name: str) -> bool:
        return bool(self._target.FindFunctions(name, lldb.eFunctionNameTypeFull).GetSize())


def evaluate(frame: lldb.SBFrame, expression: str) -> lldb.SBValue:
    """Without running any code of the process."""
    options = lldb.SBExpressionOptions()
    options.SetLanguage(lldb.eLanguageTypeC_plus_plus)
    options.SetAllowJIT(False)
    return frame.EvaluateExpression(expression, options)


def _offset_in(kind: lldb.SBType, member: str) -> int | None:
    for i in range(kind.GetNumberOfFields()):
        field = kind.GetFieldAtIndex(i)
        inside = 0 if field.GetName() == member else None if field.GetName() else _offset_in(field.GetType(), member)
        if inside is not None:
            return int(field.GetOffsetInBytes()) + inside
    for i in range(kind.GetNumberOfDirectBaseClasses()):
        base = kind.GetDirectBaseClassAtIndex(i)
        if (found := _offset_in(base.GetType(), member)) is not None:
            return int(base.GetOffsetInBytes()) + found
    return None


# ---------------------------------------------------------------------------------------------------------------------


def _number(value: lldb.SBValue, member: str) -> int:
    return int(value.GetChildMemberWithName(member).GetValueAsUnsigned())


def _find(value: lldb.SBValue, member: str) -> lldb.SBValue:
    """A member of the type or of one that it inherits."""
    plain = value.GetNonSyntheticValue()
    return plain.GetValueForExpressionPath(f".{member}") if plain.GetTypeName()[-1] != "*" else lldb.SBValue()


class Cell:
    """Of a Future, a Promise or a stream."""

    def __init__(self, handle: lldb.SBValue) -> None:
        self.target = LldbTarget(handle.GetProcess())
        self.handle = handle
        self.pointer = _find(handle, "cell_")
        self.address = self.pointer.GetValueAsUnsigned() if self.pointer.IsValid() else 0
        self.cell = handle.CreateValueFromAddress("cell", self.address, self.target._type(CELL))
        self.flags = _number(self.cell, "flags") if self.address else 0
        self.name = handle.GetTypeName().removeprefix("const ").removeprefix("flow::").partition("<")[0]

    def has(self, flag: str) -> bool:
        return bool(self.flags & self.target.constant(f"{CELL}::{flag}"))

    @property
    def frame(self) -> int:
        return self.address + self.target.size_of(CELL) if self.has("kHasFrame") else 0

    def state(self) -> str:
        if not (self.has("kReadyBit")):
            return "not ready"
        if not self.has("kErrorBit"):
            return "ready"
        return f"failed with {self._error()}"

    def _error(self) -> str:
        code = _number(self.cell.GetChildMemberWithName("error"), "code_")
        table = self.target._target.FindFirstGlobalVariable("flow::(anonymous namespace)::kTable")
        for entry in table:
            if _number(entry, "code") == code:
                return pending.string_at(self.target, _number(entry, "name"))
        return f"error {code}"

    def values(self) -> list[lldb.SBValue]:
        """What is queued in a stream; the value of a Future."""
        kind = self.handle.GetType().GetCanonicalType().GetUnqualifiedType().GetTemplateArgumentType(0)
        if not self.address:
            return []
        if self.name.endswith("Stream"):
            state = self.target._type(f"flow::detail::StreamState<{kind.GetName()}>")
            at = self.address + self.target.size_of(CELL)
            places = _ring(self.handle.CreateValueFromAddress("state", at, state), kind.GetByteSize())
            return [self.handle.CreateValueFromAddress(f"[{i}]", at, kind) for i, at in enumerate(places)]
        before = 16 * _number(self.cell, "prefixUnits")
        if self.state() != "ready" or not before:
            return []
        return [self.handle.CreateValueFromAddress("value", self.address - before, kind)]


def _ring(state: lldb.SBValue, size: int) -> Iterator[int]:
    queue = state.GetChildMemberWithName("queue").GetNonSyntheticValue()
    place, end, last, capacity = (_number(queue, name) for name in ("first_", "end_", "last_", "capacity_"))
    while place != end:
        yield place
        place += size
        if place == last:
            place = last - capacity * size
            if end == last:
                return


def cell_summary(value: lldb.SBValue, _: object) -> str:
    cell = Cell(value.GetNonSyntheticValue())
    if not cell.address:
        return f"{cell.name}, invalid"
    counts = [(_number(cell.cell, f"{one}s"), one) for one in ("future", "promise")]
    references = ", ".join(f"{count} {one}{'' if count == 1 else 's'}" for count, one in counts)
    state = f"{len(cell.values())} queued" if cell.name.endswith("Stream") else cell.state()
    text = f"{cell.name}, {state}, {references}"
    if cell.frame and cell.state() == "not ready":
        text += f", computed by {cell.frame:#x} {pending.Pending(cell.target).title(cell.frame)}"
    return text


def string_summary(value: lldb.SBValue, _: object) -> str:
    length = _find(value, "length_").GetValueAsUnsigned()
    data = LldbTarget(value.GetProcess()).read(_find(value, "data_").GetValueAsUnsigned(), length) if length else b""
    return f"{pending.printable(data)} ({length} byte{'' if length == 1 else 's'})"


def vector_summary(value: lldb.SBValue, _: object) -> str:
    return f"VectorRef of {_find(value, 'size_').GetValueAsUnsigned()}"


class Children:
    def __init__(self, value: lldb.SBValue, _: object) -> None:
        self._value = value
        self._children: list[lldb.SBValue] = []

    def update(self) -> bool:
        self._children = self.find(self._value)
        return False

    def find(self, value: lldb.SBValue) -> list[lldb.SBValue]:
        return Cell(value).values()

    def num_children(self) -> int:
        return len(self._children)

    def get_child_at_index(self, index: int) -> lldb.SBValue:
        return self._children[index]

    def has_children(self) -> bool:
        return bool(self._children)


class VectorChildren(Children):
    def find(self, value: lldb.SBValue) -> list[lldb.SBValue]:
        data, size = _find(value, "data_"), _find(value, "size_").GetValueAsUnsigned()
        kind = data.GetType().GetPointeeType()
        at = [data.GetValueAsUnsigned() + i * kind.GetByteSize() for i in range(size)]
        return [value.CreateValueFromAddress(f"[{i}]", each, kind) for i, each in enumerate(at)]


# ---------------------------------------------------------------------------------------------------------------------


def _read_all(debugger: lldb.SBDebugger) -> pending.Pending:
    process = debugger.GetSelectedTarget().GetProcess()
    if not process.IsValid():
        raise Unreadable("there is no process and no core file")
    try:
        found = pending.Pending(LldbTarget(process))
    except Unreadable as error:
        message = f"this is no program that uses Millrace, or its debug information is gone: {error}"
        raise Unreadable(message) from None
    found.find_all()
    return found


def show_pending(debugger: lldb.SBDebugger, argument: str, result: lldb.SBCommandReturnObject, _: object) -> None:
    """Shows all pending computations as trees: flow pending [LIMIT]"""
    if argument and not argument.isdecimal():
        result.SetError(f"'{argument}' is no number of computations: write flow pending [LIMIT]")
        return
    try:
        for line in _read_all(debugger).tree(int(argument) if argument else 1000):
            result.AppendMessage(line)
    except Unreadable as error:
        result.SetError(str(error))


def show_stack(debugger: lldb.SBDebugger, argument: str, result: lldb.SBCommandReturnObject, _: object) -> None:
    """Shows what a computation waits for, and the chain of what waits for it: flow stack FRAME"""
    if not argument:
        result.SetError("write flow stack FRAME, with an address that flow pending shows, or a Future")
        return
    try:
        found = _read_all(debugger)
        frame = debugger.GetSelectedTarget().GetProcess().GetSelectedThread().GetSelectedFrame()
        value = evaluate(frame, argument)
        is_handle = value.IsValid() and _find(value, "cell_").IsValid()
        address = Cell(value).frame if is_handle else value.GetValueAsUnsigned()
        if not address:
            result.SetError(f"no computation stands behind {argument}")
            return
        for line in found.stack(address):
            result.AppendMessage(line)
    except Unreadable as error:
        result.SetError(str(error))


def __lldb_init_module(debugger: lldb.SBDebugger, _: object) -> None:
    handles = "^flow::(StrictFuture|Future|Promise|FutureStream|PromiseStream)<.*>$"
    for command in (
        "command container add -o -h 'Shows what is pending in a program that uses Millrace.' flow",
        f"command script add -o -f {__name__}.show_pending flow pending",
        f"command script add -o -f {__name__}.show_stack flow stack",
        f'type summary add -e -x "{handles}" -F {__name__}.cell_summary',
        f'type synthetic add -x "{handles}" -l {__name__}.Children',
        f'type summary add -x "^flow::StringRef$" -F {__name__}.string_summary',
        f'type summary add -e -x "^flow::VectorRef<.*>$" -F {__name__}.vector_summary',
        f'type synthetic add -x "^flow::VectorRef<.*>$" -l {__name__}.VectorChildren',
    ):
        debugger.HandleCommand(command)
