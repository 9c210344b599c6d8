"""check_profile.py TRACED INSPECTED: lets millrace profile run traced.cpp, and look into inspected.cpp while it runs,
by each of the ways to take samples that work here."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

PROFILE = [sys.executable, str(Path(__file__).resolve().parents[2] / "tools" / "millrace"), "profile"]


def check(folder: Path, *options: str) -> None:
    page = folder / "page.html"
    command = [*PROFILE, "--html", str(page), *options]
    done = subprocess.run(
        [*command, sys.argv[1], str(folder)], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines() if "|" in line]
    of_step = [row for row in rows if row[0].endswith("tracedStep")]
    assert any(row[1].isdecimal() and int(row[1]) >= 20 for row in of_step), done.stdout
    assert any(row[1].endswith("tracedActor") for row in of_step), done.stdout
    assert any(row[0] == "7000" for row in rows), done.stdout  # a priority
    html = page.read_text(encoding="utf-8")
    assert "tracedStep" in html and 'class="flame"' in html
    assert ("Allocations by actor" in html) == ("--allocations" in options)


def check_running(folder: Path, actor: str, *starved: str) -> str:
    page = folder / "running.html"
    command = [sys.argv[2], str(folder / "socket"), *starved]
    program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert program.stdout and program.stdout.readline() == b"ready\n"
        command = [*PROFILE, "--html", str(page), "--with", "signal"]
        command += ["--seconds", "1", "--pid", str(program.pid)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    finally:
        program.communicate(timeout=20)
    assert done.returncode == 0 and program.returncode == 0, done.stdout + done.stderr
    assert actor in done.stdout and "sampled by a signal" in done.stdout, done.stdout
    html = page.read_text(encoding="utf-8")
    assert actor in html and 'class="flame"' in html
    return done.stdout


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="millrace-profile-") as folder:
        check(Path(folder), "--with", "signal")
        check(Path(folder), "--allocations")
        check_running(Path(folder), "tickingActor")
        # The console answers while a step keeps the loop busy; the times of steps need the loop.
        said = check_running(Path(folder), "starvingActor", "starved")
        assert "503 the loop inspected has run a step of starvingActor" in said, said
    return 0


if __name__ == "__main__":
    sys.exit(main())
