"""What the model's actors compute with: futures, promises, streams and values with owners.

An independent restatement of the runtime's rules, for the reference interpreter. Python's own collector plays no part:
the owner of a value calls `destroy`, so that the effects of destruction happen when the language says.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

Value = Any  # int, float, str, None or one of the classes below


@dataclass(frozen=True, slots=True)
class Error:
    code: int = 0


END_OF_STREAM = Error(1)
BROKEN_PROMISE = Error(1100)
ACTOR_CANCELLED = Error(1101)
UNKNOWN_ERROR = Error(4000)


class Raised(Exception):
    """An error on its way to a handler. A C++ exception of another type is `foreign`, type and value."""

    def __init__(self, error: Error, foreign: tuple[str, Value] | None = None) -> None:
        super().__init__(error.code)
        self.error = error
        self.foreign = foreign


class ModelFault(Exception):
    """The program does what the model does not support, or what no program may do."""


class Owned:
    """A value with a destructor. A copy is a second owner of what it stands for."""

    __slots__ = ()
    copies = True

    def copy(self) -> Value:
        raise ModelFault(f"a {type(self).__name__} cannot be copied")

    def destroy(self) -> None:
        raise NotImplementedError


def copy_of(value: Value) -> Value:
    return value.copy() if isinstance(value, Owned) else value


def destroy(value: Value) -> None:
    if isinstance(value, Owned):
        value.destroy()


class Variable:
    """A place that owns a value."""

    __slots__ = ("is_const", "type", "value")

    def __init__(self, type_: str, value: Value) -> None:
        self.type = type_
        self.value = value
        self.is_const = False

    def assign(self, value: Value) -> None:
        """Moves the value in; the old one is destroyed after the new one is in place."""
        old, self.value = self.value, value
        destroy(old)


class VoidValue:
    """The only value of `Void`."""


VOID = VoidValue()


class NeverValue:
    """What `Never()` gives."""


NEVER = NeverValue()


# ---------------------------------------------------------------------------------------------------------------
# Cells


class Status(Enum):
    UNSET = 0
    VALUE = 1
    ERROR = 2
    NEVER = 3


class Waiter(Protocol):
    def fire(self) -> None:
        """What it waits for is ready; it stands in no list of waiters any more."""


class Cell:
    """What the handles of one future share."""

    __slots__ = ("computation", "error", "futures", "promises", "status", "value", "waiters")

    def __init__(self, futures: int, promises: int) -> None:
        self.status = Status.UNSET
        self.value: Value = None
        self.error = Error()
        self.waiters: list[Waiter] = []  # the last to come is the first to run
        self.futures = futures
        self.promises = promises
        self.computation: Computation | None = None  # that will set it

    @property
    def is_ready(self) -> bool:
        return self.status in (Status.VALUE, Status.ERROR)

    def take(self) -> Value:
        """The value for a new owner: a copy, or what cannot be copied itself."""
        if isinstance(self.value, Owned) and not self.value.copies:
            value, self.value = self.value, None
            return value
        return copy_of(self.value)

    def publish(self, status: Status) -> None:
        self.status = status
        while self.waiters:
            self.waiters.pop().fire()

    def release_future(self) -> None:
        self.futures -= 1
        if self.futures:
            return
        if not self.promises:
            self._free()
        elif self.computation is not None:
            self.computation.cancel()

    def release_promise(self) -> None:
        self.promises -= 1
        if not self.promises and not self.futures:
            self._free()

    def _free(self) -> None:
        value, self.value = self.value, None
        destroy(value)


class StreamCell(Cell):
    __slots__ = ("ended", "queue")

    def __init__(self, futures: int, promises: int) -> None:
        super().__init__(futures, promises)
        self.queue: deque[Value] = deque()
        self.ended = False

    def take(self) -> Value:
        value = self.queue.popleft()
        if not self.queue:
            self.status = Status.ERROR if self.ended else Status.UNSET
        return value

    def send(self, value: Value) -> None:
        if self.ended:
            destroy(value)
            return
        self.queue.append(value)
        self.status = Status.VALUE
        if self.waiters:
            self.waiters.pop().fire()

    def end(self, error: Error) -> None:
        if self.ended:
            return
        self.ended = True
        self.error = error
        if self.queue:
            return
        self.status = Status.ERROR
        if self.waiters:
            self.waiters.pop().fire()

    def _free(self) -> None:
        while self.queue:
            destroy(self.queue.popleft())


# ---------------------------------------------------------------------------------------------------------------
# Handles


class Future(Owned):
    """`Future<T>` and, on a StreamCell, `FutureStream<T>`. Owns one future reference, unless invalid."""

    __slots__ = ("cell",)

    def __init__(self, cell: Cell | None = None) -> None:
        self.cell = cell

    @staticmethod
    def ready(value: Value) -> Future:
        cell = Cell(1, 0)
        cell.value = value
        cell.status = Status.VALUE
        return Future(cell)

    @staticmethod
    def failed(error: Error) -> Future:
        cell = Cell(1, 0)
        cell.error = error
        cell.status = Status.ERROR
        return Future(cell)

    @staticmethod
    def never() -> Future:
        cell = Cell(1, 0)
        cell.status = Status.NEVER
        return Future(cell)

    def copy(self) -> Future:
        if self.cell is not None:
            self.cell.futures += 1
        return Future(self.cell)

    def destroy(self) -> None:
        cell, self.cell = self.cell, None
        if cell is not None:
            cell.release_future()

    def release(self) -> Cell:
        """The cell, with the reference that this handle held."""
        cell, self.cell = self.cell, None
        if cell is None:
            raise ModelFault("a wait for an invalid future")
        return cell

    def cancel(self) -> None:
        if self.cell is not None and self.cell.computation is not None:
            self.cell.computation.cancel()


class Promise(Owned):
    """`Promise<T>` and, on a StreamCell, `PromiseStream<T>`."""

    __slots__ = ("cell",)

    def __init__(self, cell: Cell) -> None:
        self.cell: Cell | None = cell

    def checked(self) -> Cell:
        if self.cell is None:
            raise ModelFault("a promise that was moved from")
        return self.cell

    def future(self) -> Future:
        cell = self.checked()
        cell.futures += 1
        return Future(cell)

    def send(self, value: Value) -> None:
        cell = self.checked()
        if isinstance(cell, StreamCell):
            cell.send(value)
            return
        cell.value = value
        self._publish(cell, Status.VALUE)

    def fail(self, error: Error) -> None:
        cell = self.checked()
        if isinstance(cell, StreamCell):
            cell.end(error)
            return
        cell.error = error
        self._publish(cell, Status.ERROR)

    @staticmethod
    def _publish(cell: Cell, status: Status) -> None:
        if cell.status is not Status.UNSET:
            raise ModelFault("a promise is set twice")
        cell.promises += 1  # a waiter may drop this very promise
        cell.publish(status)
        cell.release_promise()

    def copy(self) -> Promise:
        self.checked().promises += 1
        return Promise(self.checked())

    def destroy(self) -> None:
        cell, self.cell = self.cell, None
        if cell is None:
            return
        if cell.promises == 1 and cell.futures:
            if isinstance(cell, StreamCell):
                cell.end(BROKEN_PROMISE)
            elif cell.status is Status.UNSET:
                cell.error = BROKEN_PROMISE
                cell.publish(Status.ERROR)
        cell.release_promise()


# ---------------------------------------------------------------------------------------------------------------
# Computations


class Operand:
    """One thing that a computation waits for, and its place among the waiters there."""

    __slots__ = ("cell", "index", "owner")

    def __init__(self, owner: Computation, index: int, cell: Cell) -> None:
        self.owner = owner
        self.index = index
        self.cell: Cell | None = cell  # until released or taken

    def fire(self) -> None:
        self.owner.resume(self.index)

    def unlink(self) -> None:
        if self.cell is not None and self in self.cell.waiters:
            self.cell.waiters.remove(self)

    def release(self) -> None:
        cell, self.cell = self.cell, None
        if cell is not None:
            cell.release_future()


Steps = Generator["list[Operand]", "int | None", None]


class Computation:
    """Whatever sets a cell later and can be cancelled: an actor, or a coroutine of the test harness.

    `body` is a generator that yields the operands it waits for and is sent the index of the one that is ready, or
    None when it was cancelled. It ends by `finish`.
    """

    def __init__(self, is_cancellable: bool, futures: int = 1) -> None:
        self.cell = Cell(futures, 1)
        self.cell.computation = self
        self.is_cancellable = is_cancellable
        self.is_cancelled = False
        self._body: Steps | None = None
        self._parked: list[Operand] = []

    def start(self, body: Steps) -> None:
        self._body = body
        self._step(None)

    def resume(self, winner: int | None) -> None:
        operands, self._parked = self._parked, []  # from here on it runs: a cancel only marks it
        for operand in operands:
            if operand.index != winner:
                operand.unlink()
        self._step(winner)

    def _step(self, message: int | None) -> None:
        assert self._body is not None
        try:
            operands = self._body.send(message)
        except StopIteration:
            return
        self._parked = operands
        for operand in operands:
            assert operand.cell is not None
            operand.cell.waiters.append(operand)

    def cancel(self) -> None:
        if self.is_cancelled or not self.is_cancellable or self.cell.computation is None:
            return
        self.is_cancelled = True
        if not self._parked:
            return
        operands, self._parked = self._parked, []
        for operand in operands:
            operand.unlink()
        for operand in operands:
            operand.release()
        self._step(None)

    def wait(self, future: Future) -> Generator[list[Operand], int | None, Cell]:
        """Waits for one future, and takes its reference. Returns the ready cell with that reference, or raises."""
        operand = Operand(self, 0, future.release())
        yield from self.first_of([operand])
        assert operand.cell is not None
        return operand.cell

    def first_of(self, operands: list[Operand]) -> Generator[list[Operand], int | None, int]:
        """The index of the first that is ready, with all others released; raises its error or the cancellation."""
        winner: int | None = None
        if not self.is_cancelled:
            ready = (operand.index for operand in operands if operand.cell and operand.cell.is_ready)
            winner = next(ready, None)
            if winner is None:
                winner = yield operands
        return self.settle(operands, winner)

    @staticmethod
    def settle(operands: list[Operand], winner: int | None) -> int:
        """Releases the losers, in order; raises if there is no winner or it failed."""
        for operand in operands:
            if operand.index != winner:
                operand.release()
        if winner is None:
            raise Raised(ACTOR_CANCELLED)
        cell = operands[winner].cell
        assert cell is not None
        if cell.status is Status.ERROR:
            error = cell.error
            operands[winner].release()
            raise Raised(error)
        return winner

    def finish(self, status: Status) -> None:
        """The end: everything that the computation owned has been destroyed."""
        self.cell.computation = None
        if status is Status.NEVER:
            self.cell.status = status
        else:
            self.cell.publish(status)
        self.cell.release_promise()


# ---------------------------------------------------------------------------------------------------------------
# Time


@dataclass(frozen=True, slots=True)
class Delay:
    """`delay(seconds)`: nothing happens until it is waited for or becomes a future."""

    deadline: float


class _Alarm(Computation):
    """The computation behind a delay with a waiter."""

    def __init__(self) -> None:
        super().__init__(is_cancellable=True)

    def fire(self) -> None:
        if not self.is_cancelled:
            self.cell.value = VOID
            self.finish(Status.VALUE)

    def cancel(self) -> None:
        if self.is_cancelled or self.cell.computation is None:
            return
        self.is_cancelled = True
        self.cell.error = ACTOR_CANCELLED
        self.finish(Status.ERROR)


class Loop:
    """Virtual time: it moves only when nothing is ready."""

    def __init__(self) -> None:
        self.now = 0.0
        self._ready: deque[Callable[[], None]] = deque()
        self._timers: list[tuple[float, int, _Alarm]] = []
        self._set = 0

    def future(self, delay: Delay) -> Future:
        alarm = _Alarm()
        if delay.deadline <= self.now:
            self._ready.append(alarm.fire)
        else:
            self._set += 1
            heapq.heappush(self._timers, (delay.deadline, self._set, alarm))
        return Future(alarm.cell)

    def run(self, until: Cell | None = None) -> None:
        """Until the cell is ready, or nothing is left to do."""
        while not (until and until.is_ready):
            while self._timers and (self._timers[0][0] <= self.now or self._timers[0][2].is_cancelled):
                self._ready.append(heapq.heappop(self._timers)[2].fire)
            if self._ready:
                self._ready.popleft()()
            elif self._timers:
                self.now = self._timers[0][0]
            else:
                return
