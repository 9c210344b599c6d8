"""Runs h2spec against our HTTP/2 server: check_h2spec.py PROGRAM FOLDER, where FOLDER is for what Go builds.

One of the 145 cases may fail: it sends a wrong preface, and takes our answer for no end of the connection. A port that
takes both versions answers 400 in HTTP/1.1 to what is no preface.
"""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "examples"))

from server import running  # noqa: E402

CASES, LEAST = 145, 144


def main() -> None:
    program, folder = sys.argv[1:]
    if not shutil.which("go"):
        print("skipped: Go is not installed; tools/setup net installs it")
        return
    h2spec = pathlib.Path(folder) / "h2spec"
    subprocess.run(["go", "build", "-mod=readonly", "-o", h2spec, "main.go"], cwd=HERE, check=True)
    with running(program) as (_, port):
        done = subprocess.run([h2spec, str(port)], capture_output=True, text=True, timeout=300, check=False)
    counts = re.search(r"^(\d+) tests, (\d+) passed", done.stdout, re.MULTILINE)
    assert counts, done.stdout + done.stderr
    print(done.stdout[done.stdout.find("Failures:") if "Failures:" in done.stdout else counts.start() :])
    assert int(counts[1]) == CASES and int(counts[2]) >= LEAST, counts[0]


main()
