"""Builds the pages as a site. Start it as tools/docs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from common.tree import ROOT

DESCRIPTION = """\
Builds all pages as a site in build/docs; open build/docs/index.html. A link
that leads nowhere is an error."""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="tools/docs", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "docs", metavar="FOLDER")
    output: Path = parser.parse_args().output.resolve()
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        print(f"tools/docs: {output}: {error.strerror}", file=sys.stderr)
        return 2
    from docslib.site import build_site  # here, so that --help needs no package

    code = build_site(output)
    if not code:
        print(f"site: {output / 'index.html'}")
    return code


if __name__ == "__main__":
    sys.exit(main())
