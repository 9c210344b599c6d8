"""check_trace.py PROGRAM EXPECTED [--any-numbers]: runs PROGRAM and compares what it prints with the file EXPECTED.

With --any-numbers other numbers are as good as those in the file. The variable EMULATOR may have a command that runs
programs of another processor.
"""

import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys


def main() -> int:
    program, expected_path, *options = sys.argv[1:]
    command = [*shlex.split(os.environ.get("EMULATOR", "")), program]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, errors="replace", check=False)
    expected, found = pathlib.Path(expected_path).read_text(encoding="utf-8"), run.stdout
    if options == ["--any-numbers"]:
        expected, found = (re.sub(r"\d+", "0", text) for text in (expected, found))
    diff = difflib.unified_diff(
        expected.splitlines(), found.splitlines(), fromfile=expected_path, tofile=program, lineterm=""
    )
    differences = list(diff)
    for line in differences:
        print(line)
    if run.returncode:
        print(f"{program}: exit code {run.returncode}")
    return 1 if differences or run.returncode else 0


sys.exit(main())
