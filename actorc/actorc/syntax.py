"""The tree that the parser makes and every later stage reads.

Every node is immutable and has a span, a half-open range of offsets into the source text. C++ that actorc does not
parse is kept as `Code`, which is only a span: the text is read from the source when it is emitted. A body (of a loop, a
branch, a handler) is always a `Block`, also when the author wrote a single statement.

Nodes compare by identity, so that facts about a node can be kept in a dictionary.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from enum import Enum

from actorc.records import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """Offsets into the source text: `start` included, `end` excluded."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Code(Node):
    """C++ text that is copied: an expression, a type, a parameter list."""


# ---------------------------------------------------------------------------------------------------------------
# Statements


@dataclass(frozen=True, slots=True, eq=False)
class Statement(Node):
    """Base of everything that can stand in a block."""


@dataclass(frozen=True, slots=True, eq=False)
class Block(Statement):
    """`{ ... }`, or the single statement that stood for it."""

    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Local:
    """A plain local that a `Plain` statement declares.

    `trivial` is true only where the text proves that destroying it does nothing (built-in arithmetic types,
    pointers, references). Where in doubt it is false. `is_part`: it names a part of an object, as in `auto [a, b]`.
    `is_object`: it is no type, and not `static`. `holder`: the variable of emitted code to which it refers.
    """

    name: str
    trivial: bool
    is_part: bool = False
    is_object: bool = True
    holder: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Plain(Statement):
    """Any C++ statement without a wait, copied as it is, its `;` or closing brace included.

    A lambda or a local class is one Plain. `locals` names what it declares in the enclosing block.
    """

    locals: tuple[Local, ...]


class StateForm(Enum):
    """How a state variable is initialised in the source."""

    NONE = "T x;"
    ASSIGN = "T x = e;"
    PAREN = "T x(e);"
    BRACE = "T x{e};"


@dataclass(frozen=True, slots=True, eq=False)
class StateDecl(Statement):
    """`state T x...;`, or one of the variables of `state T x..., y...;`.

    `leading`: it stands in the unbroken run of states that opens the body.
    """

    type: Code
    name: str
    form: StateForm
    init: Code | None  # what stands after `=`, or inside the parentheses or braces; None if nothing
    leading: bool
    extents: Code | None = None  # `[2][3]` of an array
    comma: Span | None = None  # that in front of it, if it is not the first of its declaration
    chained: Code | None = None  # `.member(...)` behind `T x(e)`: called once it is made; never of a leading one


class ResultKind(Enum):
    """Where a wait's value goes."""

    LOCAL = "T x = wait(f);"  # a plain local
    STATE = "state T x = wait(f);"
    UNPACK = "auto [a, b] = wait(f);"  # plain locals: a structured binding
    ASSIGN = "x = wait(f);"  # `x` is any expression; it is evaluated after the wait
    RETURN = "return wait(f);"  # the actor ends with it; never in a `when`


class Hold(Enum):
    """How a LOCAL or UNPACK result holds the value."""

    VALUE = "T x"  # its own where that is free or needed, otherwise the future's, which then lives as long as `x`
    REFERENCE = "T const& x"  # also `const T x` and `auto& x`: read only
    OWN = "T&& x"  # its own: moved out of the cell if no other future refers to it, otherwise copied


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """What stands before `wait` in a wait that gives a value."""

    kind: ResultKind
    type: Code | None  # without outer `const` and reference; None where C++ deduces it from the future
    names: tuple[str, ...]  # what it declares: one for LOCAL and STATE, none for ASSIGN and RETURN
    target: Code | None  # of ASSIGN: what stands before the `=`
    hold: Hold = Hold.VALUE

    @property
    def is_state(self) -> bool:
        return self.kind is ResultKind.STATE

    @property
    def name(self) -> str:
        """Of a LOCAL or STATE."""
        return self.names[0]


