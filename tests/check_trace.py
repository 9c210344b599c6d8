"""check_trace.py PROGRAM EXPECTED: runs PROGRAM and compares what it prints with the file EXPECTED."""

import difflib
import pathlib
import subprocess
import sys


def main() -> int:
    program, expected_path = sys.argv[1:]
    run = subprocess.run([program], stdout=subprocess.PIPE, text=True, errors="replace", check=False)
    expected = pathlib.Path(expected_path).read_text(encoding="utf-8")
    diff = difflib.unified_diff(
        expected.splitlines(), run.stdout.splitlines(), fromfile=expected_path, tofile=program, lineterm=""
    )
    differences = list(diff)
    for line in differences:
        print(line)
    if run.returncode:
        print(f"{program}: exit code {run.returncode}")
    return 1 if differences or run.returncode else 0


sys.exit(main())
