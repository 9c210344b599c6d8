"""The command tools/bench record: writes the page of results, so that no page has a figure that was copied by hand."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

from rich.console import Console

from benchlib.arguments import Parser
from benchlib.record.quoted import updated
from benchlib.report.environment import load, machine
from common.tree import ROOT, revision
from millrace.common.console import text_output
from millrace.common.files import write
from millrace.pages.page import moment

PAGE = ROOT / "bench" / "docs" / "results.md"
QUOTING = ROOT / "README.md"  # shows some of its rows

DESCRIPTION = f"""\
Runs the commands that the page of results names, and writes what they print to
{PAGE.relative_to(ROOT)}; README.md quotes some rows of it. Takes some ten minutes on an idle
machine."""


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    module: str
    words: tuple[str, ...]
    shown: str  # the same, as it is typed


SECTIONS = (
    Section("Styles", "benchlib.overview.command", ("--quick",), "tools/bench --quick"),
    Section("Other libraries", "benchlib.overview.command", ("--peers", "--quick"), "tools/bench --peers --quick"),
    Section(
        "Sockets and requests",
        "benchlib.net.command",
        ("--filter", "^(echo/50|rpc)/"),
        "tools/bench net --filter '^(echo/50|rpc)/'",
    ),
    Section("Messages", "benchlib.messages.command", ("--quick",), "tools/bench messages --quick"),
)


def _without_blanks(text: str) -> str:
    """At the ends of lines, where tables have them."""
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def page(console: Console) -> tuple[str, bool]:
    """The page, and whether all could be measured."""
    about = {**machine(), "Revision": revision(), "Time": moment(), "Load before": load()}
    parts = [
        "# Results",
        "`tools/bench record` wrote this page. [Rows and columns](rows.md) says what they are. The machine"
        " is shared: compare figures of one table, not of two.",
        "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in about.items())]),
    ]
    good = True
    for section in SECTIONS:
        text = io.StringIO()
        code = import_module(section.module).main(section.words, console, text_output(text))
        good = good and code == 0
        parts += [f"## {section.title}", f"`{section.shown}`", _without_blanks(text.getvalue())]
    return "\n\n".join(parts) + "\n", good


def main(arguments: Sequence[str], console: Console, out: Console) -> int:
    Parser("tools/bench record", DESCRIPTION, compiler=None, has_loop=False).parse_args(arguments)
    text, good = page(console)
    PAGE.parent.mkdir(exist_ok=True)
    write(PAGE, text)
    write(QUOTING, updated(QUOTING.read_text(encoding="utf-8"), text))
    out.print(f"{PAGE.relative_to(ROOT)} and the tables of {QUOTING.relative_to(ROOT)} are written")
    return 0 if good else 1
