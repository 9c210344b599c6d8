"""The front of all measuring: finds the command and runs it. Start it as tools/bench."""

from __future__ import annotations

import sys

from common.dispatch import run

OVERVIEW = "perf.overview.command"
COMMANDS = {
    "net": "perf.net.command",
    "growth": "perf.growth.command",
    "allocators": "perf.allocators.command",
    "messages": "perf.messages.command",
    "instructions": "perf.instructions.command",
    "frames": "perf.frames.command",
    "check": "perf.check.command",
    "compiler": "perf.compiler.command",
    "profile": "perf.profile.command",
    "report": "perf.report.command",
    "compare": "perf.compare.command",
}

if __name__ == "__main__":
    sys.exit(run("tools/bench", COMMANDS, OVERVIEW))
