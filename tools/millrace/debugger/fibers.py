"""For gdb: shows the stack of each fiber that waits, of a process or of a core file.

    $ gdb -p PID -ex fibers -batch      # `millrace debugger gdb` prints the line for ~/.gdbinit
    $ gdb PROGRAM CORE
    (gdb) fibers
    fiber 1 "sleeper" of thread 1, stack of 262144 bytes:
    #0  switchTo at flow/fiber/context_switch.h:41
    #1  suspend at flow/fiber/fiber.h:137
    #2  suspend at flow/fiber/fiber.h:58
    #3  wait<flow::Delay> at flow/fiber/fiber.h:222
    #4  sleep at flow/fiber/fiber.h:239
    #5  serveSession at session.cpp:42
    ...

Nothing in the process is changed. The library describes fibers in every build; names of functions, files and lines need
-g or -g1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import gdb
from gdb.unwinder import Unwinder, register_unwinder

_NEWEST = "flow::fiber::detail::newestFiber"
_FIRST = "flow::fiber::detail::Entry::enter"  # the lowest function on each stack
# Where jump_fcontext() of Boost.Context 1.81 leaves the registers of a stack that waits (x86-64, System V).
_SAVED = {"r12": 0x10, "r13": 0x18, "r14": 0x20, "r15": 0x28, "rbx": 0x30, "rbp": 0x38, "rip": 0x40}
_SAVED_BYTES = 0x48


class FrameId:
    def __init__(self, sp: gdb.Value, pc: gdb.Value) -> None:
        self.sp = sp
        self.pc = pc


class FiberUnwinder(Unwinder):  # type: ignore[misc]
    """Makes gdb show the stack of a fiber below the innermost frame of the thread."""

    def __init__(self) -> None:
        super().__init__("flow-fibers")
        self.registers: dict[str, int] = {}  # of the fiber; none: this does nothing

    def __call__(self, pending: gdb.PendingFrame) -> gdb.UnwindInfo | None:
        if not self.registers:
            return None
        registers, self.registers = self.registers, {}  # for the innermost frame alone
        info = pending.create_unwind_info(FrameId(pending.read_register("rsp"), pending.read_register("rip")))
        for name, value in registers.items():
            info.add_saved_register(name, gdb.Value(value).cast(pending.read_register(name).type))
        return info


_unwinder = FiberUnwinder()
register_unwinder(None, _unwinder, replace=True)


@dataclass(frozen=True)
class Fiber:
    name: str
    thread: int
    bytes: int
    context: int  # 0: it runs

    def registers(self) -> dict[str, int]:
        memory = gdb.selected_inferior().read_memory(self.context, _SAVED_BYTES)
        saved = {name: int.from_bytes(memory[at : at + 8], "little") for name, at in _SAVED.items()}
        return {**saved, "rsp": self.context + _SAVED_BYTES}


def fibers_of_thread(number: int) -> Iterator[Fiber]:
    """Of the thread that is selected, the oldest first."""
    found = []
    fiber = gdb.parse_and_eval(_NEWEST)
    while int(fiber) != 0:
        name = fiber["name_"]
        text = name.string(errors="replace") if int(name) else ""
        found.append(Fiber(text, number, int(fiber["stack_"]["bytes"]), int(fiber["context_"])))
        fiber = fiber["older_"]
    return reversed(found)


def frames(fiber: Fiber) -> Iterator[gdb.Frame]:
    gdb.invalidate_cached_frames()
    _unwinder.registers = fiber.registers()
    try:
        frame = gdb.newest_frame()
        while frame.type() == gdb.INLINE_FRAME:
            frame = frame.older()
        frame = frame.older()
        while frame is not None and frame.is_valid():
            yield frame
            if (frame.name() or "").startswith(_FIRST):
                return
            frame = frame.older()
    finally:
        _unwinder.registers = {}
        gdb.invalidate_cached_frames()


def line(number: int, frame: gdb.Frame) -> str:
    place = frame.find_sal()
    where = f" at {place.symtab.filename}:{place.line}" if place.symtab else f" at {frame.pc():#x}"
    return f"#{number:<3}{frame.name() or '??'}{where}"


def show(number: int, fiber: Fiber) -> None:
    head = f'fiber {number} "{fiber.name}" of thread {fiber.thread}, stack of {fiber.bytes} bytes'
    if not fiber.context:
        print(f"{head}: runs, or has resumed another one; see the thread's own stack\n")
        return
    print(f"{head}:")
    for depth, frame in enumerate(frames(fiber)):
        print(line(depth, frame))
    print()


class FibersCommand(gdb.Command):  # type: ignore[misc]
    """Shows the stack of each fiber that waits, or of one: fibers [NUMBER]"""

    def __init__(self) -> None:
        super().__init__("fibers", gdb.COMMAND_STACK)

    def invoke(self, argument: str, from_tty: bool) -> None:
        if argument and not argument.isdecimal():
            raise gdb.GdbError(f"'{argument}' is no number of a fiber: write fibers [NUMBER]")
        wanted = int(argument) if argument else None
        before = gdb.selected_thread()
        if before is None:
            raise gdb.GdbError("there is no process and no core file")
        count = shown = 0
        language = gdb.parameter("language")
        gdb.execute("set language c++")  # the thread may stand in a function of C, where there are no such names
        try:
            for thread in sorted(gdb.selected_inferior().threads(), key=lambda one: one.num):
                thread.switch()
                for fiber in fibers_of_thread(thread.num):
                    count += 1
                    if wanted in (None, count):
                        show(count, fiber)
                        shown += 1
        finally:
            before.switch()
            gdb.execute(f"set language {language}")
        if wanted is not None and not shown:
            raise gdb.GdbError(f"there is no fiber {wanted}: there are {count}")
        if count == 0:
            print("there are no fibers")


FibersCommand()
