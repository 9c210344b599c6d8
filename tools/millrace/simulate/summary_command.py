"""millrace simulate summary: summarises all runs, on the terminal or as a page."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from rich.console import Console

from millrace.common.arguments import UsageError, unknown
from millrace.common.files import check_writable, write
from millrace.common.packages import require
from millrace.common.table import Table
from millrace.simulate.ledger import opened
from millrace.simulate.shrink_command import first_line
from millrace.simulate.summary import Summary, summary
from millrace.simulate.words import span


def main(options: argparse.Namespace, console: Console, out: Console) -> int:
    if options.html:
        check_writable(options.html)
    with opened(options.ledger, must_be=True) as ledger:
        found = summary(ledger, options.test)
        if options.test and not found.tests:
            every = [each.name for each in summary(ledger).tests]
            raise UsageError(unknown("simulation", options.test, every))
    if options.html:
        require("millrace simulate summary --html", "jinja2")
        from millrace.simulate.page import page

        write(options.html, page(found))
        out.print(f"page: {options.html}", soft_wrap=True)
        return 0
    for each in _printed(found, not out.is_terminal):
        out.print(each, soft_wrap=isinstance(each, str))
    return 0


def _printed(found: Summary, plain: bool) -> Iterator[Table | str]:
    tests = Table("simulations", plain)
    tests.texts("simulation")
    tests.numbers("runs", "seeds", "simulated", "failed", "last")
    for test in found.tests:
        tests.add_row(test.name, f"{test.runs:,}", f"{test.seeds:,}", span(test.seconds), f"{test.failed:,}", test.last)
    yield tests
    yield ""
    faults = Table("faults", plain)
    faults.texts("fault")
    faults.numbers("times", "in seeds")
    for name, count in found.faults.most_common():
        faults.add_row(name, f"{count:,}", f"{found.in_seeds[name]:,}")
    yield faults
    yield f"never injected: {', '.join(found.never()) or 'none'}\n"
    probes = Table("probes", plain)
    probes.texts("probe")
    probes.numbers("in seeds")
    for name in dict.fromkeys([*found.all_probes, *found.probes]):
        probes.add_row(name, f"{found.probes[name]:,}" if found.probes[name] else "never")
    if probes.row_count:
        yield probes
    for each in found.failed:
        yield f"\n{each.test}, {each.count:,} {'seed' if each.count == 1 else 'seeds'}: {each.signature}"
        yield f"  seed {each.seed}: {first_line(each.text)}\n  again: {each.again}"
    for difference in found.differences:
        yield f"\nnot deterministic: {difference}"
