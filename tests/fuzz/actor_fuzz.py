"""Random actors, and an interpreter that says what they must print.

`generate(seed, count)` makes a program of actors that consist of all that the language has, in shapes that nobody
would write; `expect` runs the same actors on a model of the language: plain locals die at the next wait, states at the
end, a choose is lazy, a cancelled actor's waits raise. The model knows nothing of labels and jumps, so what the back
ends do with them is checked against the rules, not against itself.

Every decision at run time comes from one generator of numbers (`Env::pick`), which both sides have; when its fuel is
used up it gives only 0, at which every loop ends.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

RUNS = 8  # of each actor, with different numbers

PRELUDE = """\
#include "trace.h"
#include "flow/actorcompiler.h"

class Env {
public:
    explicit Env(std::uint64_t seed) : state_(seed) {}
    int pick(int n) {
        if (fuel_ == 0)
            return 0;
        --fuel_;
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<int>((state_ >> 33) % static_cast<unsigned>(n));
    }
    Future<int> number(int id) { return start<int>(id, id); }
    Future<Void> signal(int id) { return start<Void>(id, Void()); }
    void mayThrow(int id) {
        if (pick(4) == 1) {
            say("throws %d", id);
            throw Error(10000 + id);
        }
    }

private:
    template <class T>
    static Future<T> later(int seconds, T value, Error error, [[maybe_unused]] Token token) {
        co_await delay(seconds);
        if (error.isValid())
            throw error;
        co_await coro::finish(std::move(value));
    }
    template <class T>
    Future<T> start(int id, T value) {
        int kind = pick(8);
        say("operand %d is %d", id, kind);
        if (kind < 3)
            return value;
        if (kind == 3)
            return Error(20000 + id);
        if (kind == 4)
            throw Error(30000 + id);
        return later<T>(pick(3), value, kind == 7 ? Error(40000 + id) : Error(), Token("op" + std::to_string(id)));
    }

