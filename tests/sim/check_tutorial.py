"""Checks flow/docs/simulation.md: its code is that of tests/sim/tutorial, and its output what the program prints."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MILLRACE = [sys.executable, str(ROOT / "tools" / "millrace")]


def blocks(language: str) -> list[str]:
    text = (ROOT / "flow" / "docs" / "simulation.md").read_text(encoding="utf-8")
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [block for its_language, block in found if its_language == language]


def without_blank_lines(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if line.strip())


def wrong_code() -> list[str]:
    sources = "".join(
        without_blank_lines(path.read_text(encoding="utf-8")) for path in (ROOT / "tests/sim/tutorial").glob("*.cpp")
    )
    return [
        f"no such code in tests/sim/tutorial:\n{block}"
        for block in blocks("cpp")
        if without_blank_lines(block) not in sources
    ]


def printed(command: str, program: str, ledger: Path) -> str:
    words = command.split()
    if words[0] == "simulations":
        arguments = [program, *words[1:]]
    else:
        arguments = [*MILLRACE, *words[1:-1], program, "--ledger", str(ledger)]
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return re.sub(r"[\w./-]*/simulations\b", "simulations", done.stdout)


def wrong_output(program: str, ledger: Path) -> list[str]:
    wrong = []
    for block in blocks(""):
        command, shown = block.removeprefix("$ ").split("\n", 1)
        real = printed(command, program, ledger)
        # How fast it was differs.
        missing = [
            line for line in shown.splitlines() if re.sub(r" in \d.*", "", line) not in re.sub(r" in \d.*", "", real)
        ]
        if missing:
            wrong.append(f"$ {command}\nprints\n{real}\nand not\n" + "\n".join(missing))
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("ledger", type=Path, help="a file for what millrace simulate keeps; it is removed first")
    options = parser.parse_args()
    options.ledger.unlink(missing_ok=True)
    wrong = wrong_code() + wrong_output(options.program, options.ledger)
    print("\n\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
