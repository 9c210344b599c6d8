"""The arguments of millrace port."""

from __future__ import annotations

from pathlib import Path

from millrace.common.arguments import CommandParser

DESCRIPTION = """\
Reads the C++ files below a folder, and says which headers and names of Flow
they use, which of them millrace::compat has, and what to do about the others.
If a compile_commands.json has the flags of a file, clang reads it, and also
finds members, macros, arguments and types. In other files it looks for names."""
ABOUT_FIX = "includes flow/forward.h where files other than .actor files declare Flow's classes, as `class Void;`"


def parser() -> CommandParser:
    result = CommandParser("millrace port", DESCRIPTION)
    what = result.add_mutually_exclusive_group(required=True)
    what.add_argument("--scan", type=Path, metavar="FOLDER", help="the code base")
    what.add_argument("--fix", type=Path, metavar="FOLDER", help=ABOUT_FIX)
    what.add_argument("--headers", action="store_true", help="what is here of the headers of Flow, as Markdown")
    result.add_argument("--names", action="store_true", help="read no file with clang: seconds for 1,000 files")
    result.add_argument("--json", action="store_true", help="everything, for programs")
    result.add_argument("--all", action="store_true", help="also the names that are here, one a line")
    return result
