"""The environment of generated programs in the model: the same as `prelude.h` and `driver.cpp`, for the reference
interpreter."""

from __future__ import annotations

from dataclasses import dataclass, field

from model import Interpreter
from model.expressions import Scope, read
from model.library import Library, Record, Vector
from model.values import (
    END_OF_STREAM,
    UNKNOWN_ERROR,
    VOID,
    Cell,
    Computation,
    Delay,
    Error,
    Future,
    Loop,
    Owned,
    Promise,
    Raised,
    Status,
    Steps,
    StreamCell,
    Value,
    Variable,
    copy_of,
)

SLOTS = 3
FUEL = 150
STEPS = 25


class Numbers:
    def __init__(self, seed: int) -> None:
        self._state = seed % 2**64

    def below(self, n: int) -> int:
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self._state >> 33) % n


class Token(Owned):
    """Copies share the count of their owners."""

    __slots__ = ("_name", "_owners", "_world")

    def __init__(self, world: World, name: str, owners: list[int] | None = None) -> None:
        self._world = world
        self._name = name
        self._owners = [0] if owners is None else owners
        self._owners[0] += 1
        if owners is None:
            world.tokens += 1

    def copy(self) -> Token:
        return Token(self._world, self._name, self._owners)

    def destroy(self) -> None:
        self._owners[0] -= 1
        if not self._owners[0]:
            self._world.say("~" + self._name)
            self._world.tokens -= 1


@dataclass
class Source:
    """An input that is not ready yet."""

    kind: str
    id: int
    promise: Promise
    sent: int = 0


class _Native(Computation):
    """A coroutine of the driver."""

    def __init__(self, world: World) -> None:
        super().__init__(is_cancellable=True)
        self._world = world

    def later(self, input_: Future, token: Token) -> Steps:
        status = Status.VALUE
        try:
            cell = yield from self.wait(input_.copy())
            self.cell.value = cell.take()
            cell.release_future()
        except Raised as raised:
            self.cell.error = raised.error
            status = Status.ERROR
        token.destroy()
        input_.destroy()
        self.finish(status)

    def watch(self, id_: int, watched: Future) -> Steps:
        try:
            cell = yield from self.wait(watched)
            self._world.say(f"watcher {id_} sees {cell.value}")
            cell.release_future()
        except Raised as raised:
            self._world.say(f"watcher {id_} sees error {raised.error.code}")
        self.cell.value = VOID
        self.finish(Status.VALUE)


