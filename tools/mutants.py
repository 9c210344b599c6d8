"""The front of tools/mutants. Start it as tools/mutants."""

from __future__ import annotations

import sys

from millrace.common.dispatch import run

if __name__ == "__main__":
    # What follows is no command but a folder.
    sys.argv.insert(1, "hunt")
    sys.exit(run("tools/mutants", {"hunt": "mutantslib.command"}))