@dataclass(frozen=True, slots=True, eq=False)
class WaitExpr(Node):
    """`wait(E)` or `waitNext(S)` with what its result goes to, as a statement or as the head of a `when`."""

    word: Span  # `wait` or `waitNext`
    is_stream: bool  # waitNext
    operand: Code
    result: Result | None  # None: `wait(E);`, which needs a Future<Void>


@dataclass(frozen=True, slots=True, eq=False)
class Wait(Statement):
    wait: WaitExpr

    @property
    def returns(self) -> bool:
        """`return wait(f);`: the actor ends here with what it gives."""
        return self.wait.result is not None and self.wait.result.kind is ResultKind.RETURN


@dataclass(frozen=True, slots=True, eq=False)
class When(Node):
    wait: WaitExpr
    body: Block


@dataclass(frozen=True, slots=True, eq=False)
class Choose(Statement):
    whens: tuple[When, ...]


@dataclass(frozen=True, slots=True, eq=False)
class If(Statement):
    condition: Code  # everything between the parentheses, an init-statement included
    is_constexpr: bool
    then: Block
    orelse: Block | None  # `else if` is a Block with one If


@dataclass(frozen=True, slots=True, eq=False)
class Loop(Statement):
    """`loop body`: endless."""

    body: Block


@dataclass(frozen=True, slots=True, eq=False)
class While(Statement):
    condition: Code
    body: Block


@dataclass(frozen=True, slots=True, eq=False)
class DoWhile(Statement):
    """`do body while (condition);`: `continue` in the body goes on with the condition."""

    body: Block
    condition: Code


@dataclass(frozen=True, slots=True, eq=False)
class Switch(Statement):
    """`switch (condition) body`. Its Cases stand directly in the body, before the statements that they lead to.

    A `switch` with a label in an inner block is a Plain.
    """

    condition: Code  # everything between the parentheses, an init-statement included
    body: Block


@dataclass(frozen=True, slots=True, eq=False)
class Case(Statement):
    """`case value:`, or `default:`, which has no value."""

    value: Code | None


@dataclass(frozen=True, slots=True, eq=False)
class For(Statement):
    """`for (init; condition; step) body`. `init` is a StateDecl for `for (state int i = 0; ...)`.

    Of several states, each is a statement before the loop, and a Block holds them all.
    """

    init: Code | StateDecl | None
    condition: Code | None
    step: Code | None
    body: Block


@dataclass(frozen=True, slots=True, eq=False)
class RangeFor(Statement):
    """`for (init; decl : range) body`. A plain `init` declares nothing if the body waits."""

    init: Code | StateDecl | None
    decl: Code
    decl_locals: tuple[Local, ...]  # all that `decl` declares; more than one for `auto [a, b]`
    range: Code
    body: Block


class CatchKind(Enum):
    """What a catch clause takes."""

    ERROR = "Error&"  # every Error; other exceptions as unknown_error, if no other clause takes them
    OTHER = "T&"  # exceptions of a type of C++'s, of code that the actor calls or of what it waits for
    ALL = "..."


@dataclass(frozen=True, slots=True, eq=False)
class Catch(Node):
    """One clause of a `try`: `catch (decl) body`."""

    kind: CatchKind
    head: Span  # from `catch` to its `)`
    type: Code | None  # `const Error&`; None for `...`
    name: str | None  # the variable, if it has one
    body: Block


