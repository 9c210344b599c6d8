"""Checks the pages about debugging: what they show is what their programs print: check_debugging.py FOLDER.

A page names its programs by their names alone; they stand in FOLDER. `program & ... kill -QUIT` runs one, sends it the
signal when it has printed a line, and ends it.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

PAGES = Path(__file__).resolve().parents[2] / "flow" / "docs"


def comparable(text: str) -> str:
    """Without what differs from run to run, and from machine to machine."""
    text = re.sub(r"\d+\.\d+ ms", "N ms", text)
    text = re.sub(r"#\d+", "#N", text)
    text = re.sub(r"\[for (up to |less than )*\S+ s\]", "[for N s]", text)
    return re.sub(r"until \S+ \(\S+ s from now\)", "until T", text)


def printed(folder: Path, command: str) -> str:
    *settings, name = command.removesuffix(" & sleep 1; kill -QUIT $!").split()
    environment = {**os.environ, **dict(setting.split("=", 1) for setting in settings)}
    program = subprocess.Popen(
        [folder / name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    )
    assert program.stdout
    if "kill -QUIT" not in command:
        return program.communicate(timeout=100)[0]
    text = program.stdout.readline()
    program.send_signal(signal.SIGQUIT)
    try:
        for line in program.stdout:
            text += line
            if "awaited by" in line:
                break
    finally:
        program.kill()
        program.communicate()
    return text


def wrong(page: Path, folder: Path) -> list[str]:
    found = []
    blocks = re.findall(r"^```(.*)\n((?:.*\n)*?)```$", page.read_text(encoding="utf-8"), re.MULTILINE)
    for command, output in (text.split("\n", 1) for language, text in blocks if not language):
        real = comparable(printed(folder, command.removeprefix("$ "))).splitlines()
        missing = [line for line in comparable(output).splitlines() if line != "..." and line not in real]
        if missing:
            found.append("\n".join([f"{page.name}: {command}", "does not print", *missing, "but", *real]))
    return found


def main() -> int:
    pages = sorted(PAGES.glob("debugging*.md"))
    found = [text for page in pages for text in wrong(page, Path(sys.argv[1]))]
    print("\n".join(found))
    return 1 if found or len(pages) != 4 else 0


if __name__ == "__main__":
    sys.exit(main())
