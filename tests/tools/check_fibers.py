"""Lets gdb show the fibers of a process and of its core file: check_fibers.py PROGRAM."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = sys.argv[1]
SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "millrace" / "debugger" / "fibers.py"


def gdb(*commands: str, core: Path | None = None) -> str:
    arguments = ["gdb", "-nx", "-batch", PROGRAM]
    if core:
        arguments.append(str(core))
    arguments += ["-iex", "set debuginfod enabled off", "-x", str(SCRIPT)]
    for command in commands:
        arguments += ["-ex", command]
    run = subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
    return run.stdout + run.stderr


def fibers(text: str) -> dict[str, str]:
    """What is shown of each, by name."""
    found = {}
    for part in re.split(r"^(?=fiber \d+ )", text, flags=re.MULTILINE)[1:]:
        name = re.search(r'"(.*?)"', part)
        assert name, part
        found[name[1]] = part.split("\n\n")[0]
    return found


def check_all(text: str) -> None:
    found = fibers(text)
    assert sorted(found) == ["races", "sleeper", "stops", "thirty levels", "three levels"], text
    assert "stack of 262144 bytes:" in found["three levels"], text
    assert "stack of 524288 bytes:" in found["thirty levels"], text
    threads = {name: re.findall(r"of thread (\d+)", shown) for name, shown in found.items()}
    assert threads["three levels"] == threads["thirty levels"] == threads["races"] != threads["sleeper"], text
    assert threads["sleeper"] == threads["stops"], text
    for name, levels in (("three levels", 4), ("thirty levels", 31)):
        assert found[name].count("waitDeep at ") == levels, text
        assert found[name].splitlines()[1].startswith("#0  switchTo at "), text
    assert found["races"].count("raceForEver") == 1, text
    assert "sleep at " in found["sleeper"], text
    for name in ("three levels", "thirty levels", "races", "sleeper"):
        assert found[name].splitlines()[-1].split(" at ")[0].endswith("Entry::enter"), text
    assert "runs, or has resumed another one" in found["stops"], text
    assert "Error" not in text, text


def main() -> None:
    if not shutil.which("gdb"):
        print("skipped: there is no gdb")
        return
    with tempfile.TemporaryDirectory() as folder:
        core = Path(folder) / "core"
        live = gdb("run", "fibers", f"generate-core-file {core}", "fibers 2", "fibers 9", "fibers x", "bt 1", "kill")
        everything, _, rest = live.partition("Saved corefile")
        check_all(everything)
        assert list(fibers(rest)) == ["thirty levels"], live
        assert "there is no fiber 9: there are 5" in rest, live
        assert "'x' is no number of a fiber" in rest, live
        assert "raise" in rest or "kill" in rest, live  # the thread's own stack is as it was
        check_all(gdb("fibers", core=core))
    assert "there is no process and no core file" in gdb("fibers")


main()
