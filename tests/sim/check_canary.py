"""The harness of simulations is tested by what it must find: a canary that forgets to sync, and a ledger that does not.

check_canary.py PROGRAM: runs millrace simulate with the program of simulations.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

MILLRACE = Path(__file__).resolve().parents[2] / "tools" / "millrace"


def run(program: str, folder: str, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, str(MILLRACE), "simulate", "run", *arguments, "--seeds", "0..99", "--jobs", "1"]
    command += ["--program", program, "--ledger", f"{folder}/ledger.sqlite"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    print(done.stdout, done.stderr, sep="")
    return done.returncode, done.stdout


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        code, said = run(sys.argv[1], folder, "canary", "--shrink")
        found = re.search(r"^\d+ seeds?: # records were acknowledged, and # are there$", said, re.MULTILINE)
        small = re.search(r"^  seed \d+ of canary with (.*) \(of", said, re.MULTILINE)
        if code != 1 or not found or not small:
            return 1
        if not re.search(r"\d powerLoss", small[1]) or not re.search(r"\d disk(Lost|Reordered)Write", small[1]):
            return 1
        return run(sys.argv[1], folder, "ledger")[0]


sys.exit(main())
