"""What programs find beside the language when the reference interpreter runs them: types, members, conversions.

A program's own functions are registered with `Library.define`; they get the results of their arguments (a Variable for
an lvalue) and give a new value.
"""

from __future__ import annotations

from collections.abc import Callable

from model.expressions import Scope, own, read, temporary
from model.values import (
    ACTOR_CANCELLED,
    BROKEN_PROMISE,
    END_OF_STREAM,
    NEVER,
    UNKNOWN_ERROR,
    VOID,
    Cell,
    Delay,
    Error,
    Future,
    Loop,
    ModelFault,
    NeverValue,
    Owned,
    Promise,
    Raised,
    Status,
    StreamCell,
    Value,
    Variable,
    destroy,
)

Function = Callable[[Scope, list[Value]], Value]

ERRORS = {
    "end_of_stream": END_OF_STREAM,
    "operation_failed": Error(1000),
    "timed_out": Error(1004),
    "broken_promise": BROKEN_PROMISE,
    "actor_cancelled": ACTOR_CANCELLED,
    "operation_cancelled": ACTOR_CANCELLED,  # the name that it says
    "io_error": Error(1510),
    "unknown_error": UNKNOWN_ERROR,
    "not_implemented": Error(4200),
}
ERROR_NAMES = {error.code: name for name, error in ERRORS.items()}


def error_name(error: Error) -> str:
    return ERROR_NAMES.get(error.code, "application_error")


def bare(type_: str) -> str:
    """A type's spelling without what makes no difference here."""
    words = type_.replace("std::", "").replace("flow::", "").replace("&", " ").split()
    return " ".join(word for word in words if word != "const").replace(" ", "")


class Vector(Owned):
    """`std::vector<T>`: its elements are places of their own."""

    __slots__ = ("element", "items")

    def __init__(self, element: str, values: list[Value]) -> None:
        self.element = element
        self.items = [Variable(element, value) for value in values]

    def copy(self) -> Vector:
        return Vector(self.element, [own_copy(item) for item in self.items])

    def destroy(self) -> None:
        items, self.items = self.items, []
        for item in items:
            destroy(item.value)


class Record(Owned):
    """A struct: its members are places of their own."""

    __slots__ = ("fields",)

    def __init__(self, fields: dict[str, Variable]) -> None:
        self.fields = fields

    def copy(self) -> Record:
        return Record({name: Variable(field.type, own_copy(field)) for name, field in self.fields.items()})

    def destroy(self) -> None:
        for field in reversed(self.fields.values()):
            destroy(field.value)


class Box(Owned):
    """`std::unique_ptr<T>`."""

    __slots__ = ("target",)
    copies = False

    def __init__(self, target: Variable | None) -> None:
        self.target = target

    def destroy(self) -> None:
        target, self.target = self.target, None
        if target is not None:
            destroy(target.value)


def own_copy(item: Variable) -> Value:
    return item.value.copy() if isinstance(item.value, Owned) else item.value


