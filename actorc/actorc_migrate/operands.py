"""The operands of a choose as variables in front of a race() that takes futures only.

    Future<Void> operand1 = Never();
    Future<int> operand0 = number(6);
    if (!operand0.isReady()) {
        co_await Future<Void>(Void());
        operand1 = signal(8);
        if (operand1.isReady())
            operand0 = Never();
    }
    if (auto chosen = co_await race(std::move(operand0), std::move(operand1)); chosen.index() == 0) ...

As in an actor, no operand is evaluated after one that was ready when it was evaluated. That operand wins, even if
evaluating it made an earlier one ready. A cancelled actor does not evaluate the next operand either: that co_await
throws then, and does not suspend otherwise. An actor releases its first operand first, so the variables are declared in
reverse order.
"""

from __future__ import annotations

from collections.abc import Sequence

from actorc import syntax
from actorc.records import dataclass
from actorc.spelling import one_line
from actorc.syntax import Choose, Statement, WaitExpr
from actorc_migrate.common import Common
from actorc_migrate.edits import Part
from actorc_migrate.spelling import Operand
from actorc_migrate.waits import Waits

_LOOPS = (syntax.Loop, syntax.While, syntax.DoWhile, syntax.For, syntax.RangeFor)

Line = tuple[int, list[Part]]  # by how many units it is indented, and what it says


@dataclass(frozen=True, slots=True)
class Raced:
    """An operand that may be ready."""

    name: str  # of its variable; without one it is given to the race as it stands
    value: list[Part]
    is_made: bool  # to evaluate it makes something
    type: list[Part]
    is_deduced: bool
    silent: str  # what takes its place where it must not win
    silence: list[Part]  # of a stream: the declaration of what that is taken from
    ready: str


