"""tools/ensemble summary: summarises all runs, on the terminal or as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console

from common.arguments import CommandParser, UsageError, unknown
from common.files import check_writable, write
from common.table import Table
from ensemblelib.ledger import add_ledger, opened
from ensemblelib.page import page
from ensemblelib.shrink_command import first_line
from ensemblelib.summary import Summary, summary
from ensemblelib.words import span

DESCRIPTION = """\
Prints what all runs in a ledger have shown: seeds and simulated time, how often each
fault was injected and which never was, the probes that were seen and that never were, and
what failed."""


def main(arguments: Sequence[str], console: Console, out: Console) -> int:
    parser = CommandParser("tools/ensemble summary", DESCRIPTION)
    parser.add_argument("test", metavar="TEST", nargs="?", default="", help="a simulation; default: all")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write it as a page that needs no network")
    add_ledger(parser)
    options = parser.parse_args(arguments)
    if options.html:
        check_writable(options.html)
    with opened(options.ledger, must_be=True) as ledger:
        found = summary(ledger, options.test)
        if options.test and not found.tests:
            every = [each.name for each in summary(ledger).tests]
            raise UsageError(unknown("simulation", options.test, every))
    if options.html:
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
