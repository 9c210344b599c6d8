"""The summary as one HTML page that needs no other file, in the form of tools/bench report."""

from __future__ import annotations

from collections.abc import Iterable

from benchlib.report.environment import moment
from benchlib.report.model import Cell, Column, Figure, Grid, Part, Remarks, Report, Section
from benchlib.report.page import render
from ensemblelib.summary import Summary
from ensemblelib.words import span


def page(found: Summary) -> str:
    names = ", ".join(test.name for test in found.tests)
    return render(
        Report(
            "Simulations",
            f"{moment()} · {names}" if names else moment(),
            _figures(found),
            [_tests(found), _failures(found), _faults(found), _probes(found)],
        )
    )


def _figures(found: Summary) -> list[Figure]:
    seeds = sum(test.seeds for test in found.tests)
    seconds = sum(test.seconds for test in found.tests)
    seen = sum(found.probes[name] > 0 for name in found.all_probes)
    shown = [
        ("Seeds", f"{seeds:,}", "run, each with faults of its own"),
        ("Simulated time", span(seconds), "in the worlds of all seeds"),
        ("Failures", f"{len(found.failed):,}", "signatures, each a kind of failure"),
        (
            "Faults",
            f"{found.faults.total():,}",
            f"{len(found.never())} of {len(found.all_faults)} kinds never injected",
        ),
        ("Probes", f"{seen} of {len(found.all_probes)}", "seen in some seed"),
    ]
    return [Figure(title, says, (("ours", "", value),)) for title, value, says in shown]


def _grid(title: str, headings: Iterable[tuple[str, bool]], rows: Iterable[Iterable[Cell]]) -> Grid:
    columns = tuple(Column(heading, numeric) for heading, numeric in headings)
    name = title.lower().replace(" ", "-")
    return Grid(f"{name}-table", title, "", columns, tuple(tuple(row) for row in rows))


def _number(value: float, text: str = "") -> Cell:
    return Cell(text or f"{value:,}", value)


def _tests(found: Summary) -> Section:
    headings = (
        ("simulation", False),
        ("runs", True),
        ("seeds", True),
        ("simulated", True),
        ("failed", True),
        ("last", False),
    )
    rows = [
        (
            Cell(test.name),
            _number(test.runs),
            _number(test.seeds),
            _number(test.seconds, span(test.seconds)),
            _number(test.failed),
            Cell(test.last),
        )
        for test in found.tests
    ]
    return Section("simulations", "Simulations", "What was run.", [_grid("Runs", headings, rows)])


def _failures(found: Summary) -> Section:
    parts: list[Part] = []
    if found.failed:
        headings = (("signature", False), ("simulation", False), ("seeds", True), ("smallest", True), ("last", False))
        rows = [
            (
                Cell(each.signature),
                Cell(each.test),
                _number(each.count),
                _number(each.seed, str(each.seed)),
                Cell(each.last),
            )
            for each in found.failed
        ]
        parts.append(_grid("Signatures", headings, rows))
        parts.append(Remarks(tuple(f"{each.again}: {each.text}" for each in found.failed)))
    if found.differences:
        parts.append(Remarks(tuple(f"not deterministic: {each}" for each in found.differences)))
    says = (
        "Grouped by signature; each smallest seed with the command that runs it again." if parts else "Nothing failed."
    )
    return Section("failures", "Failures", says, parts)


def _faults(found: Summary) -> Section:
    headings = (("fault", False), ("times", True), ("in seeds", True))
    rows = [
        (Cell(name), _number(found.faults[name]), _number(found.in_seeds[name]))
        for name in sorted(found.all_faults, key=lambda name: -found.faults[name])
    ]
    never = ", ".join(found.never())
    says = f"Never injected: {never}." if never else "Each was injected."
    return Section("faults", "Faults", says, [_grid("How often", headings, rows)])


def _probes(found: Summary) -> Section:
    headings = (("probe", False), ("in seeds", True))
    rows = [
        (Cell(name), _number(found.probes[name], "" if found.probes[name] else "never"))
        for name in dict.fromkeys([*found.all_probes, *found.probes])
    ]
    says = "Places of the code that a test should get to: one that is never seen was never tested."
    return Section("probes", "Probes", says, [_grid("Seen", headings, rows)])
