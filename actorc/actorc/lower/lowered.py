"""The lowered form of an actor's body: what both back ends print.

It is still structured C++ (loops stay loops, branches stay branches) plus labels and jumps. Two rules hold for every
tree of these nodes, since C++ forbids to jump over an initialisation or into a `try`:

- where a Suspend, a Label or a Branches stands, no plain local is in scope: locals live inside a `Scope` that ends
  before;
- a Try or a constexpr If that has labels inside is a `Region`: jumps from outside arrive at its start, and a dispatch
  switch, its first statement, leads to the label.

Each suspension is printed exactly once; code that leads to it may be printed more than once.
"""

from __future__ import annotations

from collections.abc import Mapping

from actorc.records import dataclass
from actorc.source import Pieces, Text


@dataclass(frozen=True, slots=True)
class LabelName:
    """A label, `kind` + number: wait, choose, after, end, catch, clause, try, constexpr."""

    kind: str
    number: int

    def __str__(self) -> str:
        return f"{self.kind}{self.number}"


@dataclass(frozen=True, slots=True)
class Region:
    """A statement that is entered only at its start: a `try`, or one branch of an `if constexpr`."""

    front: LabelName
    branch: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    line: int  # where it begins in the source


@dataclass(frozen=True, slots=True, eq=False)
class Code(Node):
    """C++ that both back ends print alike."""

    pieces: Pieces


@dataclass(frozen=True, slots=True, eq=False)
class Scope(Node):
    body: tuple[Node, ...]
    end_line: int


@dataclass(frozen=True, slots=True, eq=False)
class Loop(Node):
    """`head` is `for (...)`, `while (...)` or `do`, with the `tail` `while (...);`."""

    head: Pieces
    body: Scope
    tail: Pieces = ()


@dataclass(frozen=True, slots=True, eq=False)
class Switch(Node):
    """`head` is `switch (...)`; the labels are Code in the body."""

    head: Pieces
    body: Scope


@dataclass(frozen=True, slots=True, eq=False)
class If(Node):
    head: Pieces  # `if (...)`
    then: Scope
    orelse: Scope | None
    front: LabelName | None = None  # of a constexpr if: its branches are Regions with this front


@dataclass(frozen=True, slots=True)
class NativeCatch:
    """`catch (type)` in C++, which keeps what it has caught and jumps to the handler."""

    type: Pieces | None  # None: `...`
    is_error: bool  # what is kept is an Error
    handler: LabelName


@dataclass(frozen=True, slots=True, eq=False)
class Try(Node):
    region: Region
    body: Scope
    catches: tuple[NativeCatch, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Handler(Node):
    """The code that runs after a jump to `label`; control that comes from above passes it by."""

    label: LabelName
    body: Scope


@dataclass(frozen=True, slots=True, eq=False)
class Operand(Node):
    """`wait__ = ` the awaited thing."""

    function: Pieces  # of flow/wait/operation_room.h, which is called with the place
    place: str
    word: Text  # `wait` or `waitNext`: what is called with the awaited thing
    value: Text
    is_name: bool  # evaluating it makes no temporaries
    dying: str = ""  # the locals in scope, which end before the wait begins: see flow/wait/dying_local.h


@dataclass(frozen=True, slots=True, eq=False)
class ChooseOperands(Node):
    operands: tuple[Operand, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Suspend(Node):
    """Where the actor suspends if what it waits for is not ready. `label` stands in front: see `prefix` in lower.

    `branches`: the numbers of a choose's waits, which are negative if they are for streams.
    """

    number: int
    label: LabelName
    is_choose: bool
    branches: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class IfFailed(Node):
    """A completed wait with an error goes to the handler, or ends the actor. `passed`: a call that returns whether it
    has an error, and releases the unused value. `rethrows`: a clause for a C++ type may take the exception."""

    handler: LabelName | None
    passed: str = ""
    rethrows: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Branches(Node):
    """What follows a choose: one body per `when`, the index of the winner says which."""

    bodies: tuple[Scope, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Assign(Node):
    """`target = wait(f);`, where `f` has been waited for."""

    source: Text
    target: Pieces  # with the `=`
    value: str


@dataclass(frozen=True, slots=True, eq=False)
class Raise(Node):
    error: Pieces
    handler: LabelName | None


@dataclass(frozen=True, slots=True, eq=False)
class Return(Node):
    """`value` None: of a void actor."""

    source: Text  # the statement, or its first line
    value: Pieces | None
    is_never: bool = False
    is_moved: bool = False  # the value is the bare name of a parameter, state variable or local
    is_void_value: bool = False  # the value is `Void()`


@dataclass(frozen=True, slots=True, eq=False)
class Goto(Node):
    label: LabelName


@dataclass(frozen=True, slots=True, eq=False)
class Label(Node):
    label: LabelName


@dataclass(frozen=True, slots=True)
class Variable:
    """A state variable: a member of the state struct, or a local of the coroutine."""

    type: Text
    name: str
    init: Pieces | None  # `(e)` or `{e}` of a leading state; None: value-initialised
    extents: str = ""  # `[2][3]` of an array
    is_erased: bool = False  # a member cannot have the type, since a class around the actor is not complete there
    slot: str = ""  # the type of the StateSlot that the variable may be in; see flow/emitted/state_slot.h
    column: int = 0  # of the name, as in Text
    added: int = 0  # characters of the type before what the source spells
    kept: Pieces = ()  # the range with a lambda that an AnyRange keeps

    @property
    def slot_name(self) -> str:
        return f"{self.name}_slot__"

    @property
    def range_name(self) -> str:
        """Of what a loop goes over; see RangeBy in flow/emitted/range_state.h."""
        return f"by_{self.name}" if self.kept else self.name


@dataclass(frozen=True, slots=True)
class Body:
    """Everything about one actor's body that is the same for both back ends."""

    states: tuple[Variable, ...]
    code: Scope
    ends: bool  # its end can be reached
    waits: bool
    choose_size: int  # most branches of any choose; 0 if there is none
    uses_error: bool  # an error is handed to some handler
    statics: tuple[tuple[str, str], ...]  # types and names of the storage for plain `static` locals
    uses_exception: bool  # an exception of another type is
    propagates: bool  # there are waits, and no handler sees the error of any


@dataclass(frozen=True, slots=True)
class Case:
    """With this code in `entry__`, go to this label. `arrives`: it is the final label, not the start of a region on the
    way."""

    code: int
    label: str
    arrives: bool


@dataclass(frozen=True, slots=True)
class Jumps:
    """How the jumps of a body arrive: see labels.plan."""

    used: frozenset[LabelName]
    may_vanish: bool  # the jumps to a label may stand in the branch of an `if constexpr` that is discarded
    entry: tuple[Case, ...]  # of the switch at the start of the body
    dispatch: Mapping[Region, tuple[Case, ...]]  # of the switch at the start of a region
    through: Mapping[Goto, Case]  # jumps that enter a region: the value of `entry__`, and the region's start label