class World:
    """One run of one program."""

    def __init__(self, seed: int) -> None:
        self.trace: list[str] = []
        self.tokens = 0
        self.loop = Loop()
        self.library = Library(self.loop)
        self.sources: list[Source] = []
        self._numbers = Numbers(seed)
        self._fuel = FUEL
        self._last_number = Future()
        self._slots = [Promise(Cell(0, 1)) for _ in range(SLOTS)]
        self._kept = [Future() for _ in range(SLOTS)]
        self._define()

    def say(self, line: str) -> None:
        self.trace.append(line)

    def _define(self) -> None:
        define = self.library.define
        define("Token", lambda scope, arguments: Token(self, read(arguments[0])) if arguments else None)
        define("pick", lambda scope, arguments: self.pick(read(arguments[0])))
        define("at", lambda scope, arguments: self.say(f"at {read(arguments[0])}"))
        define("see", lambda scope, arguments: self.say(f"see {read(arguments[0])}: {int(read(arguments[1]))}"))
        define("caught", lambda scope, arguments: self.say(f"caught at {read(arguments[0])}: {_code(arguments[1])}"))
        define("mayThrow", lambda scope, arguments: self._may_throw(read(arguments[0])))
        define("number", lambda scope, arguments: self._number(read(arguments[0])))
        define("signal", lambda scope, arguments: self._input("signal", read(arguments[0]), Future()))
        define("newToken", lambda scope, arguments: self._input("token", read(arguments[0]), Future()))
        define("pair", lambda scope, arguments: self._input("pair", read(arguments[0]), Future()))
        define("items", lambda scope, arguments: self._items(read(arguments[0])))
        define("stream", lambda scope, arguments: self._stream(read(arguments[0])))
        define("slot", lambda scope, arguments: self._slots[read(arguments[0])].future())
        define("fill", lambda scope, arguments: self._fill(read(arguments[0]), read(arguments[1])))
        define("failSlot", lambda scope, arguments: self._fail_slot(read(arguments[0])))
        define("breakSlot", lambda scope, arguments: self.break_slot(read(arguments[0])))
        define("keep", self._keep_argument)
        define("kept", lambda scope, arguments: self._kept_future(read(arguments[0])))
        define("drop", lambda scope, arguments: self.keep(read(arguments[0]), Future()))

    # -----------------------------------------------------------------------------------------------------------
    # Functions that programs call

    def pick(self, n: int) -> int:
        if not self._fuel:
            return 0
        self._fuel -= 1
        return self._numbers.below(n)

    def _may_throw(self, id_: int) -> None:
        how = self.pick(6)
        if how == 1:
            self.say(f"throws {id_}")
            raise Raised(Error(10000 + id_))
        if how == 2:
            self.say(f"throws another type {id_}")
            raise Raised(UNKNOWN_ERROR, ("int", id_))

    def _items(self, id_: int) -> Vector:
        count = self.pick(4)
        self.say(f"items {id_} are {count}")
        return Vector("int", list(range(1, count + 1)))

    def _made(self, kind: str, id_: int) -> Value:
        """The value of an input of this kind."""
        match kind:
            case "number":
                return id_
            case "token":
                return Token(self, f"value{id_}")
            case "pair":
                return Record({"first": Variable("int", id_), "second": Variable("int", 2 * id_)})
            case _:
                return VOID

    def _input(self, kind: str, id_: int, last: Future) -> Future:
        how = self.pick(8)
        self.say(f"input {id_} is {how}")
        match how:
            case 2:
                return Future.failed(Error(20000 + id_))
            case 3:
                raise Raised(Error(30000 + id_))
            case 4 | 5:
                self.sources.append(Source(kind, id_, Promise(Cell(0, 1))))
                future = self.sources[-1].promise.future()
                return future if how == 4 else self._later(future, id_)
            case 6:
                return Future.never()
            case 7 if last.cell is not None:
                return last.copy()
        return Future.ready(self._made(kind, id_))

    def _later(self, input_: Future, id_: int) -> Future:
        native = _Native(self)
        native.start(native.later(input_, Token(self, f"input{id_}")))
        return Future(native.cell)

    def _number(self, id_: int) -> Future:
        future = self._input("number", id_, self._last_number)
        last, self._last_number = self._last_number, future.copy()
        last.destroy()
        return future

    def _stream(self, id_: int) -> Future:
        queued = self.pick(4)
        self.say(f"stream {id_} has {queued}")
        promise = Promise(StreamCell(0, 1))
        result = promise.future()
        for element in range(1, queued + 1):
            promise.send(element)
        if queued == 3:
            promise.fail(END_OF_STREAM)
            promise.destroy()
        else:
            self.sources.append(Source("stream", id_, promise, queued))
        return result

    def _fresh_slot(self, k: int) -> Promise:
        promise, self._slots[k] = self._slots[k], Promise(Cell(0, 1))
        return promise

    def _fill(self, k: int, value: int) -> None:
        promise = self._fresh_slot(k)
        promise.send(value)
        promise.destroy()

    def _fail_slot(self, k: int) -> None:
        promise = self._fresh_slot(k)
        promise.fail(Error(50000 + k))
        promise.destroy()

    def break_slot(self, k: int) -> None:
        self._fresh_slot(k).destroy()

    def _keep_argument(self, scope: Scope, arguments: list[Value]) -> None:
        self.keep(read(arguments[0]), copy_of(read(arguments[1])))

    def keep(self, k: int, future: Future) -> None:
        before, self._kept[k] = self._kept[k], future
        before.destroy()

    def _kept_future(self, k: int) -> Future:
        return self._kept[k].copy() if self._kept[k].cell is not None else Future.never()

    def forget_number(self) -> None:
        last, self._last_number = self._last_number, Future()
        last.destroy()

    # -----------------------------------------------------------------------------------------------------------
    # The driver

    def settle(self, place: int, how: int) -> None:
        source = self.sources.pop(place)
        self.say(f"settle {source.id} by {how}")
        if how >= 7:
            source.promise.destroy()
        elif how >= 5:
            ends = source.kind == "stream" and how == 5
            source.promise.fail(END_OF_STREAM if ends else Error(40000 + source.id))
            source.promise.destroy()
        elif source.kind == "stream":
            source.sent += 1
            stream = source.promise.copy()
            self.sources.append(source)
            stream.send(source.sent)
            stream.destroy()
        else:
            source.promise.send(self._made(source.kind, source.id))
            source.promise.destroy()

    def is_going_on(self) -> bool:
        """Whether an actor may wait for something that the driver can end."""
        has_futures = any(slot.checked().futures for slot in self._slots)
        return bool(self.sources) or has_futures or any(each.cell is not None for each in self._kept)

    def watch(self, id_: int, future: Future) -> Future:
        native = _Native(self)
        native.start(native.watch(id_, future))
        return Future(native.cell)