@dataclass(frozen=True, slots=True, eq=False)
class Try(Statement):
    """`try body` and its clauses, of which the first that fits is taken."""

    body: Block
    catches: tuple[Catch, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Throw(Statement):
    value: Code | None  # None: `throw;`


@dataclass(frozen=True, slots=True, eq=False)
class Return(Statement):
    value: Code | None
    is_never: bool  # `return Never();`
    is_sequence: bool  # `return a, b;`, by the operator `,`


@dataclass(frozen=True, slots=True, eq=False)
class Break(Statement):
    pass


@dataclass(frozen=True, slots=True, eq=False)
class Continue(Statement):
    pass


# ---------------------------------------------------------------------------------------------------------------
# Declarations


@dataclass(frozen=True, slots=True, eq=False)
class Parameter(Node):
    """`T x`, of which the actor makes a copy; `T const& x` means the same, and `T&& x` is moved into the actor."""

    type: Code  # T, without outer `const` and reference; of a pack, what is repeated
    name: str  # one with two underscores if it has none
    default: Code | None
    is_rvalue: bool = False  # T&&
    is_pack: bool = False  # `Ts... x`


@dataclass(frozen=True, slots=True, eq=False)
class TemplateParameter(Node):
    """One of `template <...>`: `text` is as written without its default, `name` what it introduces."""

    text: str
    name: str
    is_pack: bool


@dataclass(frozen=True, slots=True, eq=False)
class Capture(Node):
    """`x`, `&x` or `x = e` of a lambda: what the actor has as its first parameters."""

    name: str
    init: Code | None  # ` = e`, `(e)` or `{e}`
    is_reference: bool


BENCHMARK_NAME = "flowBenchmarkCase"  # before the line, the name of a BENCHMARK_CASE


@dataclass(frozen=True, slots=True, eq=False)
class Actor(Node):
    """An actor's declaration (`body is None`) or definition; its span reaches from `ACTOR` to `;` or `}`."""

    template: tuple[TemplateParameter, ...] | None  # None: not a template
    attributes: tuple[str, ...]  # as written, `[[...]]`
    is_static: bool
    is_uncancellable: bool
    result_type: Code | None  # T of Future<T>; None for void
    return_text: str  # `Future<T>`, `flow::Future<T>` or `void`, as written
    qualifier: tuple[str, ...]  # ("Outer", "X") for Outer::X::f
    name: str
    name_span: Span
    parameters: tuple[Parameter, ...]
    body: Block | None
    enclosing_classes: tuple[str, ...]  # the classes around it, outermost first
    in_namespace: bool  # it stands inside some brace block
    in_unknown: bool  # it stands in braces that open neither a class nor a namespace, as far as can be seen
    index: int  # 0 for the first definition of this name in the file, 1 for the next ...: numbers the class
    test_name: Code | None = None  # what stands in the parentheses of the TEST_CASE or BENCHMARK_CASE
    captures: tuple[Capture, ...] | None = None  # of a lambda; None: a function with a name
    lambdas: tuple[Actor, ...] = ()  # the outermost ones in the body
    frame_limit: Code | None = None  # the number of a FLOW_ASSERT_FRAME_SIZE among the parameters

    @property
    def is_benchmark(self) -> bool:
        return self.test_name is not None and self.name.startswith(BENCHMARK_NAME)

    @property
    def title(self) -> str:
        """Its name in messages."""
        if self.test_name is not None:
            return "this benchmark" if self.is_benchmark else "this test case"
        return f"actor `{self.name}`" if self.captures is None else "this `ACTOR` lambda"

    @property
    def class_stem(self) -> str:
        """`Outer_X_` + name with its first letter in upper case: `stem + "Actor"` names the emitted class."""
        prefix = "".join(part + "_" for part in self.qualifier)
        return prefix + self.name[:1].upper() + self.name[1:]


@dataclass(frozen=True, slots=True, eq=False)
class Field(Node):
    """A member of a described struct; the span is that of its declaration up to the `;`."""

    type: Code
    name: str
    comment: str  # the text of the `//` comment on its line


@dataclass(frozen=True, slots=True, eq=False)
class Description(Node):
    """`DESCR struct NAME ... { ... };`; its span reaches from `DESCR` to the `;`."""

    struct: Code  # without the word DESCR
    name: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """The file's tokens, for stages that look for names in copied text: texts, and the offsets at which they start.

    `texts` ends with a few empty strings.
    """

    texts: list[str]
    starts: list[int]

    def between(self, span: Span) -> tuple[int, int]:
        """The indices of the first token of a span and of the first behind it."""
        return bisect_left(self.starts, span.start), bisect_left(self.starts, span.end)

    def first(self, span: Span) -> int:
        return bisect_left(self.starts, span.start)

    def span(self, index: int) -> Span:
        return Span(self.starts[index], self.starts[index] + len(self.texts[index]))


@dataclass(frozen=True, slots=True, eq=False)
class File:
    """A whole source file: actors and described structs, each in order; all text between them is copied."""

    actors: tuple[Actor, ...]
    words: Words
    descriptions: tuple[Description, ...] = ()


LOOPS = (Loop, While, DoWhile, For, RangeFor)
LEAVES = (Plain, StateDecl, Wait, Return, Throw, Break, Continue, Case)  # nothing stands in them


def unknown(node: object) -> AssertionError:
    """A pass over a tree raises this for a kind of node without a rule."""
    return AssertionError(f"no rule for a node of the kind {type(node).__name__}")


def all_actors(actors: Iterable[Actor]) -> Iterator[Actor]:
    """The actors and the lambdas in them."""
    for actor in actors:
        yield actor
        yield from all_actors(actor.lambdas)


def children(node: Statement) -> Iterator[Block]:
    """The blocks directly inside a statement, in source order."""
    match node:
        case Block():
            yield node
        case If(then=then, orelse=orelse):
            yield then
            if orelse is not None:
                yield orelse
        case Loop() | While() | DoWhile() | For() | RangeFor() | Switch():
            yield node.body
        case Try(body=body, catches=catches):
            yield body
            for catch in catches:
                yield catch.body
        case Choose(whens=whens):
            for when in whens:
                yield when.body
        case Plain() | StateDecl() | Wait() | Return() | Throw() | Break() | Continue() | Case():
            pass
        case _:
            raise unknown(node)


def waits_of(node: Statement) -> tuple[WaitExpr, ...]:
    """The waits that are the statement itself: of a Wait or a Choose."""
    match node:
        case Wait(wait=wait):
            return (wait,)
        case Choose(whens=whens):
            return tuple(when.wait for when in whens)
        case Plain() | StateDecl() | Return() | Throw() | Break() | Continue() | Case():
            return ()
        case Block() | If() | Loop() | While() | DoWhile() | For() | RangeFor() | Switch() | Try():
            return ()
        case _:
            raise unknown(node)


def declaration_of(node: Statement) -> StateDecl | None:
    """The state variable that the statement itself declares, as a statement or in the header of a loop."""
    match node:
        case StateDecl():
            return node
        case For(init=init) | RangeFor(init=init):
            return init if isinstance(init, StateDecl) else None
        case Plain() | Wait() | Return() | Throw() | Break() | Continue() | Case():
            return None
        case Block() | If() | Loop() | While() | DoWhile() | Switch() | Try() | Choose():
            return None
        case _:
            raise unknown(node)


def heads_of(node: Statement) -> Iterator[Code]:
    """The code in the head of an `if`, a `switch` or a loop that may declare what is in scope in its body."""
    if isinstance(node, If | While | For | Switch) and node.condition is not None:
        yield node.condition
    if isinstance(node, For | RangeFor) and isinstance(node.init, Code):
        yield node.init


def declared_states(statement: Statement) -> Iterator[tuple[Code, str]]:
    """Type and name of each state variable that the statement itself declares, or has as the result of a wait."""
    declaration = declaration_of(statement)
    if declaration is not None:
        yield declaration.type, declaration.name
    for wait in waits_of(statement):
        if wait.result is not None and wait.result.is_state and wait.result.type is not None:
            yield wait.result.type, wait.result.name


def walk(node: Statement) -> Iterator[Statement]:
    """The statement and all statements inside it, in source order."""
    pending = [node]
    while pending:
        statement = pending.pop()
        yield statement
        if isinstance(statement, Block):
            pending.extend(reversed(statement.statements))
        elif not isinstance(statement, LEAVES):
            pending.extend(reversed(tuple(children(statement))))


def suspends(node: Statement) -> bool:
    """Whether the statement contains a wait or a choose."""
    return any(waits_of(inner) for inner in walk(node))