    std::uint64_t state_;
    int fuel_ = 120;
};
"""

RUNNER = """\
template <class F>
static void run(const char* name, F* actor, std::uint64_t seed) {
    say("== %s %d", name, static_cast<int>(seed));
    SimLoop loop;
    Env env(seed);
    int cancelAt = env.pick(6) - 2;
    Future<int> f = actor(&env, Token("p"), std::vector<int>{1, 2, 3});
    Future<Void> w = watch("result", f);
    if (cancelAt >= 0) {
        loop.run(Future<Void>(delay(cancelAt + 0.5)));
        if (!f.isReady())
            say("cancel");
        f.cancel();
    }
    loop.run();
}
"""


# ---------------------------------------------------------------------------------------------------------------
# Programs: nested tuples, the first element of which says what they are


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


# ---------------------------------------------------------------------------------------------------------------
# As source text


def block_text(block: list[tuple], indent: str) -> str:
    return "".join(indent + line + "\n" for statement in block for line in text(statement))


def braces(head: str, block: list[tuple], first: str = "") -> list[str]:
    inner = block_text(block, "    ").splitlines()
    return [head + " {", *([f"    {first}"] if first else []), *inner, "}"]


def wait_text(wait: tuple) -> str:
    if wait[0] == "delay":
        return f"wait(delay({wait[1]}))"
    _, id_, result, name = wait
    if result == "none":
        return f"wait(env->signal({id_}))"
    return f"{f'state int {name}' if result == 'state' else f'int x{id_}'} = wait(env->number({id_}))"


def after_wait(wait: tuple) -> str:
    """Shows the result, while it is visible."""
    if wait[0] == "delay" or wait[2] == "none":
        return ""
    name = wait[3] if wait[2] == "state" else f"x{wait[1]}"
    return f'say("{wait[1]} gave %d", {name});'


def text(statement: tuple) -> list[str]:
    match statement:
        case ("say", id_):
            return [f'say("at {id_}");']
        case ("token", name):
            return [f'Token {name}("{name}");']
        case ("int", id_):
            return [f"int n{id_} = env->pick(100);", f'say("n{id_} is %d", n{id_});']
        case ("state", name):
            return [f'state Token {name}("{name}");']
        case ("throwing", id_):
            return [f"env->mayThrow({id_});"]
        case ("wait", *_):
            shown = after_wait(statement)
            return [wait_text(statement) + ";", *([shown] if shown else [])]
        case ("break",) | ("continue",):
            return [statement[0] + ";"]
        case ("throw", 0):
            return ["throw;"]
        case ("throw", id_):
            return [f"throw Error(50000 + {id_});"]
        case ("return", id_):
            return [f"return {id_};"]
        case ("choose", whens):
            inner = [line for head, body in whens for line in braces(f"when({wait_text(head)})", body, after_wait(head))]
            return ["choose {", *("    " + line for line in inner), "}"]
        case _:
            return compound_text(statement)


def compound_text(statement: tuple) -> list[str]:
    match statement:
        case ("if", n, body):
            return braces(f"if (env->pick({n}) == 1)", body)
        case ("ifelse", n, then, orelse):
            return [*braces(f"if (env->pick({n}) == 1)", then), *braces("else", orelse)]
        case ("iftoken", name, then, orelse):
            return [*braces(f'if (Token {name}("{name}"); env->pick(2) == 1)', then), *braces("else", orelse)]
        case ("constexpr", value, then, orelse):
            return [*braces(f"if constexpr (sizeof(char) {'==' if value else '!='} 1)", then), *braces("else", orelse)]
        case ("block", body):
            return braces("", body)
        case ("try", id_, body, handler):
            return [*braces("try", body), *braces(f"catch (Error& e{id_})", handler, f'say("caught %d", e{id_}.code());')]
        case ("for", name, n, body):
            return braces(f"for (state int {name} = 0; {name} < {n}; {name}++)", body)
        case ("while", "", body):
            return braces("while (env->pick(3))", body)
        case ("while", name, body):
            return braces(f'while (Token {name} = env->pick(3) ? Token("{name}") : Token())', body)
        case ("loop", body):
            return braces("loop", body, "if (env->pick(3) == 0) break;")
        case ("range", id_, body):
            return braces(f"for (auto& r{id_} : items)", body, f'say("r{id_} is %d", r{id_});')
    raise AssertionError(statement)


# ---------------------------------------------------------------------------------------------------------------
# As the language says


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
NAMES = {CANCELLED: "actor_cancelled"}


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

    def with_token(self, name: str, then: object) -> None:
        self.depth += 1
        depth = self.depth
        self.alive.append((depth, name))
        try:
            then()  # type: ignore[operator]
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


# ---------------------------------------------------------------------------------------------------------------


@dataclass
class FuzzActor:
    name: str
    uncancellable: bool
    states: list[str]
    body: list[tuple]

    def text(self) -> str:
        keyword = "ACTOR UNCANCELLABLE" if self.uncancellable else "ACTOR"
        head = f"{keyword} Future<int> {self.name}([[maybe_unused]] Env* env, Token p, std::vector<int> items)"
        return f"{head} {{\n{block_text(self.body, '    ')}}}\n"

    def expect(self, seed: int) -> list[str]:
        model = Model([f"== {self.name} {seed}"], seed, self.states)
        cancel = model.pick(6) - 2
        if cancel >= 0 and not self.uncancellable:
            model.cancel_at = cancel + 0.5
        try:
            model.scoped(self.body)
            raise AssertionError("no return")
        except Returned as returned:
            result = str(returned.value)
        except Raised as raised:
            result = NAMES.get(raised.code, "application_error")
        for name in reversed(self.states):
            if model.values.get(name):
                model.say("~" + name)
        model.say("~p")
        model.say(f"result: {result}")
        if self.uncancellable and cancel >= 0 and model.time > cancel + 0.5:
            model.out = with_ignored_cancel(model, self, seed, cancel + 0.5)
        return model.out


def with_ignored_cancel(model: Model, actor: FuzzActor, seed: int, at: float) -> list[str]:
    """The harness says "cancel" before it calls cancel(): find out between which lines."""
    probe = _Probe([f"== {actor.name} {seed}"], seed, actor.states)
    probe.pick(6)
    probe.watch_at = at
    try:
        probe.scoped(actor.body)
    except (Returned, Raised):
        pass
    return [*model.out[: probe.place], "cancel", *model.out[probe.place :]]


class _Probe(Model):
    watch_at = 0.0
    place = -1

    def suspend_until(self, at: float, operands: list[Operand]) -> None:
        if self.place < 0 and at > self.watch_at:
            self.place = len(self.out)
        super().suspend_until(at, operands)


def generate(seed: int, count: int) -> list[FuzzActor]:
    actors = []
    for index in range(count):
        chance = random.Random(f"{seed}/{index}")
        generator = Generator(chance, budget=chance.choice([8, 20, 40]))
        body = generator.block(chance.randint(2, 5)) + generator.block(2)
        body = body[: next((place for place, each in enumerate(body) if leaves(each)), len(body)) + 1]
        if not any_end(body):
            body.append(("return", 0))
        actors.append(FuzzActor(f"f{index}", chance.random() < 0.1, generator.states, body))
    return actors


def program(actors: list[FuzzActor]) -> str:
    calls = [f'    for (int seed = 1; seed <= {RUNS}; ++seed)\n        run("{a.name}", {a.name}, seed);\n' for a in actors]
    return PRELUDE + "\n" + "\n".join(a.text() for a in actors) + "\n" + RUNNER + "\nint main() {\n" + "".join(calls) + "}\n"


def expected(actors: list[FuzzActor]) -> str:
    return "".join(line + "\n" for actor in actors for seed in range(1, RUNS + 1) for line in actor.expect(seed))
