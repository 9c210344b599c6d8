"""millrace debugger: gdb and lldb with the line that it prints, and gdb by itself where it trusts the folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from common.tree import ROOT

MILLRACE = ROOT / "tools" / "millrace"
KNOWS = "Shows all pending computations as trees: flow pending [LIMIT]"


def started(home: Path, *command: str | Path) -> str:
    """What a debugger prints that finds its start file there."""
    environment = {**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    return done.stdout + done.stderr


def line(debugger: str) -> str:
    command = [sys.executable, MILLRACE, "debugger", debugger]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_gdb_with_the_line_in_its_start_file(tmp_path: Path) -> None:
    (tmp_path / ".gdbinit").write_text(line("gdb"))
    assert KNOWS in started(tmp_path, "gdb", "-batch", "-ex", "help flow pending")


def test_lldb_with_the_line_in_its_start_file(tmp_path: Path) -> None:
    (tmp_path / ".lldbinit").write_text(line("lldb"))
    assert "pending" in started(tmp_path, "lldb-19", "-b", "-o", "help flow")


def test_gdb_loads_the_script_of_a_program_by_itself_from_a_folder_that_it_trusts(tmp_path: Path) -> None:
    """As from /usr: the name of the script stands in the program."""
    trusted = tmp_path / "share" / "gdb" / "auto-load"
    trusted.mkdir(parents=True)
    shutil.copy(MILLRACE / "debugger" / "auto_load.py", trusted / "millrace.py")
    (tmp_path / "share" / "millrace").mkdir()
    (tmp_path / "share" / "millrace" / "millrace").symlink_to(MILLRACE)
    source = tmp_path / "main.cpp"
    source.write_text('#include "flow/loop/detail/gdb_script.h"\nint main() {}\n')

    def shown(script: Path) -> str:
        program = tmp_path / "program"
        flags = ["-std=c++20", f"-I{ROOT}", f'-DMILLRACE_GDB_SCRIPT="{script}"']
        subprocess.run(["clang++-19", *flags, source, "-o", program], check=True)
        trust = ["-iex", f"add-auto-load-safe-path {trusted}"]
        return started(tmp_path, "gdb", "-nx", "-batch", *trust, "-ex", "help flow pending", program)

    assert KNOWS in shown(trusted / "millrace.py")
    without = shown(trusted / "nothing.py")
    assert KNOWS not in without and "warning" not in without
