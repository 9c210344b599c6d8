"""Says what a code base that uses Flow needs. Start it as tools/port."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from common.arguments import CommandParser, UsageError
from portlib.forward import fix
from portlib.report import as_json, as_text, headers_as_markdown
from portlib.scan import scan, source_files
from portlib.vocabulary import Vocabulary

DESCRIPTION = """\
Reads the C++ files below a folder, and says which headers and names of Flow
they use, which of them millrace::compat has, and what to do about the others."""
ABOUT_FIX = "includes flow/forward.h where files other than .actor files declare Flow's classes, as `class Void;`"


def main() -> int:
    parser = CommandParser("tools/port", DESCRIPTION)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--scan", type=Path, metavar="FOLDER", help="the code base")
    what.add_argument("--fix", type=Path, metavar="FOLDER", help=ABOUT_FIX)
    what.add_argument("--headers", action="store_true", help="what is here of the headers of Flow, as Markdown")
    parser.add_argument("--json", action="store_true", help="everything, for programs")
    parser.add_argument("--all", action="store_true", help="also the names that are here, one a line")
    try:
        options = parser.parse_args()
        folder = options.scan or options.fix
        if folder is not None and not folder.is_dir():
            raise UsageError(f"there is no folder {folder}")
    except UsageError as error:
        print(f"tools/port: {error}", file=sys.stderr)
        return 2
    if options.fix:
        return fix_all(folder)
    vocabulary = Vocabulary.read()
    if options.headers:
        print(headers_as_markdown(vocabulary))
        return 0
    result = scan(folder, vocabulary)
    print(as_json(result) if options.json else as_text(result, options.all))
    return report(result.unread)


def fix_all(folder: Path) -> int:
    unread: dict[str, str] = {}
    changed = 0
    for file in source_files(folder, unread):
        try:
            if fix(file):
                changed += 1
                print(f"changed {file}")
        except OSError as error:
            unread[str(file)] = error.strerror or str(error)
    print(f"{changed} files changed")
    return report(unread)


def report(unread: dict[str, str]) -> int:
    """The exit status: 1 if something could not be read, or written."""
    for path, why in unread.items():
        print(f"tools/port: {path}: {why}", file=sys.stderr)
    return 1 if unread else 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as when `head` closes the pipe
    sys.exit(main())