def _code(error: Value) -> int:
    value: Error = read(error)
    return value.code


@dataclass
class Run:
    """The driver's part of a run."""

    world: World
    numbers: Numbers
    root: Future = field(default_factory=Future)
    watchers: list[Future] = field(default_factory=list)

    def drop(self) -> None:
        while self.watchers:
            self.watchers.pop().destroy()
        root, self.root = self.root, Future()
        root.destroy()

    def start(self, interpreter: Interpreter) -> None:
        mode = self.numbers.below(4)
        token = Token(self.world, "root")
        root = interpreter.call("root", [token, self.numbers.below(4)], DriverScope(self.world))
        assert root is not None and root.cell is not None
        token.destroy()
        self.root = root
        self.world.say("started and ended" if root.cell.is_ready else "started")
        if mode == 3:
            self.world.keep(0, root.copy())
            self.root = Future()
            root.destroy()
        else:
            self.watchers = [self.world.watch(id_, root.copy()) for id_ in range(mode)]

    def step(self) -> None:
        world, action = self.world, self.numbers.below(10)
        if action < 6 and world.sources:
            place = self.numbers.below(len(world.sources))
            world.settle(place, self.numbers.below(8))
        elif action == 6 and self.root.cell is not None:
            world.say("cancel")
            self.root.cancel()
        elif action == 7:
            world.say("drop")
            self.drop()
        else:
            world.say("time passes")
            alarm = world.loop.future(Delay(world.loop.now + 1))
            world.loop.run(alarm.cell)
            alarm.destroy()

    def end(self) -> None:
        world = self.world
        world.say("end")
        self.drop()
        world.forget_number()
        while True:
            world.loop.run()
            while world.sources:
                world.settle(len(world.sources) - 1, 7)
            for k in range(SLOTS):
                world.break_slot(k)
            for k in range(SLOTS):
                world.keep(k, Future())
            world.forget_number()
            if not world.is_going_on():
                break
        world.loop.run()
        world.say(f"tokens left: {world.tokens}")


class DriverScope:
    """Calls a program from outside of any actor."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.temporaries: list[Owned] = []

    def find(self, name: str) -> None:
        return None

    def call(self, name: str, template: str, arguments: list[Value]) -> Value:
        return self._world.library.call(self, name, template, arguments)

    def member(self, target: Value, name: str, arguments: list[Value] | None) -> Value:
        return self._world.library.member(self, target, name, arguments)

    def convert(self, type_: str, result: Value) -> Value:
        return result


def expected(interpreter: Interpreter, world: World, start: int) -> list[str]:
    """The expected trace of one run of a program's root."""
    interpreter.report_dropped = lambda error: world.say(f"dropped error {error.code}")
    run = Run(world, Numbers(~start))
    run.start(interpreter)
    for _ in range(STEPS):
        is_ready = run.root.cell is not None and run.root.cell.is_ready
        if not world.sources and is_ready:
            break
        run.step()
    run.end()
    return world.trace
