"""What an actor must print, by a model of the language.

Plain locals die at the next wait, states at the end, a choose is lazy, a cancelled actor's waits raise. The model knows
nothing of labels and jumps, so that what the back ends make of them is checked against the rules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


class Raised(Exception):
    def __init__(self, code: int) -> None:
        self.code = code


class Break(Exception):
    pass


class Continue(Exception):
    pass


class Returned(Exception):
    def __init__(self, value: int) -> None:
        self.value = value


CANCELLED = 1101


@dataclass
class Operand:
    at: float  # when it is ready
    error: int  # 0: none
    token: str  # what dies with it; "" for what is ready, and for delays
    value: int = 0


@dataclass
class Model:
    out: list[str]
    numbers: int
    states: list[str]
    fuel: int = 120
    time: float = 0.0
    cancel_at: float = -1.0
    cancelled: bool = False
    alive: list[tuple[int, str]] = field(default_factory=list)  # plain locals, with the depth of their scopes
    depth: int = 0
    values: dict[str, bool] = field(default_factory=dict)  # states that hold a token
    errors: list[int] = field(default_factory=list)  # being handled

    def say(self, line: str) -> None:
        self.out.append(line)

    def pick(self, n: int) -> int:
        if self.fuel == 0:
            return 0
        self.fuel -= 1
        self.numbers = (self.numbers * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.numbers >> 33) % n

    # Locals

    def leave(self, depth: int) -> None:
        while self.alive and self.alive[-1][0] >= depth:
            self.say("~" + self.alive.pop()[1])

    def scoped(self, block: list[tuple]) -> None:
        self.depth += 1
        depth = self.depth
        try:
            for statement in block:
                self.run(statement)
        finally:
            self.leave(depth)
            self.depth = depth - 1

    # Waits

    def operand(self, wait: tuple) -> Operand:
        if wait[0] == "delay":
            return Operand(self.time + wait[1], 0, "")
        id_ = wait[1]
        kind = self.pick(8)
        self.say(f"operand {id_} is {kind}")
        if kind < 3:
            return Operand(-1, 0, "", id_)
        if kind == 3:
            return Operand(-1, 20000 + id_, "")
        if kind == 4:
            raise Raised(30000 + id_)
        seconds = self.pick(3)
        return Operand(self.time + seconds, 40000 + id_ if kind == 7 else 0, f"op{id_}", id_)

    def release(self, operand: Operand) -> None:
        if operand.token:
            self.say("~" + operand.token)

    def suspend_until(self, at: float, operands: list[Operand]) -> None:
        """Time passes; a cancel that comes first releases everything and raises."""
        if 0 <= self.cancel_at < at and not self.cancelled:
            self.time = self.cancel_at
            self.cancelled = True
            self.say("cancel")
            for operand in operands:
                self.release(operand)
            raise Raised(CANCELLED)
        self.time = at

    def wait(self, wait: tuple) -> None:
        operand = self.operand(wait)
        self.leave(0)
        if self.cancelled:
            self.release(operand)
            raise Raised(CANCELLED)
        if operand.at >= 0:
            self.suspend_until(operand.at, [operand])
            self.release(operand)
        self.settle(wait, operand)

    def settle(self, wait: tuple, operand: Operand) -> None:
        if operand.error:
            raise Raised(operand.error)
        if wait[0] == "wait" and wait[2] != "none":
            self.say(f"{wait[1]} gave {operand.value}")

    def choose(self, whens: list[tuple]) -> None:
        operands: list[Operand] = []
        winner = -1
        try:
            for index, (head, _) in enumerate(whens):
                operand = self.operand(head)
                if not index and self.cancelled:
                    self.release(operand)
                    operand = Operand(-1, CANCELLED, "")
                operands.append(operand)
                if operand.at < 0:
                    winner = index
                    break
        except Raised:
            for operand in operands:
                self.release(operand)
            raise
        self.leave(0)
        if winner < 0:
            at = min(operand.at for operand in operands)
            winner = [operand.at for operand in operands].index(at)
            self.suspend_until(at, operands)
            self.release(operands[winner])
        for index, operand in enumerate(operands):
            if index != winner:
                self.release(operand)
        if operands[winner].error:
            raise Raised(operands[winner].error)
        head, body = whens[winner]
        self.settle(head, operands[winner])
        self.scoped(body)

    # Statements

    def run(self, statement: tuple) -> None:
        match statement:
            case ("say", id_):
                self.say(f"at {id_}")
            case ("token", name):
                self.alive.append((self.depth, name))
            case ("int", id_):
                self.say(f"n{id_} is {self.pick(100)}")
            case ("state", name):
                if self.values.get(name):
                    self.say("~" + name)
                self.values[name] = True
            case ("throwing", id_):
                if self.pick(4) == 1:
                    self.say(f"throws {id_}")
                    raise Raised(10000 + id_)
            case ("wait", *_):
                self.wait(statement)
            case ("choose", whens):
                self.choose(whens)
            case ("break",):
                raise Break
            case ("continue",):
                raise Continue
            case ("throw", id_):
                raise Raised(50000 + id_ if id_ else self.errors[-1])
            case ("return", id_):
                raise Returned(id_)
            case _:
                self.compound(statement)

    def compound(self, statement: tuple) -> None:
        match statement:
            case ("if", n, body):
                if self.pick(n) == 1:
                    self.scoped(body)
            case ("ifelse", n, then, orelse):
                self.scoped(then if self.pick(n) == 1 else orelse)
            case ("iftoken", name, then, orelse):
                self.with_token(name, lambda: self.scoped(then if self.pick(2) == 1 else orelse))
            case ("constexpr", value, then, orelse):
                self.scoped(then if value else orelse)
            case ("block", body):
                self.scoped(body)
            case ("try", _, body, handler):
                self.attempt(body, handler)
            case ("for", _, n, body):
                for _ in range(n):
                    if not self.once(body):
                        break
            case ("while", name, body):
                self.repeat(name, body)
            case ("loop", body):
                while self.pick(3) != 0 and self.once(body):
                    pass
            case ("range", id_, body):
                for item in (1, 2, 3):
                    self.say(f"r{id_} is {item}")
                    if not self.once(body):
                        break

    def with_token(self, name: str, then: Callable[[], None]) -> None:
        self.depth += 1
        depth = self.depth
        self.alive.append((depth, name))
        try:
            then()
        finally:
            self.leave(depth)
            self.depth = depth - 1

    def repeat(self, name: str, body: list[tuple]) -> None:
        while self.pick(3) != 0:
            if not name:
                if not self.once(body):
                    break
                continue
            again = [True]

            def once(again: list[bool] = again) -> None:
                again[0] = self.once(body)

            self.with_token(name, once)
            if not again[0]:
                break

    def once(self, body: list[tuple]) -> bool:
        """One pass of a loop; false after a break."""
        try:
            self.scoped(body)
        except Break:
            return False
        except Continue:
            pass
        return True

    def attempt(self, body: list[tuple], handler: list[tuple]) -> None:
        try:
            self.scoped(body)
        except Raised as raised:
            error = raised.code
        else:
            return
        self.say(f"caught {error}")
        self.errors.append(error)
        try:
            self.scoped(handler)
        finally:
            self.errors.pop()
