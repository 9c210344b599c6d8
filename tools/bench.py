"""tools/bench: finds the command and runs it."""

from __future__ import annotations

import sys

from common.tree import ROOT
from millrace.common.dispatch import run

sys.path.append(str(ROOT / "tests"))  # which starts a database

OVERVIEW = "benchlib.overview.command"
COMMANDS = {
    "net": "benchlib.net.command",
    "http": "benchlib.http.command",
    "postgres": "benchlib.postgres.command",
    "growth": "benchlib.growth.command",
    "messages": "benchlib.messages.command",
    "instructions": "benchlib.instructions.command",
    "frames": "benchlib.frames.command",
    "check": "benchlib.check.command",
    "compiler": "benchlib.compiler.command",
    "profile": "benchlib.profile.command",
    "report": "benchlib.report.command",
    "record": "benchlib.record.command",
    "compare": "benchlib.compare.command",
}

if __name__ == "__main__":
    sys.exit(run("tools/bench", COMMANDS, OVERVIEW))
