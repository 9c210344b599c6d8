"""tools/ensemble: finds the command and runs it."""

from __future__ import annotations

import sys

from common.dispatch import run

USAGE = """\
usage: tools/ensemble run TEST --seeds FIRST..LAST     run seeds of a simulation, or of all
       tools/ensemble shrink TEST --seed S             find the faults that make a seed fail
       tools/ensemble summary [TEST] [--html FILE]     what all runs so far have shown

tools/ensemble COMMAND --help says more."""

COMMANDS = {
    "run": "ensemblelib.run_command",
    "shrink": "ensemblelib.shrink_command",
    "summary": "ensemblelib.summary_command",
}

if __name__ == "__main__":
    if sys.argv[1:] in (["--help"], ["-h"]):
        print(USAGE)
        sys.exit(0)
    sys.exit(run("tools/ensemble", COMMANDS, failed=2))  # 1: a seed has failed
