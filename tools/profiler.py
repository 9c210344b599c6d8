"""The front of tools/profile. Start it as tools/profile. (A module of that name would hide that of Python.)"""

from __future__ import annotations

import sys

from common.dispatch import run

if __name__ == "__main__":
    # What follows is no command but a program.
    sys.argv.insert(1, "profile")
    sys.exit(run("tools/profile", {"profile": "profilerlib.command"}))
