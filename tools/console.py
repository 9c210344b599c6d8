"""The front of tools/console. Start it as tools/console."""

from __future__ import annotations

import sys

from common.dispatch import run

if __name__ == "__main__":
    # What follows is no command but a path or a number.
    sys.argv.insert(1, "show")
    sys.exit(run("tools/console", {"show": "consolelib.command"}))
