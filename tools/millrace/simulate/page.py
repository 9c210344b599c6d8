"""The summary as one HTML page that needs no other file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from millrace.common.table import Table
from millrace.pages.model import Figure, Grid, Part, Remarks, Report, Section
from millrace.pages.page import moment, render
from millrace.simulate.summary import Summary
from millrace.simulate.words import span


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


def _grid(title: str, texts: Sequence[str], numbers: Sequence[str], rows: Iterable[Sequence[str | int]]) -> Grid:
    table = Table("", plain=True)
    table.texts(*texts)
    table.numbers(*numbers)
    for row in rows:
        table.add_row(*(cell if isinstance(cell, str) else f"{cell:,}" for cell in row))
    return Grid(f"{title.lower().replace(' ', '-')}-table", title, "", table)


def _tests(found: Summary) -> Section:
    rows = [(test.name, test.last, test.runs, test.seeds, round(test.seconds), test.failed) for test in found.tests]
    grid = _grid("Runs", ("simulation", "last"), ("runs", "seeds", "simulated s", "failed"), rows)
    return Section("simulations", "Simulations", "What was run.", [grid])


def _failures(found: Summary) -> Section:
    parts: list[Part] = []
    if found.failed:
        rows = [(each.signature, each.test, each.last, each.count, str(each.seed)) for each in found.failed]
        parts.append(_grid("Signatures", ("signature", "simulation", "last"), ("seeds", "smallest"), rows))
        parts.append(Remarks(tuple(f"{each.again}: {each.text}" for each in found.failed)))
    if found.differences:
        parts.append(Remarks(tuple(f"not deterministic: {each}" for each in found.differences)))
    says = (
        "Grouped by signature; each smallest seed with the command that runs it again." if parts else "Nothing failed."
    )
    return Section("failures", "Failures", says, parts)


def _faults(found: Summary) -> Section:
    rows = [
        (name, found.faults[name], found.in_seeds[name])
        for name in sorted(found.all_faults, key=lambda name: -found.faults[name])
    ]
    never = ", ".join(found.never())
    says = f"Never injected: {never}." if never else "Each was injected."
    return Section("faults", "Faults", says, [_grid("How often", ("fault",), ("times", "in seeds"), rows)])


def _probes(found: Summary) -> Section:
    names = dict.fromkeys([*found.all_probes, *found.probes])
    if not names:
        return Section("probes", "Probes", "These simulations have no probes.")
    rows = [(name, found.probes[name] or "never") for name in names]
    says = "Places of the code that a test should get to: one that is never seen was never tested."
    return Section("probes", "Probes", says, [_grid("Seen", ("probe",), ("in seeds",), rows)])
