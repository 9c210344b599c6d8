"""Checks the page about slow actors: check_slow_actor.py FOLDER. The page's programs stand in FOLDER, as `before` and
`after`. Each line that a block shows of a command must be printed, whatever its numbers are."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "flow" / "docs" / "is_my_actor_slow.md"
SOURCES = ROOT / "tests" / "tools" / "mailbox"
SHORT = {"run": ["--min-time", "0.02"], "profile": ["--seconds", "0.5"]}  # tests need less than readers
BLOCK = re.compile(r"^```(.*)\n((?:.*\n)*?)```$", re.MULTILINE)


def comparable(line: str) -> str:
    """Without numbers, but those of lines, without folders and the widths of columns."""
    line = re.sub(r"\S*/(after\.cpp):", r"\1:", line)
    line = re.sub(r"(?<![\w:.])\d[\d.]*(?![\w.])", "N", line)
    return " ".join(line.split())


def printed(folder: Path, command: str) -> str:
    words = command.removeprefix("$ millrace ").split()
    words += SHORT.get(words[1], [])
    program = [sys.executable, str(ROOT / "tools" / "millrace"), *words]
    done = subprocess.run(program, cwd=folder, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def main() -> int:
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    [before, function] = [text for language, text in blocks if language.startswith("cpp")]
    after = (SOURCES / "after.cpp").read_text(encoding="utf-8")
    assert before == (SOURCES / "before.cpp").read_text(encoding="utf-8")
    begin, _, rest = after.partition(function)
    assert rest and before.startswith(begin) and before.endswith(rest), "the page does not show all that has changed"
    commands = [text.split("\n", 1) for language, text in blocks if not language]
    assert len(commands) == 3
    code = 0
    for command, output in commands:
        text = printed(Path(sys.argv[1]), command)
        lines = [comparable(line) for line in text.splitlines()]
        missing = [line for line in output.splitlines() if comparable(line) not in lines]
        if missing:
            print(f"{command}\ndoes not print", *missing, "but", text, sep="\n")
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
