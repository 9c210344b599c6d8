"""`actorc lsp`: talks to an editor over standard input and output until the editor ends it.

Exit status: 0 the editor has ended it; 1 pygls is not installed; 100 wrong arguments.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

from actorc.options import Parser
from actorc.packages import PackageMissing, find_package

EXIT_FAILED = 1


def main(argv: Sequence[str]) -> int:
    parser = Parser(
        prog="actorc lsp",
        description="A language server on standard input and output, which an editor starts beside clangd.",
        allow_abbrev=False,
    )
    parser.parse_args(argv)
    try:
        find_package("pygls", "pygls")
    except PackageMissing as error:
        print(f"actorc: {error}", file=sys.stderr)
        return EXIT_FAILED
    from actorc_lsp.server import make_server  # late: it imports pygls

    gc.enable()  # a server runs for long, unlike a compiler
    make_server().start_io()
    return 0
