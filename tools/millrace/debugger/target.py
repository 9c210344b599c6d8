"""What `pending` needs of a debugger, and where the program keeps what `pending` reads."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Protocol

CELL, WAITER, AWAITED = "flow::detail::Cell", "flow::detail::Waiter", "flow::detail::Awaited"
NODE = "flow::tasks::Node"


class Unreadable(Exception):
    """There is no memory at an address."""


class Target(Protocol):
    def read(self, address: int, size: int) -> bytes: ...
    def size_of(self, type_name: str) -> int: ...
    def offset_of(self, type_name: str, *members: str) -> int: ...
    def constant(self, name: str) -> int: ...
    def members(self, type_name: str, address: int) -> Iterator[tuple[str, str]]:
        """The names and values of the members of an object."""
        ...

    def heaps(self) -> Iterator[tuple[int, int, float]]:
        """Each thread's number, the address of its ThreadHeap, and the time of its loop's last turn."""
        ...

    def symbol(self, address: int) -> str:
        """The demangled name of the function or object at the address; empty if there is none."""
        ...

    def address_of(self, symbol: str) -> int:
        """That of a function or object by its demangled name; 0 if there is none."""
        ...

    def has_function(self, name: str) -> bool: ...


class Layout:
    """Where the program keeps what is read here."""

    def __init__(self, target: Target) -> None:
        self.cell_bytes = target.size_of(CELL)
        self.waiter_bytes = target.size_of(WAITER)
        cell = {name: target.offset_of(CELL, name) for name in ("waiters", "futures", "promises", "flags")}
        self.waiters, self.futures, self.promises, self.flags = cell.values()
        self.size_class = target.offset_of(CELL, "sizeClass")
        self.prefix_units = target.offset_of(CELL, "prefixUnits")
        waiter = {name: target.offset_of(WAITER, name) for name in ("resume", "destroy", "link", "awaited")}
        self.resume, self.destroy, self.link, self.awaited = waiter.values()
        self.is_ready, self.is_error, self.has_frame, self.uncancellable, self.never = (
            target.constant(f"{CELL}::{name}")
            for name in ("kReadyBit", "kErrorBit", "kHasFrame", "kUncancellable", "kNever")
        )
        self.timer, self.group, self.turn, self.mask, self.propagates, self.last_mark = (
            target.constant(f"{AWAITED}::{name}")
            for name in ("kTimer", "kGroup", "kTurn", "kMask", "kPropagates", "kLastMark")
        )
        self.error = target.offset_of(CELL, "error")
        self._target = target

    @cached_property
    def tasks(self) -> TaskLayout:
        """Read when there is a task: a program without tasks does not have the type of their nodes."""
        return TaskLayout(self._target)


class TaskLayout:
    """The same of the tree of tasks."""

    def __init__(self, target: Target) -> None:
        self.node = target.constant(f"{NODE}::kOffset")
        node = {name: target.offset_of(NODE, name) for name in ("sibling", "children", "flags")}
        self.sibling, self.children, self.node_flags = node.values()
        self.awaits_child, self.joining, self.ending, self.is_hook, self.parent_waits, self.joins_hook = (
            target.constant(f"{NODE}::{name}")
            for name in ("kAwaitsChild", "kJoining", "kEnding", "kIsHook", "kParentWaits", "kJoinsHook")
        )
