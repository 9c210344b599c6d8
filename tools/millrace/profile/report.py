"""What millrace profile shows: tables on the terminal, and one page with flame graphs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from millrace.common.table import Table
from millrace.flame.graph import flame_graph
from millrace.pages.model import Figure, Flame, Grid, Missing, Part, Report, Section
from millrace.pages.page import moment, render
from millrace.profile.attribution import Spent, top_functions
from millrace.profile.causes import UNMAPPED
from millrace.profile.steps import Steps

MOST = 100  # rows of a table on the page
SHOWN = 15  # on the terminal

Rows = list[tuple[str | float, ...]]


@dataclass(frozen=True, slots=True)
class Found:
    title: str
    how: str
    order: Sequence[str]  # of causes
    spent: Spent | None  # in ms; none: nothing could be sampled
    steps: Steps | None
    problems: list[str]  # what could not be measured


@dataclass(frozen=True, slots=True)
class _Table:
    id: str
    title: str
    says: str
    texts: tuple[str, ...]
    numbers: tuple[str, ...]
    rows: Rows

    def shown(self, title: str, most: int, plain: bool) -> Table:
        result = Table(title, plain)
        result.texts(*self.texts)
        result.numbers(*self.numbers)
        for row in self.rows[:most]:
            result.add_row(*(cell if isinstance(cell, str) else number(cell) for cell in row))
        return result


def causes(spent: Spent, order: Sequence[str]) -> _Table:
    rows: Rows = []
    for cause in (*order, UNMAPPED):
        amount = spent.causes.get(cause, 0.0)
        if not amount:
            continue
        name = "user code, and what has no cause" if cause == UNMAPPED else cause
        rows.append((name, ", ".join(top_functions([spent], cause)), amount, 100 * spent.share(cause)))
    rows.sort(key=lambda row: -float(row[2]))
    says = "What the processor was busy with, from samples: profile/causes.toml of millrace says what counts for what."
    return _Table("causes", "By cause", says, ("cause", "functions"), ("ms", "%"), rows)


def actors(steps: Steps) -> _Table:
    busy = steps.busy or 1.0
    rows: Rows = [
        (name, chain.steps, 1000 * chain.seconds, 100 * chain.seconds / busy, 1e6 * chain.seconds / max(chain.steps, 1))
        for name, chain in steps.by_actor().items()
        if chain.steps
    ]
    rows.sort(key=lambda row: -float(row[2]))
    says = (
        "The time of a step counts for the actor that it resumes first. It is time by the clock, measured in the loop."
    )
    return _Table("actors", "By actor", says, ("actor",), ("steps", "ms", "%", "µs a step"), rows)


def chains(steps: Steps) -> _Table:
    rows: Rows = [
        (names[-1], " ← ".join(reversed(names[:-1])), chain.steps, 1000 * chain.seconds)
        for names, chain in steps.chains.items()
        if chain.steps
    ]
    rows.sort(key=lambda row: -float(row[3]))
    says = "The same by what awaited the actor when it ran, the nearest first."
    return _Table("callers", "By actor and its async callers", says, ("actor", "awaited by"), ("steps", "ms"), rows)


def delays(steps: Steps) -> _Table:
    rows: Rows = [
        (
            str(priority),
            delay.steps,
            1e6 * delay.seconds / max(delay.steps, 1),
            1e6 * delay.at_most(0.5),
            1e6 * delay.at_most(0.99),
            1e6 * delay.longest,
        )
        for priority, delay in sorted(steps.delays.items(), reverse=True)
    ]
    says = "How long steps were ready before they ran, in µs. 50 % and 99 % are rounded up to powers of two."
    return _Table("delays", "In the run queue", says, ("priority",), ("steps", "mean", "50 %", "99 %", "longest"), rows)


def allocations(steps: Steps) -> _Table:
    rows: Rows = [
        (name, chain.allocations, chain.allocations / max(chain.steps, 1))
        for name, chain in steps.by_actor().items()
        if chain.allocations
    ]
    rows.sort(key=lambda row: -float(row[1]))
    says = "Blocks that FastAllocator gave while a step of the actor ran."
    return _Table("allocations", "Allocations by actor", says, ("actor",), ("blocks", "a step"), rows)


def tables(found: Found) -> Iterator[_Table]:
    if found.spent:
        yield causes(found.spent, found.order)
    if found.steps:
        yield actors(found.steps)
        yield chains(found.steps)
        yield delays(found.steps)
        if found.steps.counts_allocations:
            yield allocations(found.steps)


def number(value: float) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}" if value else "0"


def printed(found: Found, plain: bool) -> Iterator[Table | str]:
    yield f"{found.title}; {found.how}"
    for table in tables(found):
        yield ""
        yield table.shown(table.title, SHOWN, plain)
    yield from found.problems


def page(found: Found) -> str:
    sections = []
    for table in tables(found):
        grid = Grid(f"{table.id}-table", table.title, "", table.shown("", MOST, plain=True))
        sections.append(Section(table.id, table.title, table.says, [grid]))
    flames: list[Part] = []
    if found.spent:
        kinds = {name: "user code" if kind == UNMAPPED else kind for name, kind in found.spent.kinds.items()}
        graph = flame_graph(found.spent.stacks, kinds=kinds, order=found.order)
        flames.append(Flame("flame-calls", "Calls", "From samples, in ms. Colours are causes.", graph))
    if found.steps:
        graph = flame_graph(found.steps.stacks())
        flames.append(Flame("flame-steps", "Awaiters", "Steps, in ms: an actor stands on what awaits it.", graph))
    if not flames:
        flames.append(Missing("nothing was measured"))
    says = "A frame is as wide as it takes. Click to look into a frame, and the lowest one to go back."
    sections.append(Section("flames", "Flame graphs", says, flames))
    report = Report(found.title, f"{moment()} · {found.how}", list(_figures(found)), sections, found.problems)
    return render(report)


def _figures(found: Found) -> Iterator[Figure]:
    values: list[tuple[str, str, str]] = []
    if found.spent:
        values.append(("Processor time", f"{found.spent.total:,.0f} ms", f"{found.spent.samples:,.0f} samples"))
    if found.steps:
        steps = sum(chain.steps for chain in found.steps.chains.values())
        busy = f"of {1000 * found.steps.seconds:,.0f} ms; loops: {found.steps.loops}"
        values += [("Steps", f"{steps:,}", "that loops ran"), ("In steps", f"{1000 * found.steps.busy:,.0f} ms", busy)]
    for title, value, says in values:
        yield Figure(title, says, (("ours", "", value),))
