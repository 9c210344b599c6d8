"""The command tools/bench frames: prints the sizes and the members of the benchmarks' actors and coroutines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from actorc_frames.command import as_document
from actorc_frames.layout import FIXED, KINDS, Layout
from actorc_frames.tables import details
from benchlib.arguments import PRESETS, TARGET, Parser, compilers
from benchlib.frames.gather import choose, counted, disagreements, frames_of, side_by_side, style_of
from common.build import build
from millrace.bench.results import TITLES
from millrace.bench.suite import compiled
from millrace.common.files import check_writable, write
from millrace.common.table import Table

MANY = 4  # functions for which each member is shown

DESCRIPTION = f"""\
Shows what the bytes of each actor and coroutine of the benchmarks are, ACTOR and
coroutine side by side, the most wasteful first: from the debug information of the
program that is measured. FILTER is found in the name of a function (increment) or of a
benchmark (NET2); of up to {MANY} functions each member is shown. For your own sources there
is `actorc --frames`."""

EPILOG = """\
It runs each benchmark once, and fails if one counts other bytes than are shown here.

The JSON has what `actorc --frames --json` prints of each frame, and its benchmark style.

Exit code: 0 success, 1 the build failed or the two disagree, 2 wrong arguments."""


def main(arguments: Sequence[str], console: Console, out: Console) -> int:
    parser = Parser("tools/bench frames", DESCRIPTION, EPILOG, has_loop=False)
    parser.add_argument("filter", nargs="?", default="", metavar="FILTER", help="a regular expression; default: all")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all that is known to FILE as well")
    options = parser.parse_args(arguments)
    compiled(options.filter)
    if options.json:
        check_writable(options.json)
    found, wrong, agreed = [], [], 0
    for compiler in compilers(options):
        build(PRESETS[compiler], console, [TARGET])
        frames = frames_of(compiler)
        found.append(choose(frames, options.filter))
        measured = counted(compiler)
        problems = disagreements(frames, measured)
        wrong += [f"{compiler}: {problem}" for problem in problems]
        agreed += len(measured) - len(problems)
    rows = side_by_side(found)
    if options.json:
        write(options.json, json.dumps(document(rows), indent=2) + "\n")
    show(rows, out)
    out.print(f"\n{agreed} benchmarks have as many bytes as their programs count")
    for problem in wrong:
        out.print(f"error: {problem}")
    return 1 if wrong else 0


def heading(layout: Layout) -> str:
    return f"{TITLES.get(style_of(layout), style_of(layout))} {layout.compiler}"


def show(rows: Mapping[str, Sequence[Layout]], out: Console) -> None:
    out.print()
    out.print(table(rows, plain=not out.is_terminal))
    if len(rows) <= MANY:
        for row in rows.values():
            out.print()
            for line in details(row, heading):
                out.print(line, soft_wrap=True)


def table(rows: Mapping[str, Sequence[Layout]], plain: bool) -> Table:
    """A line for each frame: its bytes, its block, and how many of them are of each kind."""
    free = [kind for kind in KINDS if kind not in FIXED]
    kinds = [kind for kind in free if any(layout.bytes_of(kind) for row in rows.values() for layout in row)]
    result = Table("bytes of frames", plain, optional=[*reversed(kinds), "fixed"])
    result.texts("function", "style")
    result.numbers("bytes", "block", "waste", "fixed", *kinds)
    for name, row in rows.items():
        for layout in row:
            sums = (layout.bytes_of(kind) for kind in kinds)
            cells = (layout.size, layout.block, layout.waste, layout.bytes_of(*FIXED), *sums)
            result.add_row(name, heading(layout), *(str(cell) if cell else "-" for cell in cells))
    return result


def document(rows: Mapping[str, Sequence[Layout]]) -> dict[str, object]:
    frames = [as_document(layout) | {"bench_style": style_of(layout)} for row in rows.values() for layout in row]
    return {"version": 1, "frames": frames}
