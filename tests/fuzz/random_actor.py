"""Random bodies of actors: all that the language has, in shapes that nobody would write.

A statement is a nested tuple that begins with what it is; a block is a list of statements.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field


@dataclass
class Generator:
    random: random.Random
    budget: int
    next_id: int = 0
    loops: int = 0  # around the place where we are
    states: list[str] = field(default_factory=list)

    def id(self) -> int:
        self.next_id += 1
        return self.next_id

    def state(self) -> str:
        self.states.append(f"s{self.id()}")
        return self.states[-1]

    def block(self, depth: int, rethrow: bool = False) -> list[tuple]:
        """`rethrow`: `throw;` may stand here."""
        statements = []
        for _ in range(self.random.randint(1, 4)):
            statement = self.statement(depth, rethrow)
            statements.append(statement)
            rethrow = rethrow and not waits(statement)
            if leaves(statement):
                break
        return statements

    def statement(self, depth: int, rethrow: bool) -> tuple:
        self.budget -= 1
        simple = ["say", "token", "token", "int", "wait", "wait", "wait", "throwing", "state"]
        nested = ["if", "if", "ifelse", "ifelse", "iftoken", "block", "try", "try", "choose", "for", "while", "loop",
                  "range", "constexpr"]  # fmt: skip
        kind = self.random.choice(simple if depth == 0 or self.budget <= 0 else simple + nested)
        if self.random.random() < 0.12:
            kind = self.random.choice(["jump", "jump", "throw", "return"])
        return getattr(self, f"make_{kind}")(depth, rethrow)

    def make_say(self, _depth: int, _rethrow: bool) -> tuple:
        return ("say", self.id())

    def make_token(self, _depth: int, _rethrow: bool) -> tuple:
        return ("token", f"t{self.id()}")

    def make_int(self, _depth: int, _rethrow: bool) -> tuple:
        return ("int", self.id())

    def make_state(self, _depth: int, _rethrow: bool) -> tuple:
        return ("state", self.state())

    def make_throwing(self, _depth: int, _rethrow: bool) -> tuple:
        return ("throwing", self.id())

    def wait(self) -> tuple:
        result = self.random.choice(["none", "none", "local", "state"])
        return ("wait", self.id(), result, self.state() if result == "state" else "")

    def make_wait(self, _depth: int, _rethrow: bool) -> tuple:
        return self.wait()

    def maybe(self, statement: tuple) -> tuple:
        """Under a condition, mostly, since what leaves a block ends it."""
        return ("if", self.random.randint(2, 4), [statement]) if self.random.random() < 0.8 else statement

    def make_jump(self, depth: int, rethrow: bool) -> tuple:
        if not self.loops:
            return self.make_say(depth, rethrow)
        return self.maybe((self.random.choice(["break", "continue"]),))

    def make_throw(self, _depth: int, rethrow: bool) -> tuple:
        return self.maybe(("throw", 0) if rethrow else ("throw", self.id()))

    def make_return(self, _depth: int, _rethrow: bool) -> tuple:
        return self.maybe(("return", self.id()))

    def make_if(self, depth: int, rethrow: bool) -> tuple:
        return ("if", self.random.randint(2, 3), self.block(depth - 1, rethrow))

    def make_ifelse(self, depth: int, rethrow: bool) -> tuple:
        return ("ifelse", self.random.randint(2, 3), self.block(depth - 1, rethrow), self.block(depth - 1, rethrow))

    def make_iftoken(self, depth: int, rethrow: bool) -> tuple:
        return ("iftoken", f"t{self.id()}", self.block(depth - 1, rethrow), self.block(depth - 1, rethrow))

    def make_constexpr(self, depth: int, rethrow: bool) -> tuple:
        return ("constexpr", self.random.random() < 0.5, self.block(depth - 1, rethrow), self.block(depth - 1, rethrow))

    def make_block(self, depth: int, rethrow: bool) -> tuple:
        return ("block", self.block(depth - 1, rethrow))

    def make_try(self, depth: int, rethrow: bool) -> tuple:
        body = self.block(depth - 1, rethrow)
        return ("try", self.id(), body, self.block(depth - 1, rethrow=True))

    def make_choose(self, depth: int, _rethrow: bool) -> tuple:
        whens = []
        for _ in range(self.random.randint(1, 3)):
            head = ("delay", self.random.randint(0, 2)) if self.random.random() < 0.2 else self.wait()
            whens.append((head, self.block(depth - 1)))
        return ("choose", whens)

    def loop(self, *parts: object, depth: int) -> tuple:
        self.loops += 1
        body = self.block(depth - 1)
        self.loops -= 1
        return (*parts, body)

    def make_for(self, depth: int, _rethrow: bool) -> tuple:
        return self.loop("for", self.state(), self.random.randint(1, 3), depth=depth)

    def make_while(self, depth: int, _rethrow: bool) -> tuple:
        return self.loop("while", self.random.choice(["", f"t{self.id()}"]), depth=depth)

    def make_loop(self, depth: int, _rethrow: bool) -> tuple:
        return self.loop("loop", depth=depth)

    def make_range(self, depth: int, _rethrow: bool) -> tuple:
        return self.loop("range", self.id(), depth=depth)


def waits(statement: object) -> bool:
    if isinstance(statement, tuple) and statement and statement[0] in ("wait", "choose"):
        return True
    return isinstance(statement, tuple | list) and any(waits(part) for part in statement)


def leaves(statement: tuple) -> bool:
    """Whether control cannot come to its end, as far as the compiler knows: nothing may follow it."""
    match statement[0]:
        case "return" | "throw" | "break" | "continue":
            return True
        case "ifelse" | "iftoken" | "constexpr":
            return any_end(statement[2]) and any_end(statement[3])
        case "try":
            return any_end(statement[2]) and any_end(statement[3])
        case "block":
            return any_end(statement[1])
        case "choose":
            return all(any_end(body) for _, body in statement[1])
        case _:
            return False


def any_end(block: list[tuple]) -> bool:
    return any(leaves(statement) for statement in block)
