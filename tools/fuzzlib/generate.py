"""Random actor programs, as source text.

A program is a few actors that call each other; the first is its root. `pick` decides all that it does at run time. It
has limited fuel; when that is used up, every loop ends. So every program ends, whatever its inputs do.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

MAX_COST = 300  # statements that a call may come to, loops of fixed length counted as often as they run
SLOTS = 3


@dataclass(frozen=True)
class Signature:
    name: str
    result: str  # "int", "Token", "Void" or "void"
    parameters: tuple[tuple[str, str], ...]  # type and name
    cost: int


@dataclass
class Made:
    """A piece of text, and whether control never reaches its end."""

    lines: list[str]
    leaves: bool = False


@dataclass
class Names:
    """The names that can be used at a place."""

    ints: list[str] = field(default_factory=list)  # states and parameters
    locals: list[str] = field(default_factory=list)  # plain ints, until the next wait
    futures: list[str] = field(default_factory=list)
    streams: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    promises: list[str] = field(default_factory=list)
    vectors: list[str] = field(default_factory=list)

    def copy(self) -> Names:
        return Names(*(list(each) for each in vars(self).values()))


@dataclass(frozen=True)
class Rules:
    """The features that programs must not use."""

    # A coroutine owns a temporary argument; an actor gets a copy, and the temporary is destroyed at the end of the
    # statement. So arguments with a traced destructor are named variables.
    owns_arguments: bool = False
    # gcc 12 destroys a coroutine's parameters from first to last: at most one of them has a traced destructor.
    orders_parameters: bool = True
    # The library has no equivalent of `return Never()`, which waits forever and holds nothing.
    ends_by_never: bool = True
    # A library with only Errors cannot keep an exception of another type while a handler waits.
    keeps_exceptions: bool = True


def program(seed: int, index: int, rules: Rules = Rules()) -> str:
    """The text of the actors of one program. The root comes last."""
    chance = random.Random(f"{seed}/{index}")
    signatures: list[Signature] = []
    texts: list[str] = []
    for number in reversed(range(chance.choice([1, 1, 1, 2, 2, 2, 3]))):
        actor = _Actor(chance, f"child{number}" if number else "root", signatures, rules)
        texts.append(actor.make())
        signatures.append(actor.signature)
    return "\n".join(texts)


class _Actor:
    def __init__(self, chance: random.Random, name: str, callees: list[Signature], rules: Rules) -> None:
        self._chance = chance
        self._rules = rules
        self._name = name
        self._callees = callees
        self._is_root = name == "root"
        self._budget = chance.choice([1, 2, 3, 4, 6, 12])
        self._last = 0
        self._loops = 0
        self._in_switch = False  # and in no loop inside of it: `break` means the switch
        self._switch_breaks = 0  # made so far
        self._times = 1  # the product of the lengths of the loops around
        self._cost = 0
        self._can_rethrow = False
        self._waits = 0  # made so far
        self._names = Names()
        self._result = "int" if self._is_root else chance.choice(["int", "int", "int", "Void", "void"])
        self._parameters = self._make_parameters()
        self._simple: list[Callable[[], Made]] = [
            self._at, self._token, self._int, self._state, self._state, self._update, self._throwing, self._wait,
            self._wait, self._wait, self._future, self._future, self._world, self._world, self._stream, self._promise,
            self._call, self._block_ahead, self._unpack,
        ]  # fmt: skip
        self._compound: list[Callable[[int], Made]] = [
            self._if, self._if, self._if_else, self._if_token, self._constexpr, self._block, self._try, self._try,
            self._try, self._choose, self._choose, self._choose, self._for, self._while, self._loop, self._range,
            self._do, self._switch, self._switch,
        ]  # fmt: skip

    @property
    def signature(self) -> Signature:
        return Signature(self._name, self._result, self._parameters, self._cost + 1)

    def make(self) -> str:
        made = self._statements(self._chance.randint(2, 5), self._chance.randint(1, 3))
        if not made.leaves:
            made.lines += self._return_lines()
        attribute = "UNCANCELLABLE " if self._chance.random() < 0.08 and self._result != "void" else ""
        result = "void" if self._result == "void" else f"Future<{self._result}>"
        parameters = ", ".join(f"{type_} {name}" for type_, name in self._parameters)
        head = f"ACTOR {attribute}{result} {self._name}({parameters}) {{"
        return "\n".join([head, *indented(made.lines), "}", ""])

    def _make_parameters(self) -> tuple[tuple[str, str], ...]:
        if self._is_root:
            parameters = [("Token", "token"), ("int", "n")]
        else:
            kinds = ["Token", "int", "Future<int>", "FutureStream<int>", "Promise<int>"]
            chosen = [self._chance.choice(kinds) for _ in range(self._chance.randint(0, 2))]
            if not self._rules.orders_parameters and chosen and chosen[0] != "int":
                chosen[1:] = ["int" for _ in chosen[1:]]
            parameters = [(type_, f"p{place}") for place, type_ in enumerate(chosen)]
        for type_, name in parameters:
            self._list_of(type_).append(name)
        return tuple(parameters)

    def _list_of(self, type_: str) -> list[str]:
        names = self._names
        return {
            "Token": names.tokens,
            "int": names.ints,
            "Future<int>": names.futures,
            "FutureStream<int>": names.streams,
            "Promise<int>": names.promises,
        }[type_]

    # -----------------------------------------------------------------------------------------------------------
    # Small things

    def _id(self) -> int:
        self._last += 1
        return self._last

    def _one(self, names: list[str]) -> str:
        return self._chance.choice(names)

    def _number(self) -> str:
        """An int."""
        known = self._names.ints + self._names.locals
        if known and self._chance.random() < 0.6:
            return self._one(known)
        return str(self._chance.randint(0, 9))

    def _waited(self) -> None:
        """After a wait: locals are destroyed."""
        self._waits += 1
        self._names.locals.clear()
        self._can_rethrow = False

    def _slot(self) -> int:
        return self._chance.randrange(SLOTS)

    # -----------------------------------------------------------------------------------------------------------
    # Blocks

    def _statements(self, count: int, depth: int) -> Made:
        """Statements for a block of their own: their declarations are visible only in it."""
        outer, could_rethrow, waits = self._names, self._can_rethrow, self._waits
        self._names = outer.copy()
        made = Made([])
        for _ in range(count):
            statement = self._statement(depth)
            made.lines += statement.lines
            if statement.leaves:
                made.leaves = True
                break
        self._names = outer
        self._can_rethrow = could_rethrow
        if self._waits != waits:
            self._names.locals.clear()
            self._can_rethrow = False
        return made

    def _body(self, depth: int) -> Made:
        return self._statements(self._chance.randint(1, 4), depth - 1)

    def _statement(self, depth: int) -> Made:
        self._budget -= 1
        self._cost += self._times
        if self._chance.random() < 0.12:
            return self._chance.choice([self._jump, self._jump, self._throw, self._return])()
        if depth == 0 or self._budget <= 0 or self._chance.random() < 0.45:
            return self._chance.choice(self._simple)()
        return self._chance.choice(self._compound)(depth)

    # -----------------------------------------------------------------------------------------------------------
    # Simple statements

    def _at(self) -> Made:
        return Made([f"at({self._id()});"])

    def _token(self) -> Made:
        name = f"t{self._id()}"
        return Made([f'Token {name}("{self._name}.{name}");'])

    def _int(self) -> Made:
        id_ = self._id()
        lines = [f"int x{id_} = pick(100);", f"see({id_}, x{id_});"]
        self._names.locals.append(f"x{id_}")
        return Made(lines)

    def _state(self) -> Made:
        name = f"s{self._id()}"
        if self._chance.random() < 0.6:
            self._names.tokens.append(name)
            value = f'("{self._name}.{name}")' if self._chance.random() < 0.7 else f' = Token("{self._name}.{name}")'
            return Made([f"state Token {name}{value};"])
        if self._chance.random() < 0.2:
            self._names.vectors.append(name)
            return Made([f"state std::vector<int> {name} = {{1, 2, 3}};"])
        value = self._chance.choice(["", " = pick(5)", "(pick(5))", "{3}", f" = {self._number()}"])
        self._names.ints.append(name)
        return Made([f"state int {name}{value};"])

    def _update(self) -> Made:
        if not self._names.ints:
            return self._at()
        name = self._one(self._names.ints)
        change = self._chance.choice(
            [f"{name}++", f"{name} += {self._number()} % 100", f"{name} = {name} * 2 % 7", f"--{name}"]
        )
        return Made([f"{change};", f"see({self._id()}, {name});"])

    def _throwing(self) -> Made:
        return Made([f"mayThrow({self._id()});"])

    def _world(self) -> Made:
        k = self._slot()
        kinds = [f"fill({k}, {self._number()});", f"failSlot({k});", f"breakSlot({k});", f"drop({k});"]
        if self._names.futures:
            kinds += [f"keep({k}, {self._one(self._names.futures)});"] * 2
        call = self._call_text("int")
        if call:
            kinds += [f"keep({k}, {call});"] * 4
        if self._names.promises:
            promise = self._one(self._names.promises)
            kinds += [f"if ({promise}.canBeSet()) {promise}.send({self._number()});"] * 3
            kinds += [f"if ({promise}.canBeSet()) {promise}.sendError(Error({55000 + self._id()}));"]
        return Made([self._chance.choice(kinds)])

    def _future(self) -> Made:
        name = f"s{self._id()}"
        made = Made([f"state Future<int> {name} = {self._future_text(allow_names=False)};"])
        self._names.futures.append(name)
        return made

    def _stream(self) -> Made:
        if self._names.streams and self._chance.random() < 0.7:
            return self._wait_next()
        name = f"s{self._id()}"
        self._names.streams.append(name)
        return Made([f"state FutureStream<int> {name} = stream({self._id()});"])

    def _promise(self) -> Made:
        name = f"s{self._id()}"
        self._names.promises.append(name)
        return Made([f"state Promise<int> {name};"])

    def _call(self) -> Made:
        text = self._call_text("void")
        return Made([f"{text};"]) if text else self._future()

    def _block_ahead(self) -> Made:
        body = self._statements(2, 0)
        return Made(["{", *indented(body.lines), "}"], body.leaves)

    # -----------------------------------------------------------------------------------------------------------
    # Operands of waits

    def _call_text(self, result: str) -> str:
        """A call of another actor, or nothing if there is none."""
        fitting = [
            callee
            for callee in self._callees
            if callee.result == result
            and self._cost + self._times * callee.cost < MAX_COST
            and (not self._rules.owns_arguments or self._can_name_arguments(callee))
        ]
        if not fitting:
            return ""
        callee = self._chance.choice(fitting)
        self._cost += self._times * callee.cost
        # At most one argument makes an object: C++ does not specify the order in which arguments are evaluated.
        maker = self._chance.randrange(len(callee.parameters)) if callee.parameters else -1
        arguments = [self._argument(type_, place == maker) for place, (type_, _) in enumerate(callee.parameters)]
        return f"{callee.name}({', '.join(arguments)})"

    def _can_name_arguments(self, callee: Signature) -> bool:
        return bool(self._names.promises) or all(type_ != "Promise<int>" for type_, _ in callee.parameters)

    def _argument(self, type_: str, may_make: bool) -> str:
        if type_ == "int":
            return self._number()
        # Two actors may not wait for one stream at the same time.
        names = [] if type_ == "FutureStream<int>" else self._list_of(type_)
        may_make = may_make and (type_ == "FutureStream<int>" or not self._rules.owns_arguments)
        if names and (not may_make or self._chance.random() < 0.5):
            return self._one(names)
        if not may_make:
            return {
                "Token": "Token()",
                "Future<int>": f"Future<int>({self._chance.randint(0, 9)})",
                "FutureStream<int>": "PromiseStream<int>().getFuture()",
                "Promise<int>": "Promise<int>()",
            }[type_]
        match type_:
            case "Token":
                return f'Token("{self._name}.t{self._id()}")'
            case "Future<int>":
                return self._future_text(allow_calls=False)
            case "FutureStream<int>":
                return f"stream({self._id()})"
            case _:
                return "Promise<int>()"

    def _future_text(self, allow_names: bool = True, allow_calls: bool = True) -> str:
        kinds = [f"number({self._id()})"] * 4 + [f"slot({self._slot()})"] * 2 + [f"kept({self._slot()})"]
        if allow_names:
            kinds += self._names.futures * 2
        if self._names.promises:
            kinds += [f"{self._one(self._names.promises)}.getFuture()"] * 2
        if allow_calls and self._chance.random() < 0.6:
            call = self._call_text("int")
            if call:
                return call
        return self._chance.choice(kinds)

    def _signal_text(self) -> str:
        if self._chance.random() < 0.3:
            call = self._call_text("Void")
            if call:
                return call
        return self._chance.choice([f"signal({self._id()})"] * 3 + [f"delay({self._chance.randint(0, 2)})"])

    def _wait_form(self) -> tuple[str, str]:
        """A wait without its `;`, and the name of its result."""
        chance = self._chance.random()
        if chance < 0.3:
            return f"wait({self._signal_text()})", ""
        if chance < 0.4:
            return self._token_form(), ""
        operand = self._future_text()
        id_ = self._id()
        if self._names.ints and self._chance.random() < 0.15:
            name = self._one(self._names.ints)
            return f"{name} = wait({operand})", name
        form = self._chance.choice(
            ["int x", "int x", "auto x", "const int& x", "auto&& x", "state int s", "state int s"]
        )
        return f"{form}{id_} = wait({operand})", f"{form[-1]}{id_}"

    def _token_form(self) -> str:
        operand = (self._chance.random() < 0.5 and self._call_text("Token")) or f"newToken({self._id()})"
        form = self._chance.choice(["Token t", "state Token s", "auto t", "auto const& t", "auto&& t"])
        return f"{form}{self._id()} = wait({operand})"

    def _next_form(self) -> tuple[str, str]:
        id_ = self._id()
        form = "state int s" if self._chance.random() < 0.4 else "int x"
        return f"{form}{id_} = waitNext({self._one(self._names.streams)})", f"{form[-1]}{id_}"

    def _seen(self, name: str) -> list[str]:
        if not name:
            return []
        if name not in self._names.ints:
            (self._names.ints if name[0] == "s" else self._names.locals).append(name)
        return [f"see({self._id()}, {name});"]

    def _wait(self) -> Made:
        form, name = self._wait_form()
        self._waited()
        return Made([f"{form};", *self._seen(name)])

    def _unpack(self) -> Made:
        id_ = self._id()
        self._waited()
        names = [f"x{id_}a", f"x{id_}b"]
        self._names.locals += names
        return Made([f"auto [{', '.join(names)}] = wait(pair({id_}));", f"see({id_}, {names[0]} + {names[1]});"])

    def _wait_next(self) -> Made:
        form, name = self._next_form()
        self._waited()
        return Made([f"{form};", *self._seen(name)])

    # -----------------------------------------------------------------------------------------------------------
    # Statements that leave a block

    def _perhaps(self, line: str) -> Made:
        """Under a condition, mostly, since what leaves a block ends it."""
        if self._chance.random() < 0.8:
            return Made([f"if (pick({self._chance.randint(2, 4)}) == 1)", f"    {line}"])
        return Made([line], leaves=True)

    def _jump(self) -> Made:
        if self._in_switch and self._chance.random() < 0.5:
            self._switch_breaks += 1
            return Made([f"if (pick({self._chance.randint(2, 4)}) == 1)", "    break;"])
        if not self._loops:
            return self._at()
        return self._perhaps("continue;" if self._in_switch else self._chance.choice(["break;", "continue;"]))

    def _throw(self) -> Made:
        return self._perhaps("throw;" if self._can_rethrow else f"throw Error({56000 + self._id()});")

    def _return(self) -> Made:
        if self._chance.random() < 0.07 and self._result != "void" and self._rules.ends_by_never:
            return self._perhaps("return Never();")
        if self._result == "int" and self._chance.random() < 0.3:
            could_rethrow, locals_ = self._can_rethrow, list(self._names.locals)
            made = self._perhaps(f"return wait({self._future_text()});")
            self._waited()
            if made.leaves:
                self._can_rethrow, self._names.locals = could_rethrow, locals_
            return made
        return self._perhaps(self._return_lines()[0])

    def _return_lines(self) -> list[str]:
        if self._result == "int":
            return [f"return {self._number()};"]
        if self._result == "Token":
            known = self._names.tokens
            return [f"return {self._one(known)};" if known else f'return Token("{self._name}.r{self._id()}");']
        return ["return Void();" if self._result == "Void" else "return;"]

    # -----------------------------------------------------------------------------------------------------------
    # Compound statements

    def _braces(self, head: str, body: Made, first: list[str] | None = None) -> list[str]:
        return [head + " {", *indented([*(first or []), *body.lines]), "}"]

    def _if(self, depth: int) -> Made:
        return Made(self._braces(f"if (pick({self._chance.randint(2, 3)}) == 1)", self._body(depth)))

    def _two(self, head: str, depth: int) -> Made:
        then, orelse = self._body(depth), self._body(depth)
        lines = [*self._braces(head, then), *self._braces("else", orelse)]
        return Made(lines, then.leaves and orelse.leaves)

    def _if_else(self, depth: int) -> Made:
        return self._two(f"if (pick({self._chance.randint(2, 3)}) == 1)", depth)

    def _if_token(self, depth: int) -> Made:
        name = f"t{self._id()}"
        return self._two(f'if (Token {name}("{self._name}.{name}"); pick(2) == 1)', depth)

    def _constexpr(self, depth: int) -> Made:
        return self._two(f"if constexpr ({self._chance.choice(['1 == 1', '1 != 1'])})", depth)

    def _block(self, depth: int) -> Made:
        body = self._body(depth)
        return Made(["{", *indented(body.lines), "}"], body.leaves)

    def _try(self, depth: int) -> Made:
        body = self._body(depth)
        could_rethrow, waits = self._can_rethrow, self._waits
        lines, leaves = self._braces("try", body), body.leaves
        kind = self._chance.choice(["Error", "Error", "Error", "const Error", "all", "int, Error", "int", "Error, all"])
        for clause in kind.split(", "):
            id_ = self._id()
            self._can_rethrow = True
            heads = {"all": "...", "int": f"int x{id_}"}
            first = {"all": [f"at({id_});"], "int": [f"see({id_}, x{id_});"]}
            before = self._waits
            handler = self._body(depth)
            if clause == "int" and self._waits != before and not self._rules.keeps_exceptions:
                handler = Made([])
            head = f"catch ({heads.get(clause, f'{clause}& e{id_}')})"
            lines += self._braces(head, handler, first.get(clause, [f"caught({id_}, e{id_});"]))
            leaves = leaves and handler.leaves
        self._can_rethrow = could_rethrow and self._waits == waits
        return Made(lines, leaves)

    def _choose(self, depth: int) -> Made:
        forms = []
        streams = list(self._names.streams)
        for _ in range(self._chance.randint(1, 3)):
            if streams and self._chance.random() < 0.4:
                outer, self._names.streams = self._names.streams, streams
                forms.append(self._next_form())
                self._names.streams = outer
                streams = [name for name in streams if f"({name})" not in forms[-1][0]]
            else:
                forms.append(self._wait_form())
        self._waited()
        lines, leaves = ["choose {"], True
        for form, name in forms:
            outer_names = self._names.copy()
            seen = self._seen(name)
            body = self._body(depth)
            self._names = outer_names
            lines += indented(self._braces(f"when({form})", body, seen))
            leaves = leaves and body.leaves
        return Made([*lines, "}"], leaves)

    def _looped(self, depth: int, times: int = 1) -> Made:
        """The body of a loop: no local from outside is known in it, since a wait in it comes before its next pass."""
        names, can_rethrow = self._names.locals, self._can_rethrow
        self._names.locals, self._can_rethrow = [], False
        self._loops += 1
        self._times *= times
        waits, in_switch, self._in_switch = self._waits, self._in_switch, False
        body = self._body(depth)
        self._in_switch = in_switch
        self._times //= times
        self._loops -= 1
        if self._waits == waits:
            self._names.locals, self._can_rethrow = names, can_rethrow
        return body

    def _for(self, depth: int) -> Made:
        name, times = f"s{self._id()}", self._chance.randint(1, 3)
        body = self._looped(depth, times)
        return Made(self._braces(f"for (state int {name} = 0; {name} < {times}; {name}++)", body))

    def _while(self, depth: int) -> Made:
        return Made(self._braces("while (pick(3) != 0)", self._looped(depth)))

    def _loop(self, depth: int) -> Made:
        return Made(self._braces("loop", self._looped(depth), ["if (pick(3) == 0)", "    break;"]))

    def _range(self, depth: int) -> Made:
        items = f"items({self._id()})"
        if self._names.vectors and self._chance.random() < 0.6:
            items = self._one(self._names.vectors)
        name = f"x{self._id()}"
        seen = [f"see({self._id()}, {name});"]
        declared = self._chance.choice(["int ", "auto ", "auto& ", "auto&& "]) if items[0] == "s" else "int "
        return Made(self._braces(f"for ({declared}{name} : {items})", self._looped(depth, 3), seen))

    def _do(self, depth: int) -> Made:
        body = self._looped(depth)
        lines = self._braces("do", body, ["if (pick(4) == 0)", "    break;"] if body.leaves else None)
        lines[-1] += " while (pick(3) != 0);"
        return Made(lines)

    def _switch(self, depth: int) -> Made:
        """`break` in it means the switch, `continue` a loop around."""
        outer_names = self._names.copy()
        lines, leaves, falls = [], True, False
        has_default = self._chance.random() < 0.5
        in_switch, self._in_switch = self._in_switch, True
        breaks = self._switch_breaks
        count = self._chance.randint(1, 3)
        for value in range(count + has_default):
            self._names.locals.clear()  # it may be come to without what stands before
            waits = self._waits
            label = f"case {value}:" if value < count else "default:"
            body = self._body(depth)
            if self._waits != waits:
                outer_names.locals.clear()
            lines += [f"{label} {{", *indented(body.lines), "}"]
            falls = not body.leaves
            if falls and self._chance.random() < 0.7:
                lines.append("break;")
                leaves, falls = False, False
        self._names = outer_names
        lines = [f"switch (pick({count + 1})) {{", *indented(lines), "}"]
        self._in_switch = in_switch
        return Made(lines, leaves and has_default and not falls and self._switch_breaks == breaks)


def indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]
