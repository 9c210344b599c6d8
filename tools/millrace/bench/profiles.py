"""What profiles of benchmarks say: tables, a file, and flame graphs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from millrace.bench.causes_table import causes_table, lines_table, summary
from millrace.bench.measure import Row
from millrace.bench.results import TITLES
from millrace.common.files import write
from millrace.profile.causes import UNMAPPED, Attribution

MOST_UNMAPPED = 0.05


def report(found: Sequence[Row], about: str, lines: int, attribution: Attribution, out: Console) -> None:
    """`lines`: so many lines of the sources of each."""
    plain = not out.is_terminal
    out.print(f"\n{about}", soft_wrap=True)
    for row in found:
        title = f"{', '.join(filter(None, (row.label, row.compiler)))}: ns per item"
        out.print()
        out.print(causes_table(title, row.spent, attribution.order, plain))
        if text := summary(row.spent):
            out.print(text)
        out.print(remark(row))
        if lines:
            for style, one in row.spent.items():
                label = ", ".join(filter(None, (row.label, TITLES.get(style, style))))
                out.print()
                out.print(lines_table(f"{label}: lines", one, lines, plain))


def remark(row: Row) -> str:
    """The basis of the numbers."""
    parts = []
    for style, one in row.spent.items():
        outside = f", and {one.outside:.1%} more outside of the passes" if one.outside >= 0.001 else ""
        lacking = " (causes.toml lacks a rule)" if one.share(UNMAPPED) > MOST_UNMAPPED else ""
        found = f"{one.samples:.0f} samples{outside}, {one.share(UNMAPPED):.1%} unmapped{lacking}"
        parts.append(f"{TITLES.get(style, style)} {found}".strip())
    return "; ".join(parts)


def document(found: Sequence[Row], context: dict[str, str]) -> dict[str, Any]:
    """The document of --json."""
    profiles = [
        {
            "benchmark": row.label,
            "compiler": row.compiler,
            "style": style,
            "per_item": one.total,
            "samples": one.samples,
            "outside": one.outside,
            "causes": {
                cause: {
                    "per_item": amount,
                    "share": one.share(cause),
                    "functions": {name: part for (of, name), part in one.functions.items() if of == cause},
                }
                for cause, amount in one.causes.items()
            },
        }
        for row in found
        for style, one in row.spent.items()
    ]
    return {"context": context, "profiles": profiles}


def write_flames(found: Sequence[Row], folder: Path, about: str, how: str, attribution: Attribution) -> None:
    """A page for each benchmark."""
    # Only pages need these packages.
    from millrace.bench.flames import flames
    from millrace.pages.model import Report, Section
    from millrace.pages.page import render

    for row in found:
        name = re.sub(r"[^\w.-]+", "-", "-".join(filter(None, (row.label.strip("/"), row.compiler))))
        section = Section("flames", "Flame graphs", how, list(flames(row, attribution.order)))
        title = ", ".join(filter(None, (row.label, row.compiler)))
        write(folder / f"{name}.html", render(Report(title, about, [], [section])))
