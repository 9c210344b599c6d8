"""millrace port: says what a code base that uses Flow needs."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from millrace.common.arguments import UsageError
from millrace.port.forward import fix
from millrace.port.report import as_json, as_text, headers_as_markdown
from millrace.port.scan import scan, source_files
from millrace.port.vocabulary import Vocabulary


def main(options: argparse.Namespace) -> int:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as when `head` closes the pipe
    folder = options.scan or options.fix
    if folder is not None and not folder.is_dir():
        raise UsageError(f"there is no folder {folder}")
    if options.fix:
        return fix_all(folder)
    vocabulary = Vocabulary.read()
    if options.headers:
        print(headers_as_markdown(vocabulary))
        return 0
    result = scan(folder, vocabulary, with_clang=not options.names)
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
        print(f"millrace port: {path}: {why}", file=sys.stderr)
    return 1 if unread else 0
