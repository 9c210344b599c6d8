"""For gdb: what is pending in a program that uses Millrace, running or as a core file; printers for its types.

    $ gdb -p PID -ex 'flow pending' -batch      # `millrace debugger gdb` prints the line for ~/.gdbinit
    $ gdb PROGRAM CORE
    (gdb) flow pending
    2 computations are pending
    0x7ffff7c04260 actor lead at lead.actor.cpp:14 waits for coroutine replicate
      0x7ffff7c04310 coroutine replicate waits for a promise (0x7ffff7c04200)
    (gdb) flow stack 0x7ffff7c04310
    coroutine replicate waits for a promise (0x7ffff7c04200)
      awaited by 0x7ffff7c04260 actor lead at lead.actor.cpp:14
    (gdb) flow stack 0x7ffff7c04260
    actor lead at lead.actor.cpp:14 waits for coroutine replicate
        term = 7
    (gdb) print answer
    $1 = Future, not ready, 2 futures, 1 promise, computed by 0x7ffff7c04310 coroutine replicate

`flow pending [LIMIT]` shows up to LIMIT computations, 1000 if none is given; if there are more, it counts all of them
by kind first. `flow stack FRAME` takes an address that `flow pending` shows, or a Future. `fibers` (fibers.py) shows
the stacks of fibers. Nothing in the process is changed or called.
"""

from __future__ import annotations

import re
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import gdb

sys.path.append(str(Path(__file__).resolve().parents[2]))

from millrace.debugger import fibers as fibers
from millrace.debugger import pending, printers
from millrace.debugger.target import Unreadable


class GdbTarget:
    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}
        self._offsets: dict[tuple[str, ...], int] = {}
        self._constants: dict[str, int] = {}

    def read(self, address: int, size: int) -> bytes:
        try:
            return bytes(gdb.selected_inferior().read_memory(address, size))
        except gdb.MemoryError as error:
            raise Unreadable(str(error)) from None

    def members(self, type_name: str, address: int) -> Iterator[tuple[str, str]]:
        kind = gdb.lookup_type(type_name)
        value = gdb.Value(address).cast(kind.pointer()).dereference()
        for field in kind.fields():
            if field.name and hasattr(field, "bitpos"):
                try:
                    yield field.name, value[field].format_string(max_elements=8)
                except gdb.error as error:
                    yield field.name, f"<{error}>"

    def size_of(self, type_name: str) -> int:
        if type_name not in self._sizes:
            self._sizes[type_name] = gdb.lookup_type(type_name).sizeof
        return self._sizes[type_name]

    def offset_of(self, type_name: str, *members: str) -> int:
        key = (type_name, *members)
        if key not in self._offsets:
            try:
                gdb.lookup_type(type_name)
            except gdb.error as error:
                raise Unreadable(str(error)) from None
            place = gdb.Value(0).cast(gdb.lookup_type(type_name).pointer()).dereference()
            for member in members:
                place = place[member]
            self._offsets[key] = int(place.address)
        return self._offsets[key]

    def constant(self, name: str) -> int:
        if name not in self._constants:
            with in_cpp():
                self._constants[name] = int(gdb.parse_and_eval(name))
        return self._constants[name]

    def heaps(self) -> Iterator[tuple[int, int, float]]:
        before = gdb.selected_thread()
        try:
            for thread in sorted(gdb.selected_inferior().threads(), key=lambda one: one.num):
                thread.switch()
                heap = int(gdb.parse_and_eval("'flow::memory::detail::mine'"))
                if heap:
                    yield thread.num, heap, self._now()
        finally:
            before.switch()

    def _now(self) -> float:
        """By the address of the variable, of which gdb knows no type in a program of gcc's without -g."""
        place = int(gdb.parse_and_eval("&'flow::detail::currentLoop'"))
        loop = int.from_bytes(self.read(place, 8), "little")
        return float(struct.unpack("<d", self.read(loop + self.offset_of("flow::Loop", "now_"), 8))[0]) if loop else 0.0

    def symbol(self, address: int) -> str:
        found = re.match(r"(.*) in section ", gdb.execute(f"info symbol {address:#x}", to_string=True))
        return found[1] if found and not re.search(r" \+ \d+$", found[1]) else ""

    def address_of(self, symbol: str) -> int:
        try:
            return int(gdb.parse_and_eval(f"&'{symbol}'"))
        except gdb.error:
            return 0

    def has_function(self, name: str) -> bool:
        try:
            return bool(gdb.parse_and_eval(f"&'{name}'").type.target().code == gdb.TYPE_CODE_FUNC)
        except gdb.error:
            return False


class in_cpp:
    """The thread may stand in a function of C, where the names of C++ mean nothing."""

    def __enter__(self) -> None:
        if gdb.selected_thread() is None:
            raise gdb.GdbError("there is no process and no core file")
        self._before = gdb.parameter("language")
        gdb.execute("set language c++")

    def __exit__(self, *error: object) -> None:
        gdb.execute(f"set language {self._before}")


def read_all() -> pending.Pending:
    try:
        found = pending.Pending(GdbTarget())
        found.find_all()
        return found
    except (gdb.error, Unreadable) as error:
        raise gdb.GdbError(
            f"this is no program that uses Millrace, or its debug information is gone: {error}"
        ) from None


class FlowCommand(gdb.Command):  # type: ignore[misc]
    """Shows what is pending in a program that uses Millrace."""

    def __init__(self) -> None:
        super().__init__("flow", gdb.COMMAND_STACK, prefix=True)


class PendingCommand(gdb.Command):  # type: ignore[misc]
    """Shows all pending computations as trees: flow pending [LIMIT]"""

    def __init__(self) -> None:
        super().__init__("flow pending", gdb.COMMAND_STACK)

    def invoke(self, argument: str, from_tty: bool) -> None:
        if argument and not argument.isdecimal():
            raise gdb.GdbError(f"'{argument}' is no number of computations: write flow pending [LIMIT]")
        with in_cpp():
            for line in read_all().tree(int(argument) if argument else 1000):
                print(line)


class StackCommand(gdb.Command):  # type: ignore[misc]
    """Shows what a computation waits for, and the chain of what waits for it: flow stack FRAME"""

    def __init__(self) -> None:
        super().__init__("flow stack", gdb.COMMAND_STACK)

    def invoke(self, argument: str, from_tty: bool) -> None:
        if not argument:
            raise gdb.GdbError("write flow stack FRAME, with an address that flow pending shows, or a Future")
        with in_cpp():
            value = gdb.parse_and_eval(argument)
            frame = printers.frame_of(value)
            if not frame and value.type.strip_typedefs().code not in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_PTR):
                raise gdb.GdbError(f"no computation stands behind {argument}")
            frame = frame or int(value)
            try:
                for line in read_all().stack(frame):
                    print(line)
            except Unreadable as error:
                raise gdb.GdbError(str(error)) from None


FlowCommand()
PendingCommand()
StackCommand()
printers.register(GdbTarget())
