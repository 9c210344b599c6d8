"""check_console.py PROGRAM: looks into the program inspected.cpp with millrace console."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from check_perfetto import read

MILLRACE = Path(__file__).resolve().parents[2] / "tools" / "millrace"


def console(*arguments: str) -> str:
    command = [sys.executable, str(MILLRACE), "console", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


def check(socket: str, pid: int, folder: Path) -> None:
    for wanted in (socket, str(pid)):
        page = console(wanted, "--once")
        assert "loop inspected: " in page, page
        kinds = {cells[3].strip(): cells[1].strip() for line in page.splitlines() if len(cells := line.split("|")) == 6}
        assert any("patientActor" in name and count == "7" for name, count in kinds.items()), page
        assert "crunchingActor" in page.partition("long steps")[2], page
    pending = console(socket, "--pending")
    assert pending.count("patientActor") == 7, pending
    assert " a step" in console(socket, "--running")  # also if none runs at this moment
    file = folder / "short.pftrace"
    console(str(pid), "--trace", str(file), "--seconds", "0.2")
    track = read(file).track("inspected")
    assert any(name.endswith("tickingActor") for name in track.slices), track.slices
    assert track.instants["timer"] > 0, track.instants


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="millrace-console-") as folder:
        socket = str(Path(folder, "socket"))
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen([sys.argv[1], socket], **pipes) as program:
            try:
                assert program.stdout and program.stdout.readline() == b"ready\n"
                check(socket, program.pid, Path(folder))
            finally:
                program.stdin.close()  # which ends it
        assert program.returncode == 0, program.returncode
        assert not Path(socket).exists()
    return 0


if __name__ == "__main__":
    sys.exit(main())
