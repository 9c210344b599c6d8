"""Assembles the report from the measurements."""

from __future__ import annotations

from benchlib.report.gather import Measured
from benchlib.report.sections import flames, frames, growth, history, instructions, peers, times
from millrace.common.table import Table
from millrace.pages.model import Figure, Grid, Missing, Report, Section


def assemble(found: Measured) -> Report:
    compilers = [build.partition(",")[0] for build in found.builds.values()]
    return Report(
        "Millrace benchmarks",
        " · ".join(filter(None, [found.revision, found.moment, *compilers, found.busy])),
        _glance(found),
        [
            times.section(found.suite),
            growth.section(found.growth),
            instructions.section(found.instructions),
            frames.section(found.frames),
            flames.section(found.profile),
            peers.section(found.peers),
            history.section(found.history),
            _environment(found),
        ],
        found.problems,
    )


def _glance(found: Measured) -> list[Figure]:
    """Of the first compiler that has figures."""
    rows = next((rows for rows in found.suite.values() if not isinstance(rows, Missing)), [])
    return times.glance(rows)


def _environment(found: Measured) -> Section:
    facts = {"Revision": found.revision, "Date": found.moment}
    facts |= {f"Built with {compiler}": build for compiler, build in found.builds.items()}
    facts |= found.machine
    facts |= {f"Noise, {compiler}": noise.removeprefix("noise: ") for compiler, noise in found.noise.items() if noise}
    table = Table("", plain=True)
    table.texts("what", "value")
    for name, value in facts.items():
        table.add_row(name, value)
    return Section(
        "environment",
        "Environment",
        "What the figures above were measured on and with. On a busy machine trust ratios within one run, and the "
        "minima, more than single times.",
        [Grid("machine", "Machine and build", "", table, ordered=True)],
    )
