"""The report of a migration as data: the hazards, the places, and the outcome of each actor."""

from __future__ import annotations

from enum import Enum

from actorc.records import dataclass
from actorc.syntax import Span


class Hazard(Enum):
    """Ways in which an actor and the coroutine that looks like it differ. The codes keep their meaning forever."""

    BLOCK_STATE = ("H1", "state in a block lives to the end of the actor, a local to the end of the block")
    LOCAL_ACROSS_WAIT = ("H2", "a plain local is destroyed at the next wait, in a coroutine with its block")
    REFERENCE_PARAMETER = ("H3", "an actor copies its parameters, a coroutine keeps references")
    WAIT_IN_HANDLER = ("H4", "a handler may wait, a catch block may not")
    DEFAULT_INITIALISED = ("H5", "a state without initialiser is value-initialised, a local is not")
    LAZY_WHEN = ("H6", "a `when` behind a ready one is not evaluated, an argument of race() is")
    LOSING_STREAM = ("H7", "a stream that loses must keep its elements and have no waiter")
    DETACHED = ("H8", "a void or UNCANCELLABLE actor runs on without its future, and its callers must say so")
    REAL_THIS = ("H9", "in a member coroutine `this` is the object, and names are looked up in it")
    LOOP_STATE = ("H10", "a state in a loop is assigned again in each pass, a local is destroyed in each")
    FORWARD_DECLARATION = ("H11", "declarations must take their parameters as the definition does")
    SIMPLIFIED_WAIT = ("H12", "without success() or store() another owns the value")
    SWALLOWED_CANCEL = ("H13", "a handler that swallows actor_cancelled")
    LAMBDA_CAPTURES = ("H14", "the captures of a coroutine are in its lambda, not in its frame")
    FRAME_LIFETIME = ("H15", "the library keeps parameters for as long as the future is held")
    RETURN_NEVER = ("H16", "`return Never()` releases what the actor holds, waiting forever does not")
    AWAITED_LVALUE = ("H17", "the library's awaiter refers to the awaited future")
    FOREIGN_EXCEPTION = ("H18", "`catch (Error&)` takes every exception in an actor, only Errors in a coroutine")
    TEMPORARIES = ("H19", "the operand's temporaries are destroyed before a wait suspends, but after a co_await")
    ACTOR_CLASS = ("H20", "the name of an actor's class is used, which no longer exists")
    TEMPLATE_VOID = ("H21", "the library's coroutines of a template cannot return what may be a Void")
    REFERENCE_COUNT = ("H22", "a coroutine holds other references to futures than its actor, which a count shows")

    def __init__(self, code: str, title: str) -> None:
        self.code = code
        self.title = title


@dataclass(frozen=True, slots=True)
class Note:
    """A place at which the reader must look. Offsets are those of the source before the migration."""

    hazard: Hazard
    span: Span
    actor: str  # its name; empty outside of actors
    message: str  # why it could matter here
    instead: str  # what keeps the meaning to the letter; empty where the result does already
    is_open: bool = False  # the result is wrong before the reader has done that


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one actor or test case, defined or declared."""

    name: str
    span: Span
    constructs: dict[str, int]  # what was converted: "wait", "choose", "handler with waits", ...
    left: str  # why it stays an actor; empty if it does not
    propagates_errors: bool = False  # it has no handler around a wait: errors could end it without being thrown
    void_ends: tuple[int, ...] | None = None  # offsets: where ` Void()` comes if it gets a parameter ExplicitVoid


@dataclass(frozen=True, slots=True)
class Conversion:
    """Of the actors of one file."""

    outcomes: tuple[Outcome, ...]
    notes: tuple[Note, ...]