class Library:
    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self._functions: dict[str, Function] = {
            "Error": lambda scope, arguments: Error(read(arguments[0]) if arguments else 0),
            "Void": lambda scope, arguments: VOID,
            "Never": lambda scope, arguments: NEVER,
            "delay": lambda scope, arguments: Delay(loop.now + max(read(arguments[0]), 0)),
            "now": lambda scope, arguments: loop.now,
            "int": lambda scope, arguments: int(read(arguments[0])) if arguments else 0,
            "move": lambda scope, arguments: self._moved(scope, arguments[0]),
        }
        for name, error in ERRORS.items():
            self._functions[name] = lambda scope, arguments, error=error: error  # type: ignore[misc]

    def define(self, name: str, function: Function) -> None:
        self._functions[name] = function

    def constructs(self, type_: str) -> bool:
        """Whether `T x(e)` is a call of T, and not a copy or a conversion."""
        return type_ in self._functions or type_ == "vector"

    # -----------------------------------------------------------------------------------------------------------
    # Values of types

    def default(self, type_: str) -> Value:
        """What a variable holds that is declared without an initialiser."""
        name, _, argument = bare(type_).partition("<")
        match name:
            case "int" | "unsigned" | "long" | "size_t" | "unsignedlong":
                return 0
            case "double" | "float":
                return 0.0
            case "bool":
                return False
            case "string":
                return ""
            case "Future" | "FutureStream":
                return Future()
            case "Promise":
                return Promise(Cell(0, 1))
            case "PromiseStream":
                return Promise(StreamCell(0, 1))
            case "vector":
                return Vector(argument[:-1], [])
            case "unique_ptr":
                return Box(None)
            case _:
                if name.endswith("*"):
                    return None
                return self._functions[name](_NO_SCOPE, []) if name in self._functions else None

    def convert(self, scope: Scope, type_: str, result: Value) -> Value:
        name, _, _ = bare(type_).partition("<")
        value = read(result)
        if name == "Future" and not isinstance(value, Future):
            return temporary(scope, self.future(scope, result))
        if name in ("int", "long", "unsigned", "size_t") and isinstance(value, bool | float):
            return int(value)
        if name == "double" and isinstance(value, int):
            return float(value)
        if name == "bool" and isinstance(value, int):
            return bool(value)
        return result

    def future(self, scope: Scope, result: Value) -> Future:
        """A new future of what converts to one."""
        value = read(result)
        if isinstance(value, NeverValue):
            return Future.never()
        if isinstance(value, Error):
            return Future.failed(value)
        if isinstance(value, Delay):
            return self.loop.future(value)
        if isinstance(value, Future):
            taken: Future = own(scope, result)
            return taken
        return Future.ready(own(scope, result))

    def call(self, scope: Scope, name: str, template: str, arguments: list[Value]) -> Value:
        if name in ("Future", "FutureStream"):
            return self.future(scope, arguments[0]) if arguments else Future()
        if name in ("Promise", "PromiseStream", "string"):
            return own(scope, arguments[0]) if arguments else self.default(name)
        if name == "vector":
            return Vector(template, [own(scope, argument) for argument in arguments])
        if name in ("make_unique", "unique_ptr"):
            return Box(Variable(template, own(scope, arguments[0]))) if arguments else Box(None)
        function = self._functions.get(name)
        if function is None:
            raise ModelFault(f"nothing is called `{name}` here")
        return function(scope, arguments)

    @staticmethod
    def _moved(scope: Scope, result: Value) -> Value:
        """`std::move(x)`: x is left as a default-constructed value, which is so for all types here."""
        if not isinstance(result, Variable):
            return own(scope, result)
        value = result.value
        match value:
            case Future():
                result.value = Future()
            case Box():
                result.value = Box(None)
            case Owned():
                return value.copy()
        return value

    # -----------------------------------------------------------------------------------------------------------
    # Members

    def member(self, scope: Scope, target: Value, name: str, arguments: list[Value] | None) -> Value:
        value = read(target)
        if arguments is None:
            if isinstance(value, Record):
                return value.fields[name]
            raise ModelFault(f"a member `{name}` that the model does not know")
        match value:
            case Future():
                return _future_member(value, name)
            case Promise():
                return _promise_member(scope, value, name, arguments)
            case Error():
                return {"code": value.code, "name": error_name(value), "isValid": value.code != 0}[name]
            case Vector():
                return _vector_member(scope, value, name, arguments)
            case Box() if name == "operator*" and value.target is not None:
                return value.target
            case Box() if name == "operator bool":
                return value.target is not None
            case str() if name in ("size", "c_str", "empty"):
                return {"size": len(value), "c_str": value, "empty": not value}[name]
            case Variable() if name == "operator*":
                return value
            case _ if hasattr(value, "member"):
                return value.member(name, arguments)
        raise ModelFault(f"a member `{name}` that the model does not know")


def _future_member(future: Future, name: str) -> Value:
    cell = future.cell
    if name == "isValid":
        return cell is not None
    if cell is None:
        raise ModelFault(f"{name}() of an invalid future")
    match name:
        case "isReady":
            return cell.is_ready
        case "isError":
            return cell.status is Status.ERROR
        case "cancel":
            future.cancel()
        case "get":
            if cell.status is Status.ERROR:
                raise Raised(cell.error)
            return Variable("", cell.value)  # refers to the value: the future stays its owner
        case "getError":
            return cell.error
        case _:
            raise ModelFault(f"a member `{name}` that the model does not know")
    return None


def _promise_member(scope: Scope, promise: Promise, name: str, arguments: list[Value]) -> Value:
    match name:
        case "getFuture":
            return promise.future()
        case "send":
            promise.send(own(scope, arguments[0]))
        case "sendError":
            promise.fail(read(arguments[0]))
        case "isSet":
            return promise.checked().is_ready
        case "canBeSet":
            return promise.checked().status.name == "UNSET"
        case _:
            raise ModelFault(f"a member `{name}` that the model does not know")
    return None


def _vector_member(scope: Scope, vector: Vector, name: str, arguments: list[Value]) -> Value:
    match name:
        case "size":
            return len(vector.items)
        case "empty":
            return not vector.items
        case "operator[]":
            return vector.items[read(arguments[0])]
        case "back":
            return vector.items[-1]
        case "push_back":
            vector.items.append(Variable(vector.element, own(scope, scope.convert(vector.element, arguments[0]))))
        case "clear":
            vector.destroy()
        case _:
            raise ModelFault(f"a member `{name}` that the model does not know")
    return None


class _NoScope:
    temporaries: list[Owned] = []  # noqa: RUF012  never written to

    def find(self, name: str) -> Variable | None:
        raise ModelFault(f"a default value that needs `{name}`")

    def call(self, name: str, template: str, arguments: list[Value]) -> Value:
        raise ModelFault(f"a default value that needs `{name}`")

    def member(self, target: Value, name: str, arguments: list[Value] | None) -> Value:
        raise ModelFault(f"a default value that needs `{name}`")

    def convert(self, type_: str, result: Value) -> Value:
        raise ModelFault(f"a default value that needs `{type_}`")


_NO_SCOPE = _NoScope()
