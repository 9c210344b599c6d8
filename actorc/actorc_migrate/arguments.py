"""The command line of `actorc migrate` as typed values."""

from __future__ import annotations

import os
from collections.abc import Sequence

from actorc.options import COLOUR_CHOICES, Parser, before_flags, process_count
from actorc.records import dataclass
from actorc_migrate.settings import STYLES, TARGETS, Settings

REPORT_ENDINGS = (".json", ".html")
MODES = ("write", "diff", "check")


@dataclass(frozen=True, slots=True)
class Arguments:
    paths: tuple[str, ...]
    mode: str  # one of MODES; empty: say what would be done
    settings: Settings
    reports: tuple[str, ...]
    jobs: int
    colour: str
    verifies: bool
    tests: tuple[str, ...]  # commands
    flags: tuple[str, ...] | None  # of the C++ compiler; None: those of a compile_commands.json


def parse(argv: Sequence[str]) -> Arguments:
    """Reads the arguments; exits with EXIT_USAGE if they are wrong."""
    parser = _make_parser()
    words, flags = before_flags(argv, "--verify")
    found = parser.parse_args(words)
    if found.test and not found.verify:
        parser.error("--test belongs to --verify")
    for path in found.report:
        if not path.endswith(REPORT_ENDINGS):
            parser.error(f"{path}: a report is a .json or an .html file")
    return Arguments(
        tuple(found.paths),
        found.mode or "",
        Settings(found.target, found.style),
        tuple(found.report),
        found.jobs,
        found.color,
        found.verify,
        tuple(found.test),
        flags,
    )


def _make_parser() -> Parser:
    parser = Parser(
        prog="actorc migrate",
        description="Turn actors into C++20 coroutines, in place. Without --write nothing is changed.",
        epilog="Exit status: 0 all is migrated; 1 something is left, rejected, or with --check to be done; 3 a fault "
        "of actorc; 100 wrong arguments.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "paths", nargs="+", metavar="PATH", help="files, and folders with all that is below them: actor files are "
        "migrated, other C++ and CMake files are updated"
    )  # fmt: skip
    modes = parser.add_mutually_exclusive_group()
    for mode, text in (
        ("write", "do it: x.actor.cpp becomes x.cpp"),
        ("diff", "print what would change, as a patch"),
        ("check", "name the files that would change"),
    ):
        modes.add_argument(f"--{mode}", dest="mode", action="store_const", const=mode, help=text)
    parser.add_argument("--target", choices=TARGETS, default=TARGETS[0], help="the coroutine library (%(default)s)")
    parser.add_argument(
        "--style", choices=STYLES, default=STYLES[0], help="exact: the same meaning to the letter; idiomatic: as an "
        "engineer would write it, with a note wherever the meaning could differ (%(default)s)"
    )  # fmt: skip
    parser.add_argument(
        "--report", action="append", default=[], metavar="FILE", help="write a report: FILE.json or FILE.html"
    )
    parser.add_argument(
        "--jobs",
        type=process_count,
        metavar="N",
        default=os.cpu_count() or 1,
        help="processes (as many as there are cores)",
    )
    parser.add_argument(
        "--verify", action="store_true", help="compile and run what is migrated before and after, in a temporary copy, "
        "and compare; nothing is written if something differs. Actors with inputs that can be made up are called. The "
        "compiler's flags come behind `--`, or from a compile_commands.json"
    )  # fmt: skip
    parser.add_argument(
        "--test", action="append", default=[], metavar="COMMAND", help="of --verify: run this, too, and compare what "
        "it prints and its exit code; {tree} and $ACTORC_TREE name the copy, in which it is started"
    )  # fmt: skip
    parser.add_argument("--color", choices=COLOUR_CHOICES, default=COLOUR_CHOICES[0], help="of text (%(default)s)")
    return parser
