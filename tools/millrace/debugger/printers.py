"""For gdb: prints Future, Promise, their streams, and what lies in an Arena, by what they hold."""

from __future__ import annotations

from collections.abc import Iterator

import gdb
import gdb.printing

from millrace.debugger import pending
from millrace.debugger.target import CELL, Target

_target: Target


def bare(value: gdb.Value) -> gdb.Value:
    return value.referenced_value() if value.type.strip_typedefs().code == gdb.TYPE_CODE_REF else value


def member(value: gdb.Value, name: str) -> gdb.Value:
    """A member of the type or of one that it inherits; None if it has none of that name."""
    kind = value.type.strip_typedefs()
    if kind.code not in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        return None
    for each in kind.fields():
        if each.is_base_class:
            if (found := member(value.cast(each.type), name)) is not None:
                return found
        elif each.name == name:
            return value[name]
    return None


def frame_of(value: gdb.Value) -> int:
    """The frame of what computes a Future; 0 for what is no Future, or has none."""
    cell = member(bare(value), "cell_")
    if cell is None or int(cell) == 0 or not int(cell["flags"]) & _target.constant("flow::detail::Cell::kHasFrame"):
        return 0
    return int(cell) + _target.size_of(CELL)


def count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


class CellPrinter:
    """Of all four handles: the state of their cell. The value of a Future that is ready is its child."""

    def __init__(self, value: gdb.Value, name: str) -> None:
        self._name = name
        self._cell = member(value, "cell_")
        self._type = value.type.strip_typedefs()
        self._flags = int(self._cell["flags"]) if int(self._cell) else 0

    def _has(self, flag: str) -> bool:
        return bool(self._flags & _target.constant(f"{CELL}::{flag}"))

    def to_string(self) -> str:
        cell = self._cell
        if not int(cell):
            return f"{self._name}, invalid"
        if self._has("kReadyBit") and self._has("kErrorBit"):
            state = f"failed with {error_name(cell['error'])}"
        elif self._has("kReadyBit"):
            state = "ready"
        else:
            state = "not ready"
        references = f"{count(int(cell['futures']), 'future')}, {count(int(cell['promises']), 'promise')}"
        queued = self._queue()
        if queued is not None:
            state = f"{len(list(ring(queued)))} queued"
        text = f"{self._name}, {state}, {references}"
        if self._has("kHasFrame") and not self._has("kReadyBit"):
            frame = int(cell) + _target.size_of(CELL)
            text += f", computed by {frame:#x} {pending.Pending(_target).title(frame)}"
        return text

    def _queue(self) -> gdb.Value:
        """That of a stream; None for others."""
        if not self._name.endswith("Stream") or not int(self._cell):
            return None
        state = gdb.lookup_type(f"flow::detail::StreamState<{self._type.template_argument(0)}>")
        return (self._cell + 1).cast(state.pointer())["queue"]

    def children(self) -> Iterator[tuple[str, gdb.Value]]:
        queued = self._queue()
        if queued is not None:
            for i, value in enumerate(ring(queued)):
                yield f"[{i}]", value
        elif int(self._cell) and self._has("kReadyBit") and not self._has("kErrorBit"):
            kind = self._type.template_argument(0)
            if int(self._cell["prefixUnits"]):
                begin = self._cell.cast(gdb.lookup_type("char").pointer()) - 16 * int(self._cell["prefixUnits"])
                yield "value", begin.cast(kind.pointer()).dereference()


def ring(queue: gdb.Value) -> Iterator[gdb.Value]:
    """The elements of a RingQueue, the oldest first."""
    place, end, last = queue["first_"], queue["end_"], queue["last_"]
    while int(place) != int(end):
        yield place.dereference()
        place += 1
        if int(place) == int(last):
            place = last - int(queue["capacity_"])
            if int(end) == int(last):
                return


def error_name(error: gdb.Value) -> str:
    table = gdb.parse_and_eval("'flow::(anonymous namespace)::kTable'")
    first, last = table.type.range()
    for i in range(first, last + 1):
        if int(table[i]["code"]) == int(error["code_"]):
            return str(table[i]["name"].string())
    return f"error {int(error['code_'])}"


class StringRefPrinter:
    def __init__(self, value: gdb.Value, name: str) -> None:
        self._data, self._length = member(value, "data_"), member(value, "length_")

    def to_string(self) -> str:
        length = int(self._length)
        data = _target.read(int(self._data), length) if length else b""
        return f"{pending.printable(data)} ({count(length, 'byte')})"


class VectorRefPrinter:
    def __init__(self, value: gdb.Value, name: str) -> None:
        self._data, self._size = member(value, "data_"), int(member(value, "size_"))

    def to_string(self) -> str:
        return f"VectorRef of {self._size}"

    def children(self) -> Iterator[tuple[str, gdb.Value]]:
        for i in range(self._size):
            yield f"[{i}]", (self._data + i).dereference()

    def display_hint(self) -> str:
        return "array"


class StandalonePrinter:
    """What it holds, as if it stood alone."""

    def __init__(self, value: gdb.Value, name: str) -> None:
        self._contents = value.cast(value.type.strip_typedefs().fields()[0].type)

    def to_string(self) -> str:
        return "Standalone"

    def children(self) -> Iterator[tuple[str, gdb.Value]]:
        yield "contents", self._contents


def register(target: Target) -> None:
    global _target
    _target = target
    kinds = {
        "Future": CellPrinter,
        "StrictFuture": CellPrinter,
        "Promise": CellPrinter,
        "FutureStream": CellPrinter,
        "PromiseStream": CellPrinter,
        "VectorRef": VectorRefPrinter,
        "Standalone": StandalonePrinter,
    }

    def of(value: gdb.Value) -> object | None:
        name = value.type.strip_typedefs().unqualified().name or ""
        if name == "flow::StringRef":
            return StringRefPrinter(value, "StringRef")
        head, _, arguments = name.removeprefix("flow::").partition("<")
        if name.startswith("flow::") and arguments and head in kinds and arguments.endswith(">"):
            return kinds[head](value, head)
        return None

    gdb.pretty_printers.insert(0, of)
