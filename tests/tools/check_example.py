"""Checks that an example prints what its page shows: check_example.py PROGRAM PAGE."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path


def main() -> None:
    page = Path(sys.argv[2]).read_text(encoding="utf-8")
    expected = "".join(f"{line}\n" for line in re.findall(r"`(.+?)`", page.split("\nIt prints ")[1], re.DOTALL))
    printed = subprocess.run([sys.argv[1]], stdout=subprocess.PIPE, text=True, check=True, timeout=100).stdout
    assert printed == expected, printed


main()