class Operands:
    def __init__(self, common: Common, waits: Waits) -> None:
        self._common = common
        self._layout = common.layout
        self._actor = common.actor
        self._body = common.body
        self._words = common.words
        self._library = common.library
        self._waits = waits

    def in_front(self, statement: Choose, resets: Sequence[str], indent: str) -> tuple[list[Part], list[Part]]:
        """The statements before the race, and the operands of the race. `resets`: statements that destroy locals."""
        steps: list[list[Raced]] = [[]]  # nothing can happen between the evaluations of the operands of one step
        given: list[Part] = []
        last = max((n for n, when in enumerate(statement.whens) if resets or self._makes(when.wait)), default=0)
        for number, when in enumerate(statement.whens):
            given += [", "] if number else []
            if self._never_comes(when.wait):
                given.append(self._waits.typed_never(when.wait))
                continue
            operand = self._raced_as(when.wait, number, has_name=number <= last)
            if number and (operand.is_made or resets):
                steps.append([])
            steps[-1].append(operand)
            given += [f"std::move({operand.name})"] if operand.name else operand.value
        dying: list[Line] = [(0, [reset]) for reset in resets]
        checks = self._cancelled_checks(dying) if self._may_be_cancelled(statement) else []
        front: list[Part] = []
        for depth, parts in (*_declared(steps), *self._behind(steps, 0, dying, checks), *dying):
            front += [self._layout.newline + indent + depth * self._layout.unit if front else "", *parts]
        return [*front, self._layout.newline + indent], given

    def _makes(self, wait: WaitExpr) -> bool:
        return not self._never_comes(wait) and not Operand(self._words, wait.operand.span).is_name

    def _never_comes(self, wait: WaitExpr) -> bool:
        return self._waits.is_never(wait) or (wait.result is None and self._waits.says_never(wait))

    def _may_be_cancelled(self, statement: Statement) -> bool:
        """An actor that has not waited yet cannot be cancelled: no future of it exists yet."""
        if self._actor.is_uncancellable or self._actor.result_type is None:
            return False
        for other in syntax.walk(self._body):
            is_behind = isinstance(other, syntax.Wait | Choose) and other.span.start < statement.span.start
            if is_behind or (isinstance(other, _LOOPS) and other.span.start < statement.span.start < other.span.end):
                return True
        return False

    def _raced_as(self, wait: WaitExpr, number: int, *, has_name: bool) -> Raced:
        kind = f"{self._library}Future{'Stream' if wait.is_stream else ''}"
        element: list[Part] = [f"{self._library}Void"]
        is_deduced = wait.result is not None and wait.result.type is None
        type_: list[Part] = ["std::decay_t<decltype(", wait.operand.span, ")>"]
        if is_deduced:
            element = ["std::decay_t<decltype((", wait.operand.span, ").pop())>"]
        else:
            if wait.result is not None:
                element = [one_line(self._common.text(wait.result.type))]
            type_ = [f"{kind}<", *element, ">"]
        name = self._common.free(f"operand{number}") if has_name else ""
        ready = f"{name or one_line(self._common.text(wait.operand))}.isReady()"
        silent, silence = f"{self._library}Never()", list[Part]()
        if wait.is_stream:
            silent = self._common.free(f"never{number}")
            silence = [f"{self._library}PromiseStream<", *element, f"> {silent};"]
            silent += ".getFuture()"
        return Raced(name, self._waits.operand(wait), self._makes(wait), type_, is_deduced, silent, silence, ready)

    def _behind(
        self, steps: Sequence[Sequence[Raced]], number: int, dying: list[Line], checks: list[Line]
    ) -> list[Line]:
        """What is done once a step is evaluated: if it decides, those before it must not win; otherwise the next is
        evaluated."""
        lost: list[Line] = [(0, [f"{each.name} = {each.silent};"]) for step in steps[:number] for each in step]
        next_: list[Line] = []
        if number + 1 < len(steps):
            step = steps[number + 1]
            next_ = [*checks] if step[0].is_made else []
            next_ += [_assigned(each) for each in step if each.name]
            next_ += self._behind(steps, number + 1, dying, checks)
        ready = [each.ready for each in steps[number]]
        if not ready or not (lost or next_):
            return next_
        if not lost:
            return self._bodies((f"if ({' && '.join('!' + each for each in ready)})", next_))
        decided = (f"if ({' || '.join(ready)})", [*dying, *lost])
        return self._bodies(decided, ("else", next_)) if next_ else self._bodies(decided)

    def _cancelled_checks(self, dying: list[Line]) -> list[Line]:
        """Locals are destroyed before the operands."""
        check: Line = (0, [f"co_await {self._library}Future<{self._library}Void>({self._library}Void());"])
        return self._bodies(("try", [check]), ("catch (...)", [*dying, (0, ["throw;"])])) if dying else [check]

    def _bodies(self, *bodies: tuple[str, list[Line]]) -> list[Line]:
        """Heads with what they are followed by, in braces unless that is a single line."""
        if len(bodies) == 1 and len(bodies[0][1]) == 1:
            [(head, [(_, line)])] = bodies
            return [(0, [head]), (1, line)]
        lines: list[Line] = []
        for head, inside in bodies:
            if self._layout.braces_stand_alone:
                lines += [(0, [head]), (0, ["{"])]
            else:
                joined = "} " if lines else ""
                lines = [*lines[: -1 if lines else None], (0, [f"{joined}{head} {{"])]
            lines += [*((depth + 1, parts) for depth, parts in inside), (0, ["}"])]
        return lines


def _assigned(operand: Raced) -> Line:
    return 0, [f"{operand.name} = ", *operand.value, ";"]


def _declared(steps: Sequence[Sequence[Raced]]) -> list[Line]:
    """The variables, of which those of the first step have their values."""
    lines: list[Line] = []
    named = [each for step in steps for each in step if each.name]
    if len(steps) > 1:
        lines += [(0, each.silence) for each in named if each.silence]
    behind = [each for each in steps[0][1:] if each.name and steps[0][0].is_made]
    for each in reversed(named):
        type_ = ["auto"] if each.is_deduced and each in steps[0] and each not in behind else each.type
        value: list[Part] = [f" = {each.silent}"]
        if each in steps[0]:
            value = [] if each in behind else [" = ", *each.value]
        lines.append((0, [*type_, f" {each.name}", *value, ";"]))
    return [*lines, *(_assigned(each) for each in behind)]
