"""How jumps arrive: which labels are used, and the switches that lead into `try` and `if constexpr`.

Resuming at suspension N is the code N; arriving at its operand's label from a run that stands outside is the code -N.
"""

from __future__ import annotations

from collections.abc import Iterable

from actorc.lower.lowered import (
    Assign,
    Branches,
    Case,
    ChooseOperands,
    Code,
    Goto,
    Handler,
    If,
    IfFailed,
    Jumps,
    Label,
    LabelName,
    Loop,
    Node,
    Operand,
    Raise,
    Region,
    Return,
    Scope,
    Suspend,
    Switch,
    Try,
)
from actorc.syntax import unknown

Regions = tuple[Region, ...]


def plan(body: Scope, *, resumes: bool) -> Jumps:
    """The jumps of a body. `resumes`: its suspensions are labels, to which the switches lead."""
    finder = _Finder()
    finder.visit(body, ())
    return _Planner(finder, resumes).jumps()


class _Finder:
    """Where labels and jumps stand: in which regions, outermost first."""

    def __init__(self) -> None:
        self.suspends: dict[int, Regions] = {}
        self.labels: dict[LabelName, Regions] = {}
        self.gotos: list[tuple[Goto, Regions]] = []
        self.numbers: dict[LabelName, int] = {}
        self.has_constexpr = False

    def visit(self, node: Node, regions: Regions) -> None:
        match node:
            case Suspend(number=number, label=label):
                self.suspends[number] = regions
                self.labels[label] = regions
                self.numbers[label] = number
            case Label(label=label):
                self.labels[label] = regions
            case Goto():
                self.gotos.append((node, regions))
            case Scope(body=body):
                for inner in body:
                    self.visit(inner, regions)
            case Loop(body=body) | Switch(body=body) | Handler(body=body):
                self.visit(body, regions)
            case If():
                self._visit_if(node, regions)
            case Try(region=region, body=body):
                self.visit(body, (*regions, region))
            case Branches(bodies=bodies):
                for body in bodies:
                    self.visit(body, regions)
            case Code() | Operand() | ChooseOperands() | IfFailed() | Assign() | Raise() | Return():
                pass
            case _:
                raise unknown(node)

    def _visit_if(self, node: If, regions: Regions) -> None:
        self.has_constexpr = self.has_constexpr or node.front is not None
        for branch, scope in enumerate((node.then, node.orelse)):
            if scope is not None:
                inside = regions if node.front is None else (*regions, Region(node.front, branch))
                self.visit(scope, inside)


class _Planner:
    def __init__(self, finder: _Finder, resumes: bool) -> None:
        self._finder = finder
        self._resumes = resumes
        self._used: set[LabelName] = set()
        self._entry: dict[int, Case] = {}
        self._dispatch: dict[Region, dict[int, Case]] = {}
        self._through: dict[Goto, Case] = {}

    def jumps(self) -> Jumps:
        if self._resumes:
            for number, regions in sorted(self._finder.suspends.items()):
                first = self._lead(number, f"resume{number}", regions)
                self._entry[number] = first
        for goto, regions in self._finder.gotos:
            self._add(goto, regions)
        return Jumps(
            frozenset(self._used),
            self._finder.has_constexpr,
            tuple(self._entry.values()),
            {region: tuple(cases.values()) for region, cases in self._dispatch.items()},
            self._through,
        )

    def _add(self, goto: Goto, regions: Regions) -> None:
        target = self._finder.labels[goto.label]
        self._used.add(goto.label)
        inside = target[_common(regions, target) :]
        if inside:
            self._through[goto] = self._lead(-self._finder.numbers[goto.label], str(goto.label), inside)

    def _lead(self, code: int, label: str, regions: Regions) -> Case:
        """Make a way through regions to a label; returns its first step."""
        steps = [Case(code, str(region.front), arrives=False) for region in regions]
        steps.append(Case(code, label, arrives=True))
        for region, step in zip(regions, steps[1:], strict=True):
            self._dispatch.setdefault(region, {})[code] = step
            self._used.add(region.front)
        return steps[0]


def _common(one: Iterable[Region], other: Iterable[Region]) -> int:
    """How many regions two places are both in."""
    count = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        count += 1
    return count
